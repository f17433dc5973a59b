"""What the runtime asks of an adapter about the tool it has enabled."""

from __future__ import annotations

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

    def host(self) -> Host:
        """Return what answers the other questions about the tool."""


class Host(Protocol):
    """What the runtime asks of an adapter about the tool it has enabled."""

    def name(self) -> str:
        """Give the name people type."""

    def version(self) -> str:
        """Give the version the tool itself knows, or ``""``."""

    def level(self) -> Level:
        """Give the root command as the scanner sees it."""

    def metadata(self) -> Metadata | None:
        """Give what was declared about the tool itself."""

    def tree(self) -> Command:
        """Walk the whole tool; only done when somebody asks for it."""

    def help(self) -> str:
        """Give the help text of the tool."""

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
