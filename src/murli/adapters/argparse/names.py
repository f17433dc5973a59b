"""What the options and arguments of a parser are called, and their values by their names."""

from __future__ import annotations

import argparse

from ...declare import spelled_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def names_of(action: argparse.Action) -> tuple[str, str]:
    """Return the long name of an option without its dashes, and its short one or ``""``."""
    return spelled_name(action.option_strings, action.dest)


def argument_name(action: argparse.Action) -> str:
    """Return what a positional argument is called."""
    name = action.dest if action.dest != argparse.SUPPRESS else str(action.metavar or "")
    return name or "argument"


def value_in(parsed: Any, name: str) -> Any:
    """Return the value of *name* in what a parser returned."""
    return parsed.get(name) if isinstance(parsed, dict) else getattr(parsed, name, None)
