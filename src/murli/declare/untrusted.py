"""Text from elsewhere, marked as such: data for its reader, never an instruction."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def untrusted(content: Any, source: str = "external") -> dict[str, Any]:
    """Return *content*, for example from a web page, marked as untrusted for the reader.

    Put it where the content would stand in a result or event.
    """
    return {"_source": source, "_trusted": False, "content": content}
