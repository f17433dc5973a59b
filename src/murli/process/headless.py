"""What a command would open on a desktop, where nobody looks at one: the answer names it."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..call import Invocation


def note(invocation: Invocation | None, target: str) -> bool:
    """Keep *target*, a URL or a file, for the answer; return whether there is a place for it."""
    if invocation is None or invocation.writer._reply.answered:
        return False
    if not invocation.contract.annotates_results:
        return False
    invocation.meta["headless"] = True
    traits = invocation.metadata.traits if invocation.metadata is not None else None
    if traits is not None and traits.headless_behavior == "skip":
        return True
    if "://" in target and not target.startswith("file://"):
        invocation.running.marks["open_url"] = target
    else:
        invocation.running.marks["open_path"] = os.path.abspath(target.removeprefix("file://"))
    return True


def as_object(result: Any) -> Any:
    """Return *result* as an object that keys can be added to, unless it is a list or nothing."""
    if result is None or isinstance(result, (dict, list)):
        return result
    return {"text" if isinstance(result, str) else "value": result}
