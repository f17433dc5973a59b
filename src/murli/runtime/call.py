"""What a command line says to us; most say nothing, and then nothing more is loaded."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from ..errors import AgentError

# The commands we mount; `murli.commands` runs them.
MOUNTED = ("describe", "profile", "doctor")

SWITCHES = {
    "--agent": "agent",
    "--schema": "schema",
    "--force": "force",
    "--yes": "force",
    "--dry-run": "dry_run",
    "--debug": "debug",
}
VALUED = {
    "--output": "output",
    "--protocol-version": "protocol_version",
    "--profile": "profile",
    "--contract": "contract",
    "--timeout": "timeout",
}

# What expresses intent for one call; a value for it is never saved, nor taken from a variable.
INTENT = frozenset(("--force", "--yes", "--dry-run"))

AS_MANY_AS_COME = 1_000_000
EVERYTHING = AS_MANY_AS_COME + 1  # options included
# Left where a flag of ours stood behind an option that takes as many values as come.
SEPARATOR = "--murli-separator"


def behind_the_last_of_ours(argv: Sequence[str], mounted: Collection[str]) -> int:
    """Give the position behind the last word that could be ours; 0 when there is none."""
    for position in range(len(argv), 0, -1):
        name = argv[position - 1].partition("=")[0]
        if name in SWITCHES or name in VALUED or name in mounted:
            return position
    return 0


class Call:
    """What the command line says once our flags are out of it.

    ``rest`` is for the framework. ``mounted`` is the command of ours that was called; then
    ``rest`` holds its arguments, ``before`` what was said to the tool itself. ``mistake`` is what
    is wrong with the flags of ours, ``separated`` the levels on which ``rest`` holds a `SEPARATOR`.
    """

    __slots__ = (
        "agent",
        "schema",
        "force",
        "dry_run",
        "output",
        "protocol_version",
        "profile",
        "contract",
        "timeout",
        "debug",
        "rest",
        "before",
        "mounted",
        "level",
        "mistake",
        "separated",
    )

    def __init__(self) -> None:
        self.agent = self.schema = self.force = self.dry_run = self.debug = False
        self.output: str | None = None
        self.protocol_version: str | None = None
        self.profile: str | None = None
        self.contract: str | None = None
        self.timeout: str | None = None
        self.rest: list[str] = []
        self.before: list[str] = []
        self.mounted = ""
        self.level: Any = None
        self.mistake: AgentError | None = None
        self.separated: list[Any] = []
