"""What the parts of the runtime ask of one another, and of an adapter; only for type checkers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..metadata import Metadata
from ..tree import Command
from .argv import Level
from .misnamed import Parameters
from .option_words import Options


class Runner(Protocol):
    """What runs the tool; it knows what every call needs, and who knows the rest."""

    def version(self) -> str:
        """Give the version the tool itself knows, or ``""``."""

    @property
    def app(self) -> Any:
        """What the author enabled: a command, a Typer, a parser."""

    def translated(self, error: BaseException) -> BaseException:
        """Return what *error*, which left the tool, means to us; itself if it is no framework's."""

    def host(self) -> Host:
        """Return what answers the other questions about the tool."""


class Host(Protocol):
    """What the runtime asks of an adapter about the tool it has enabled."""

    def name(self) -> str:
        """Return the name people type."""

    def version(self) -> str:
        """Give the version the tool itself knows, or ``""``."""

    def level(self) -> Level:
        """Give the root command as the scanner sees it."""

    def metadata(self) -> Metadata | None:
        """Return what was declared about the tool itself."""

    def tree(self) -> Command:
        """Walk the whole tool; only done when somebody asks for it."""

    def help(self) -> str:
        """Return the help text of the tool."""

    def command(self, level: Level) -> Command:
        """Give the command the scanner arrived at."""

    @property
    def app(self) -> Any:
        """What the author enabled: a command, a Typer, a parser."""

    def parameters(self, level: Level) -> Parameters:
        """Return the options and arguments of *level* by their names, hidden ones too."""

    def secret_options(self, level: Level) -> Options:
        """Return the options of *level*, and which of them have secrets for values."""

    def options(self, command: Any) -> list[str]:
        """Return the options of a command, as `Invocation.command` has it; of ``None``, none."""

    def switches(self, command: Any) -> list[str]:
        """Return those of its options that take no value."""

    def values(self, parsed: Any) -> dict[str, Any]:
        """Return the values of all parameters, as `Invocation.parsed` has them."""


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
        """Stop collecting and give what was printed; bytes when it is not text."""

    def so_far(self) -> str | bytes:
        """Return what has been printed by now, and go on collecting."""

    def size(self) -> int:
        """Give how many bytes have been collected so far; 0 once that is over."""

    def let_through(self) -> None:
        """Let what is printed from now on reach the reader as it is."""

    def close(self) -> None:
        """Let go of the reader; the answer is out."""


class Custodian(Protocol):
    """Who answers when the program ends abruptly."""

    capture: Capture | None

    @property
    def concerned(self) -> bool:
        """Whether this process still has to be answered for."""

    def answer(self, error: BaseException | None) -> int:
        """Answer, and give the exit code."""

    def let_go(self) -> None:
        """Leave the process to another program."""
