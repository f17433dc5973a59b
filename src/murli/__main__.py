"""``python -m murli`` is the ``murli`` command.

``murli run`` is not parsed by the command's parser: it is paid for by every call of every tool.
"""

from __future__ import annotations

import sys

# The commands that describe a tool; and all commands of murli, which are never the name of a tool.
DESCRIBING = ("describe", "card", "schema")
OWN = frozenset(
    """
    call card check describe explain get mcp run schema shell sidecar stubs unwrap wrap
    """.split()  # noqa: SIM905
)


def main() -> None:
    """Run the command on the words of the process."""
    if sys.argv[1:2] == ["run"]:
        from .retrofit.launch import run

        run(sys.argv[2:])  # which becomes the tool; else the parser says what is wrong
    elif sys.argv[1:2] and sys.argv[1] in DESCRIBING and not OWN.issuperset(sys.argv[2:3]):
        from .retrofit.launch import describe

        describe(sys.argv[1], sys.argv[2:])
    from .cli import main as command

    command()


if __name__ == "__main__":
    main()
