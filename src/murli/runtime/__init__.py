"""One invocation, in a written order; see `murli.runtime.invocation`.

Here is what every invocation needs to know, in one module because each one more is paid for at
start-up: what an author chose in ``enable`` and declared, and what a command line says to us. Most
say nothing, and then nothing more is loaded.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from ..errors import AgentError
    from ..exit_codes import ExitCode
    from ..metadata import Metadata

# Where a declaration is kept on the author's own object: a parser, a command, a function.
METADATA = "_murli_metadata"
# Where the commands of an app that are called otherwise now are kept, on the app itself.
REDIRECTS = "_murli_redirects"

# Variables by which agents announce themselves to what they run at a terminal.
AGENT_VARIABLES = (
    "AI_AGENT",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GOOSE_TERMINAL",
    "OPENCODE",
)
# What is in the name of an option or a variable that may hold a secret; `secret_names` decides.
_SECRET_PARTS = (
    *("TOKEN", "SECRET", "PASSW", "PASSPHRASE", "PASSCODE", "PASS\0", "PASS_", "PASS-", "PW\0"),
    *("_PWD", "-PWD", "BEARER", "JWT", "API_KEY", "API-KEY", "APIKEY", "KEY\0", "KEY_", "KEYS\0"),
    *("CREDENTIAL", "PSK\0", "AUTH\0", "\0API_", "\0AUTH_"),
)

_tool_version = ""
# Whether a command of this process is declared to change something; `annotate` says so.
declares_changes = False


def set_tool_version(version: str) -> None:
    """Say which version of the tool is running; it is stamped on every answer."""
    global _tool_version
    _tool_version = str(version)


def tool_version() -> str:
    """Give what `set_tool_version` was told."""
    return _tool_version


class Settings:
    """The choices of one enabled tool: the arguments of `murli.enable`."""

    is_program = False  # and one parser of several: those of a `murli.program`
    name: str
    tool_version: str
    contract: str
    mount: bool
    dev: bool
    progress_stream: str
    guard_dry_run: bool
    usage_exit_code: int
    profile_path: str
    timeout: float
    detect_agents: bool
    guard: str
    agents: str
    exit_codes: dict[int, str | ExitCode]

    def __init__(self, **chosen: Any) -> None:
        self.__dict__.update(chosen)

    @property
    def infers(self) -> bool:
        """Whether names decide about commands whose authors declare no danger."""
        return self.guard == "inferred"

    def mode(self, *, configured: bool = True) -> str:
        """Return what the environment says of the caller: ``agent``, ``human`` or ``""``.

        *configured* is whether any variable of ours is set, where that is known.
        """
        mode = os.environ.get("MURLI_MODE", "") if configured else ""
        return mode or ("agent" if self.is_announced(configured=configured) else "")

    def is_announced(self, *, configured: bool = True) -> bool:
        """Return whether an agent announces itself in a variable, where such variables count."""
        counts = (
            self.detect_agents
            or self.agents == "detect"
            or (configured and is_on("MURLI_DETECT_AGENTS"))
        )
        return counts and any(map(os.environ.get, AGENT_VARIABLES))

    def is_for_people(self, is_terminal: bool, mode: str | None = None) -> bool:
        """Return whether a person reads what a call says that asks for nothing else."""
        mode = self.mode() if mode is None else mode
        return mode == "human" or (mode != "agent" and (is_terminal or self.agents != "pipe"))


def version_of(module: str, beside: str = "") -> str:
    """Give the version of the installed package that *module* belongs to, or ``""``.

    One that is not loaded under its name is looked for *beside* another module.
    `importlib.metadata` would know more, and costs more than the rest of an invocation.
    """
    name = module.partition(".")[0].replace("-", "_")
    package = sys.modules.get(name) or sys.modules.get(beside.partition(".")[0])
    # One that is looked up when it is asked for may be a warning as well.
    version = getattr(package, "__dict__", {}).get("__version__")
    if isinstance(version, str):
        return version
    if package is None or not getattr(package, "__path__", None):
        return ""
    prefix = f"{name.lower()}-"
    try:
        entries = os.listdir(os.path.dirname(next(iter(package.__path__))))
    except OSError:  # a package inside an archive
        return ""
    for entry in entries:
        if entry.lower().startswith(prefix) and entry.endswith(".dist-info"):
            return entry[len(prefix) : -len(".dist-info")]
    return ""


def program_name() -> str:
    """Give the name of the running program: its file's, or its package's under ``python -m``."""
    name = os.path.basename(sys.argv[0]).removesuffix(".py")
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return str(spec.parent or name) if name == "__main__" and spec is not None else name


def is_on(variable: str) -> bool:
    """Tell whether an environment switch is set to yes."""
    return os.environ.get(variable, "").lower() in ("1", "true", "yes", "on")


def variable_names() -> str:
    """Return the names of all variables, a NUL around each; not their values."""
    held = getattr(os.environ, "_data", None)
    if isinstance(held, dict):  # the names as bytes; else each would be decoded in Python
        return os.fsdecode(b"\0".join((b"", *held, b"")))
    return "\0".join(("", *os.environ, ""))


def mentions_secret(names: str) -> bool:
    """Return whether one of *names*, a NUL behind each, may be that of a secret."""
    names = names.upper()
    return any(map(names.__contains__, _SECRET_PARTS))


def metadata_of(command: Any) -> Metadata | None:
    """Give what was declared about *command*, or ``None``."""
    found: Metadata | None = getattr(command, METADATA, None)
    return found


# -- the command line --------------------------------------------------------------------------

# The commands we mount; `murli.commands` runs them.
MOUNTED = ("describe", "profile", "doctor")

SWITCHES = {
    "--agent": "agent",
    "--schema": "schema",
    "--force": "force",
    "--yes": "force",
    "--dry-run": "dry_run",
    "--debug": "debug",
    "--stream": "stream",
    "--no-stream": "no_stream",
}
VALUED = {
    "--output": "output",
    "--protocol-version": "protocol_version",
    "--profile": "profile",
    "--contract": "contract",
    "--timeout": "timeout",
    "--limit": "limit",
    "--cursor": "cursor",
    "--fields": "fields",
    "--etag": "etag",
    "--max-bytes": "max_bytes",
}

# What expresses intent for one call; a value for it is never saved, nor taken from a variable.
INTENT = frozenset(("--force", "--yes", "--dry-run", "--confirm-destructive", "--live"))

AS_MANY_AS_COME = 1_000_000
EVERYTHING = AS_MANY_AS_COME + 1  # options included
# Left where a flag of ours stood behind an option that takes as many values as come.
SEPARATOR = "--murli-separator"


def behind_the_last_of_ours(
    argv: Sequence[str], mounted: Collection[str], more: Collection[str] = ()
) -> int:
    """Give the position behind the last word that could be ours; 0 when there is none.

    *more* are flags that the contract in force adds.
    """
    for position in range(len(argv), 0, -1):
        name = argv[position - 1].partition("=")[0]
        if name in SWITCHES or name in VALUED or name in mounted or name in more:
            return position
    return 0


class Call:
    """What the command line says once our flags are out of it.

    ``rest`` is for the framework. ``mounted`` is the command of ours that was called; then
    ``rest`` holds its arguments, ``before`` what was said to the tool itself. ``mistake`` is what
    is wrong with the flags of ours, ``separated`` the levels on which ``rest`` holds a `SEPARATOR`.
    With ``is_undecided`` only the framework's own parse can show which command the rest is for;
    no flag behind that point has been taken yet. ``above`` are the levels above ``level``.

    ``switches`` and ``valued`` are the flags that are ours in this call; without ``repeats`` one
    may not be given twice with two values. Those that only some contracts know leave their values
    in ``extra``. ``taken`` is where they stood: name, position, and how many words.
    """

    agent = schema = force = dry_run = debug = stream = no_stream = False
    output: str | None = None
    protocol_version: str | None = None
    profile: str | None = None
    contract: str | None = None
    timeout: str | None = None
    limit: str | None = None
    cursor: str | None = None
    fields: str | None = None
    etag: str | None = None
    max_bytes: str | None = None
    repeats = True
    switches: dict[str, str] = SWITCHES
    valued: dict[str, str] = VALUED
    mounted = ""
    is_undecided = False
    level: Any = None
    above: Sequence[Any] = ()
    mistake: AgentError | None = None

    def __init__(self) -> None:
        self.taken: list[tuple[str, int, int]] = []
        self.extra: dict[str, Any] = {}
        self.rest: list[str] = []
        self.before: list[str] = []
        self.separated: list[Any] = []
