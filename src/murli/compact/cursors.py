"""Where an answer goes on: an opaque token that nobody has to remember anything for.

A cursor holds how far its caller has come and the mark of the call that gave it. It is no secret
and no proof: it keeps a caller from continuing one list with the cursor of another.
"""

from __future__ import annotations

from ..errors import AgentError

TYPE_CHECKING = False

# No list is longer, and no reader of JSON stumbles over a number of that size.
_FARTHEST = 2**53


def cursor_at(offset: int, mark: str) -> str:
    """Return the cursor of what starts at *offset* in the answer to the call of that *mark*."""
    from base64 import urlsafe_b64encode

    from ..formats import dumps

    text = dumps({"at": offset, "of": mark}, pretty=False).encode("utf-8")
    return urlsafe_b64encode(text).decode("ascii").rstrip("=")


def offset_in(cursor: str, mark: str) -> int:
    """Return where *cursor* starts.

    Raises an `AgentError`, and nothing else, when it is no cursor or that of another call.
    """
    found = _parts_of(cursor)
    if found is None:
        raise _refusal("The value of --cursor is no cursor.")
    offset, of = found
    if of != mark:
        raise foreign()
    return offset


def foreign() -> AgentError:
    """Return the refusal of a cursor that is another call's."""
    return _refusal("The cursor belongs to another call.")


def _parts_of(cursor: str) -> tuple[int, str] | None:
    import json
    from base64 import b64decode

    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        fields = json.loads(b64decode(padded, b"-_", validate=True))
    except (ValueError, RecursionError):  # neither text of that kind, nor JSON
        return None
    if not isinstance(fields, dict) or fields.keys() != {"at", "of"}:
        return None
    offset, mark = fields["at"], fields["of"]
    if type(offset) is not int or not 0 <= offset <= _FARTHEST or not isinstance(mark, str):
        return None
    return offset, mark


def _refusal(message: str) -> AgentError:
    return AgentError.user_error(
        message,
        "Repeat the call that gave it with nothing but --cursor added, or leave --cursor out to "
        "start over.",
        error_type="invalid_cursor",
        field="cursor",
    )
