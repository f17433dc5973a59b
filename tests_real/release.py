"""What is known of a real tool: how it is installed, enabled and called, and its versions."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests_real.environments import environment, is_made, slug

# What the frameworks were a year before this was written, 16 November 2025.
FRAMEWORKS_A_YEAR_AGO = ("click<=8.3.1", "rich<=14.2.0", "rich-click<=1.9.4", "typer<=0.20.0")
NEWEST, YEAR_AGO = "newest", "year-ago"
# Enables the parser that parses the words of the program.
PARSER = "argparse:ArgumentParser"

Words = tuple[str, ...]


@dataclass(frozen=True)
class Tool:
    """A tool from the index: how it is installed and enabled, and calls that change nothing."""

    #: the console script
    name: str
    requirement: str
    #: the newest release of that day; empty where it does not install any more, is the newest, or
    #: would try nothing else
    year_ago: str
    framework: str
    #: what is enabled, for ``ENABLE_APP``
    app: str = PARSER
    #: a call that prints to stdout and ends with 0
    good: Words = ()
    #: a call that lacks an argument or a value
    missing: Words = ()
    #: a call that is well formed and fails all the same
    fails: Words = ()
    #: a call with a command, a file or a choice that does not exist
    unknown: Words = ("no-such-command",)
    bad: Words = ("--no-such-flag",)
    has_commands: bool = True
    #: whether the tool, and not its framework, says what is wrong with a call
    refuses_itself: bool = False
    #: options that the tool takes out of the words by itself: its framework does not know them;
    #: and what its help only mentions
    own_options: Words = ()
    #: commands that are called without their last name: options in front of it are theirs
    defaults: tuple[Words, ...] = ()
    #: commands whose --help is about something else than their options
    helpless: tuple[Words, ...] = ()
    #: what stands between the tool and its commands
    before: Words = ()
    #: commands that the tool parses without the parser that was enabled
    bypassed: tuple[Words, ...] = ()
    #: variables that only this tool needs
    variables: dict[str, str] = field(default_factory=dict, compare=False)

    def command(self, path: Iterable[str]) -> Words:
        """Return the words that call the command at *path*."""
        path = tuple(path)
        return (*self.before, *path) if path else ()

    @property
    def calls(self) -> dict[str, Words]:
        """What the tool is called with, by what it is."""
        return {
            "good": self.good,
            "bad": self.bad,
            "missing": self.missing,
            "unknown": self.unknown,
            "fails": self.fails,
        }


@dataclass(frozen=True)
class Release:
    """A tool in one version."""

    tool: Tool
    age: str

    def __str__(self) -> str:
        return f"{self.tool.name}-{self.age}"

    @property
    def is_installed(self) -> bool:
        """Whether its environment has been made."""
        return is_made(*self._environment())

    def python(self) -> str:
        """Return the interpreter of its environment; the first call installs it."""
        return environment(*self._environment())

    def _environment(self) -> tuple[str, str, list[str], tuple[str, ...]]:
        is_newest = self.age == NEWEST
        requirement = self.tool.requirement if is_newest else self.tool.year_ago
        limits = () if is_newest else FRAMEWORKS_A_YEAR_AGO
        return slug(requirement), sys.executable, requirement.split(), limits
