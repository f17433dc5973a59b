"""What the parts of the runtime ask of one another, and of an adapter; only for type checkers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from ..declare import Metadata
from ..declare.tree import Command
from ..errors import AgentError
from ..line.option_words import Options
from ..line.scanning import Level
from . import Invocation
from .misnamed import Parameters


class Runner(Protocol):
    """What runs the tool; it knows what every call needs, and who knows the rest."""

    def name(self) -> str:
        """Return the name people type."""

    def version(self) -> str:
        """Return the version the tool itself knows, or ``""``."""

    @property
    def app(self) -> Any:
        """What the author enabled: a command, a Typer, a parser."""

    def translated(self, error: BaseException) -> BaseException:
        """Return what *error*, which left the tool, means to us; itself if it is no framework's."""

    def host(self) -> Host:
        """Return what answers the other questions about the tool."""


class Hooks:
    """Where a contract may add something to a call; `call.Extras` adds nothing."""

    def begin(self) -> bool:
        """Prepare what answers say about the call; return whether more than its words count."""
        raise NotImplementedError

    def take_secrets(self) -> None:
        """Fetch the secrets of which the call only says where they are."""

    def check_format(self) -> None:
        """Refuse a format that does not exist."""

    def take_in(self) -> None:
        """Put in its place what a call brings along, before the framework parses it."""

    def complete(self) -> None:
        """Do what comes between the guard and the handler; may answer in its place."""

    def note_printed(self, printed: str | bytes) -> None:
        """Warn that *printed* is not the answer, if it is anything."""

    def answer_bare_call(self, error: AgentError) -> int | None:
        """Answer a call with no words, which *error* is about; ``None`` where it stays an error."""

    def explain(self, text: str) -> int | None:
        """Answer with *text*, a help; ``None`` where it is no answer."""

    def weigh(self, error: AgentError) -> None:
        """Make *error* say what holds for the command that it ended."""


class Host(Protocol):
    """What the runtime asks of an adapter about the tool it has enabled."""

    def name(self) -> str:
        """Return the name people type."""

    def version(self) -> str:
        """Return the version the tool itself knows, or ``""``."""

    def level(self) -> Level:
        """Return the root command as the scanner sees it."""

    def metadata(self) -> Metadata | None:
        """Return what was declared about the tool itself."""

    def tree(self) -> Command:
        """Walk the whole tool; only done when somebody asks for it."""

    def help(self) -> str:
        """Return the help text of the tool."""

    def command(self, level: Level, *, deep: bool = True) -> Command:
        """Return the command the scanner arrived at.

        Unless *deep*, nothing below it is loaded: one command of no name stands for that.
        """

    @property
    def app(self) -> Any:
        """What the author enabled: a command, a Typer, a parser."""

    def parameters(self, level: Level) -> Parameters:
        """Return the options and arguments of *level* by their names, hidden ones too."""

    def secret_options(self, level: Level) -> Options:
        """Return the options of *level*, and which of them have secrets for values."""

    def options(self, command: Any) -> list[str]:
        """Return the options of a command, as `Running.command` has it; of ``None``, none."""

    def switches(self, command: Any) -> list[str]:
        """Return those of its options that take no value."""

    def values(self, parsed: Any) -> dict[str, Any]:
        """Return the values of all parameters, as `Running.parsed` has them."""


class Commands(Protocol):
    """The commands that murli mounts on a tool, as the call sees them."""

    def run_mounted(self, invocation: Invocation) -> Invocation:
        """Run the mounted command that was called, and end the program.

        Returns a call that is to go on in its own process, where that was one of many.
        """

    def run_for_each_value(self, invocation: Invocation) -> Invocation | None:
        """Run the command for each of several values, where it was given such, and end the program.

        Returns a call for one of them, in its own process; ``None`` where there is nothing to do.
        """

    def refuse_several_values(self, invocation: Invocation) -> None:
        """Refuse a call with several values of a command that is known too late to run for each."""

    def show_schema(self, invocation: Invocation) -> NoReturn:
        """Answer ``--schema``, and end the program."""

    def own_commands(self, invocation: Invocation) -> list[Command]:
        """Return the commands that murli mounts on the running tool."""

    def advise(self, invocation: Invocation) -> None:
        """Show the author at the terminal what ``doctor`` would change."""


class Capture(Protocol):
    """Something that collects what is printed, while ``stream`` still reaches the reader."""

    stream: Any
    is_process: bool  # whether it is the process's own stdout, and not a test runner's
    lost: OSError | None  # why something that was printed could not be kept
    collects: bool  # whether what is printed now is collected
    errors: list[str | bytes]  # the end of what is written to stderr meanwhile
    stop_watching: Callable[[], None]  # leaves stderr as it was

    @property
    def stderr_is_ours(self) -> bool:
        """Whether stderr still is what the caller reads."""

    def end(self, *, restore: bool) -> str | bytes:
        """Stop collecting and return what was printed; bytes when it is not text."""

    def so_far(self) -> str | bytes:
        """Return what has been printed by now, and go on collecting."""

    def size(self) -> int:
        """Return how many bytes have been collected so far; 0 once that is over."""

    def let_through(self) -> None:
        """Let what is printed from now on reach the reader as it is."""

    def close(self) -> None:
        """Let go of the reader; the answer is out."""


class ProcessGuard(Protocol):
    """Who answers when the program ends abruptly."""

    @property
    def capture(self) -> Capture | None:
        """What collects stdout meanwhile."""

    @property
    def is_this_process(self) -> bool:
        """Whether this process still has to be answered for."""

    def answer(self, error: BaseException | None) -> int:
        """Answer, and return the exit code."""

    def hand_over(self) -> None:
        """Leave the process to another program."""
