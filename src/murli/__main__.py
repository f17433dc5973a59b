"""``python -m murli`` is the ``murli`` command.

``murli run`` is not parsed by the command's parser: it is paid for by every call of every tool.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command on the words of the process."""
    if sys.argv[1:2] == ["run"]:
        from .retrofit.launch import run

        run(sys.argv[2:])  # which becomes the tool; else the parser says what is wrong
    from .cli import main as command

    command()


if __name__ == "__main__":
    main()
