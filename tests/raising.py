"""What an exception becomes, and exceptions of libraries that are not installed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from murli import AgentError
from murli.failures.exceptions import as_agent_error


def raised(call: Callable[..., object], *args: Any, **named: Any) -> AgentError:
    """Give what the exception that *call* raises becomes."""
    try:
        call(*args, **named)
    except BaseException as error:
        found = as_agent_error(error)
        with contextlib.suppress(AttributeError):
            error.close()  # type: ignore[attr-defined]  # urllib's holds the connection
        return found
    raise AssertionError("nothing was raised")


def foreign(name: str, /, *bases: type, **attributes: Any) -> type:
    """Make a class that is spelled as one of a library that is not installed."""
    module, _, own = name.rpartition(".")
    return type(own, bases or (Exception,), {"__module__": module, **attributes})
