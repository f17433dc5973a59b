"""Text from elsewhere, marked as such: data for whoever reads it, never an instruction."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def untrusted(content: Any, source: str = "external") -> dict[str, Any]:
    """Give *content*, from a web page or a file of somebody else's say, marked for the reader.

    Put it where the content would stand in a result or event.
    """
    return {"_source": source, "_trusted": False, "content": content}
