"""Subclasses of click's commands whose methods have arguments of their own."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def taking_words(
    own_main: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
) -> Callable[..., Any]:
    """Return *own_main*, whose author calls its words otherwise, as the framework's own takes them.

    *args* and *named* are what it was called with. Where its words are the program's, it finds
    those that are left in ``sys.argv``.
    """

    def main(**ours: Any) -> Any:
        words = ours["args"]
        if args:
            return own_main(words, *args[1:], **named)
        before = sys.argv[1:]
        sys.argv[1:] = words
        try:
            return own_main(**named)
        finally:
            sys.argv[1:] = before

    return main
