"""What every call loads, in one module because each module more is paid for at start-up.

Immutable values (`Record`; ``dataclasses`` costs a hello-world tool as much as argparse), what an
author chose in ``enable``, the running call, and the flags of ours on a command line. Most command
lines have none, and then nothing more is loaded.
"""

from __future__ import annotations

import os
import sys
from _thread import _local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from typing_extensions import Self

    from .call import Invocation
    from .call.host import Commands
    from .declare import Metadata
    from .declare.exit_codes import ExitCode
    from .errors import AgentError
    from .line.command_line import CommandLine, Word
    from .line.flags import OwnFlag
    from .type_checking import Dataclass, Layout
else:
    Dataclass = object


# -- values -------------------------------------------------------------------------------------


_FIELD = "a field"  # what `field` returns begins with it


def field(*, default: Any = ..., convert: Any = None, read: Any = None, init: bool = True) -> Any:
    """Describe a field of a `Record` that is more than a value with a default.

    *convert* makes the value that is stored, from what was given or from the *default*. With
    *read*, a function of the record, nothing is stored: the argument is for `Record._check` alone,
    and the attribute is what *read* returns. Without *init* the constructor does not take it;
    `Record._check` fills it.
    """
    return property(read) if read is not None else (_FIELD, default, convert, init)


_layouts: dict[type, Layout] = {}  # of the records made so far


class _Signature:
    """What the constructor of a record takes, for `help` and for consoles that complete names."""

    def __get__(self, record: object, kind: type[Record]) -> object:
        from .outcome import signature_of

        return signature_of(kind)


class Record(Dataclass):
    """An immutable value: comparable, printable, copyable, picklable.

    A subclass lists its fields once, as a dataclass does: ``name: type = default``, those that are
    given by keyword alone after ``_: KW_ONLY``. See `field` for those that are stored in another
    form than they are given in. What the fields are is worked out when the first record of a class
    is made, because most calls make few.
    """

    __signature__ = _Signature()

    def __init__(self, *args: Any, **named: Any) -> None:
        kind = type(self)
        layout = _layouts.get(kind) or layout_of(kind)
        defaults, positional, required, converters, unstored = layout
        given = dict(zip(positional, args)) | named if args else named  # noqa: B905
        values = defaults | given
        if (
            len(values) != len(defaults)
            or len(given) != len(args) + len(named)
            or (required and not required <= given.keys())
        ):
            from .errors import wrong_arguments

            raise wrong_arguments(kind.__name__, layout, args, named)
        for name, convert in converters.items():
            values[name] = convert(values[name])
        for name in unstored:
            del values[name]
        self.__dict__.update(values)
        self._check(given)

    def _check(self, given: dict[str, Any]) -> None:
        """Raise if the fields contradict each other, or `fill` those that follow from *given*."""

    def __setattr__(self, name: str, value: object = None) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; use replace({name}=...)")

    __delattr__ = __setattr__

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]  # the payload of an outcome may be unhashable

    def __repr__(self) -> str:
        shown = ", ".join(map("{}={!r}".format, self.__dict__, self.__dict__.values()))
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.__dict__)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with *changes* applied."""
        unknown = changes.keys() - self.__dict__.keys()
        if unknown:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        copied: Self = _restore(type(self), {**self.__dict__, **changes})
        return copied


def layout_of(kind: type[Record]) -> Layout:
    """Work out what the constructor of *kind* takes, from its annotations."""
    defaults: dict[str, Any] = {}
    positional, required, converters, unstored = [], set(), {}, []
    for base in kind.__mro__[-3::-1]:  # without object and Record
        by_position = True
        namespace = base.__dict__
        for name in base.__annotations__:
            default = namespace.get(name, ...)
            if type(default) is tuple and default[:1] == (_FIELD,):
                _, default, convert, init = default
                if not init:
                    continue
                if convert is not None:
                    converters[name] = convert
            elif type(default) is property:
                unstored.append(name)
                default = None
            elif name == "_":  # ``_: KW_ONLY``, as in a dataclass
                by_position = False
                continue
            defaults[name] = default
            if default is ...:
                required.add(name)
            if by_position:
                positional.append(name)
    _layouts[kind] = layout = (defaults, positional, required, converters, unstored)
    return layout


def fill(record: Record, **values: object) -> None:
    """Set fields of a record that is being built; nothing else may."""
    record.__dict__.update(values)


def or_empty(value: dict[str, Any] | None) -> dict[str, Any]:
    """Return *value* itself, or a new dict in place of nothing."""
    return value or {}


def dict_of(value: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """Return a dict of one's own with what *value* holds."""
    return dict(value or {})


def _restore(kind: Any, values: dict[str, Any]) -> Any:
    record = kind.__new__(kind)
    record.__dict__.update(values)
    return record


class Success(Record):
    """The command did what it was asked; *result* is plain JSON data or ``None``.

    *attention* marks a result that somebody must act on, such as a report of failed checks; *next*
    are the calls that usually follow.
    """

    message: str
    result: Any
    attention: bool
    next: Sequence[str]
    is_failure = False

    # Written out, as in `Facts` and `Answer`: every call makes one of each.
    def __init__(
        self,
        message: str = "",
        result: Any = None,
        attention: bool = False,
        next: Sequence[str] = (),
    ) -> None:
        fill(self, message=message, result=result, attention=attention, next=next)


# -- settings -----------------------------------------------------------------------------------

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
    *("CREDENTIAL", "PSK\0", "PAT\0", "AUTH\0", "\0API_", "\0AUTH_"),
)

_tool_version = ""
# Whether a command of this process is declared to change something, and whether one takes several
# values where its parser knows one; `annotate` sets them.
declares_changes = False
declares_batch = False


def set_tool_version(version: str) -> None:
    """Set the version of the running tool; every answer has it."""
    global _tool_version
    _tool_version = str(version)


def tool_version() -> str:
    """Return the version that was set with `set_tool_version`, or ``""``."""
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
    # The words that run it, where that is more than its name.
    program: Sequence[str] = ()
    # Loads the commands that murli mounts; handed in, because they stand above the call.
    commands: Callable[[], Commands]

    def __init__(self, **chosen: Any) -> None:
        self.__dict__.update(chosen)

    @property
    def infers(self) -> bool:
        """Whether names decide about commands whose authors declare no danger."""
        return self.guard == "inferred"

    def mode(self, *, configured: bool = True) -> str:
        """Return who the caller is by the environment: ``agent``, ``human``, or ``""`` for unknown.

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
        """Return whether a person reads the answer of a call that has no flag for it."""
        mode = self.mode() if mode is None else mode
        return mode == "human" or (mode != "agent" and (is_terminal or self.agents != "pipe"))


def version_of(module: str, beside: str = "") -> str:
    """Return the version of the installed package that *module* belongs to, or ``""``.

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
    """Return the name of the running program: its file's, or its package's under ``python -m``."""
    name = os.path.basename(sys.argv[0]).removesuffix(".py")
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return str(spec.parent or name) if name == "__main__" and spec is not None else name


def is_on(variable: str) -> bool:
    """Return whether an environment switch is set to yes."""
    return os.environ.get(variable, "").lower() in ("1", "true", "yes", "on")


def _held_as_bytes() -> dict[bytes, bytes] | None:
    """Return the variables as ``os.environ`` holds them; ``None`` where it holds text (Windows)."""
    held = getattr(os.environ, "_data", None)
    return held if isinstance(held, dict) and isinstance(next(iter(held), ""), bytes) else None


def variable_names() -> str:
    """Return the names of all variables, a NUL around each; not their values."""
    held = _held_as_bytes()
    if held is not None:  # else each would be decoded in Python
        return os.fsdecode(b"\0".join((b"", *held, b"")))
    return "\0".join(("", *os.environ, ""))


def mentions_secret(names: str) -> bool:
    """Return whether one of *names*, a NUL behind each, may be that of a secret."""
    names = names.upper()
    return any(map(names.__contains__, _SECRET_PARTS))


def mentions_login(words: Sequence[str]) -> bool:
    """Return whether one of *words*, or of the variables, may be an address with a password."""
    for word in words:
        if "://" in word and "@" in word:
            return True
    held = _held_as_bytes()
    if held is not None:
        data = b"\0".join(held.values())
        return b"://" in data and b"@" in data
    text = "\0".join(os.environ.values())
    return "://" in text and "@" in text


def is_parser(app: object) -> bool:
    """Return whether *app* is an ``argparse.ArgumentParser``."""
    # A tool with a parser has imported argparse; others need not pay for it.
    argparse = sys.modules.get("argparse")
    return argparse is not None and isinstance(app, argparse.ArgumentParser)


def is_group(command: Any) -> bool:
    """Return whether *command* has commands below it."""
    return hasattr(command, "list_commands") and hasattr(command, "get_command")


def subparsers_of(parser: Any) -> Any:
    """Return the action that holds the subcommands of *parser*, or ``None``."""
    kind = sys.modules["argparse"]._SubParsersAction
    for action in parser._actions:
        if isinstance(action, kind):
            return action
    return None


def value_in(parsed: Any, name: str) -> Any:
    """Return the value of *name* in what a parser returned."""
    return parsed.get(name) if isinstance(parsed, dict) else getattr(parsed, name, None)


def kind_of(app: object) -> str:
    """Return the class of *app*, as an author knows it."""
    return f"{type(app).__module__}.{type(app).__qualname__}"


def metadata_of(command: Any) -> Metadata | None:
    """Return what was declared about *command*, or ``None``.

    About a parser also what was declared about the function that it has as a default.
    """
    found: Metadata | None = getattr(command, METADATA, None)
    defaults = getattr(command, "_defaults", None)
    for value in defaults.values() if type(defaults) is dict else ():
        behind = getattr(value, "__dict__", {}).get(METADATA)
        if behind is not None:
            found = behind.merged_with(found) if found is not None else behind
    return found


# -- the running call ---------------------------------------------------------------------------

# How far a call has come: its words are scanned, our flags are dealt with, the command may run, it
# runs, its handler has ended, its answer is made, its answer is out.
SCANNED, BEGUN, ADMITTED, RUNNING, ENDED, CONCLUDING, OVER = range(7)

# One for each thread, so that tools may run side by side; a context variable would cost a shared
# library at start-up.
_current = _local()
# What a thread without one of its own belongs to: a handler's helper, most likely.
_latest: Invocation | None = None


def current() -> Invocation | None:
    """Return the invocation that is running, or ``None``."""
    return getattr(_current, "invocation", None) or _latest


def set_current(invocation: Invocation) -> None:
    """Make *invocation* the running one."""
    global _latest
    _latest = _current.invocation = invocation


def unset_current(invocation: Invocation, around: Invocation | None) -> None:
    """Make *around* the running invocation where *invocation* is."""
    global _latest
    if _latest is invocation:
        _latest = around
    if getattr(_current, "invocation", None) is invocation:
        _current.invocation = around


# -- the command line --------------------------------------------------------------------------

# The commands we mount; `murli.commands` runs them.
MOUNTED = ("describe", "profile", "doctor", "exec", "mcp")

# The modules of well-known libraries that print more than text, and the module of
# `murli.libraries` that knows each; see there.
LIBRARIES = {
    "rich.table": "tables_rich",
    "rich.progress": "progress_rich",
    "tqdm.std": "progress_tqdm",
    "click._termui_impl": "progress_click",
    "typer._click._termui_impl": "progress_click",
    "alive_progress.core.progress": "progress_alive",
    "rich.tree": "tables_rich",
    "rich.json": "tables_rich",
    "tabulate": "tables_tabulate",
    "prettytable": "tables_prettytable",
    "texttable": "tables_texttable",
    "pandas.core.frame": "tables_pandas",
}

# The names of our own flags in every contract; `murli.line.flags` is the table of all of them.
FLAG_NAMES = frozenset(
    (
        *("--agent", "--schema", "--force", "--yes", "--dry-run", "--debug", "--stream"),
        *("--no-stream", "--output", "--protocol-version", "--profile", "--contract", "--timeout"),
        *("--limit", "--cursor", "--fields", "--etag", "--max-bytes", "--max-tokens", "--query"),
        *("--until", "--until-not", "--every"),
    )
)
# Those that express intent for one call, in any contract: never saved, nor taken from a variable.
INTENT = frozenset(("--force", "--yes", "--dry-run", "--confirm-destructive", "--live"))

UNBOUNDED = 1_000_000
EVERYTHING = UNBOUNDED + 1  # options included
# Left where a flag of ours stood behind an option that takes as many values as come. No caller can
# type it: a word of a command line holds no NUL.
SEPARATOR = "--\0separator"


def end_of_own_flags(
    argv: Sequence[str], mounted: Collection[str], flags: Collection[str] = FLAG_NAMES
) -> int:
    """Return the position behind the last word that could be ours; 0 when there is none.

    *flags* are the names of the flags in force, *mounted* those of the commands.
    """
    for position in range(len(argv), 0, -1):
        name = argv[position - 1].partition("=")[0]
        if name in flags or name in mounted:
            return position
    return 0


class Call:
    """A command line, with our flags taken out of it.

    ``rest`` is for the framework. ``mounted`` is the command of ours that was called; then
    ``rest`` holds its arguments, ``before`` the words for the tool itself. ``mistake`` is what
    is wrong with the flags of ours, ``separated`` the levels on which ``rest`` holds a `SEPARATOR`.
    With ``is_undecided`` only the framework's own parse can show which command the rest is for;
    no flag behind that point has been taken yet. ``above`` are the levels above ``level``.

    ``flags`` are the flags that are ours in this call, once it was scanned; without ``repeats``
    one may not be given twice with two values. Those that only some contracts know leave their
    values in ``extra``. ``taken`` is where they stood: name, position, and how many words.
    ``words`` is the command line word by word, all of it if ``is_thorough``; ``words_of_level`` how
    many words the command at its end has been given, ``line`` the `CommandLine` made of it.
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
    flags: Mapping[str, OwnFlag] = {}
    mounted = ""
    is_undecided = False
    level: Any = None
    above: Sequence[Any] = ()
    mistake: AgentError | None = None
    words_of_level = 0
    is_thorough = False
    line: CommandLine | None = None

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.taken: list[tuple[str, int, int]] = []
        self.extra: dict[str, Any] = {}
        self.rest: list[str] = []
        self.before: list[str] = []
        self.separated: list[Any] = []


# Where a parser that reports its parses is marked.
_NOTED = "_murli_noted"


def note_parses(parser: Any) -> None:
    """Have *parser* notify the running tool when it parses, wherever it is called."""
    if _NOTED in parser.__dict__:
        return
    setattr(parser, _NOTED, True)
    own = parser.__dict__.get("_parse_known_args")

    def parse_known_args(*args: Any, **named: Any) -> Any:
        invocation = current()
        host: Any = invocation.request.runner if invocation is not None else None
        note = getattr(host, "note", None)
        if note is not None and note(parser):
            # What is to happen to its values may have been put here just now.
            return parser._parse_known_args(*args, **named)
        if note is None and hasattr(host, "parse_later") and metadata_of(parser) is not None:
            return host.parse_later(invocation, parser, *args, *named.values())
        if own is not None:
            return own(*args, **named)
        # Of the class it has now: argcomplete gives a parser another one.
        return type(parser)._parse_known_args(parser, *args, **named)

    setattr(parser, "_parse_known_args", parse_known_args)
