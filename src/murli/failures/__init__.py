"""What authors say about exceptions.

Apart from the rest of the map, which is loaded only when something fails: authors speak when
their tool starts. What they declare is kept here, for as long as the process lives.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..errors import AgentError
    from ..type_checking import Kind

    Translate = Callable[[Any], AgentError | None]

_mapped: dict[str, Translate | dict[str, Any]] = {}


def map_exception(
    exception: type[BaseException] | str,
    kind: Kind | Translate,
    suggestion: str = "",
    *,
    recoverable: bool | None = None,
    retry_after_ms: int = 0,
    error_type: str = "",
) -> None:
    """Say, for the whole process, what *exception* and every class derived from it mean.

    *exception* is a class or its dotted name (``"stripe.error.CardError"``), which imports
    nothing. *kind* is a kind of `AgentError`, and the rest its details; or a function that gives
    the `AgentError` for an exception, ``None`` where it has nothing to say. What is said here
    comes before what murli knows; the most derived class counts, and its latest call.
    """
    from ..errors import KINDS

    name = _name_of(exception)
    if callable(kind):
        if suggestion or error_type or retry_after_ms or recoverable is not None:
            raise ValueError("a function returns the whole AgentError; details go with a kind")
        _mapped[name] = kind
        return
    # A redirection needs a command, which an exception has not.
    valid = [each for each in KINDS if each != "redirected"]
    if kind not in valid:
        raise ValueError(f"kind is one of {', '.join(valid)}, or a function, not {kind!r}")
    _mapped[name] = {
        "kind": kind,
        "suggestion": suggestion,
        "recoverable": recoverable,
        "retry_after_ms": retry_after_ms,
        "error_type": error_type,
    }


def mapping_of(base: type) -> Translate | dict[str, Any] | None:
    """Return what an author declared about exactly the class *base*."""
    own = place_of(base)
    if own in _mapped:
        return _mapped[own]
    for name, mapping in _mapped.items():
        # Libraries define a class in one place and show it in another.
        module, _, attribute = name.rpartition(".")
        if getattr(sys.modules.get(module), "__dict__", {}).get(attribute) is base:
            return mapping
    return None


def place_of(base: type) -> str:
    """Return the dotted name of a class."""
    return f"{base.__module__}.{base.__qualname__}"


def _name_of(exception: object) -> str:
    if isinstance(exception, type) and issubclass(exception, BaseException):
        return place_of(exception)
    if not isinstance(exception, str) or not exception:
        raise TypeError(f"give an exception class or its dotted name, not {exception!r}")
    return exception if "." in exception else f"builtins.{exception}"
