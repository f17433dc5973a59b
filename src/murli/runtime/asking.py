"""What a caller asks of an answer: how many items, from where on, which fields, how many bytes."""

from __future__ import annotations

import os

from .calls import mark_of_call, variable_of
from .shaping import Shaper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from .invocation import Invocation

_MOST_DIGITS = 15


def prepare(invocation: Invocation) -> None:
    """Look at the flags that shape an answer, refuse what is wrong with them, and do the rest."""
    if invocation.shaper is not None:
        return
    call = invocation.call
    limit = _number(invocation, "--limit", call.limit)
    cap = _number(invocation, "--max-bytes", call.max_bytes)
    offset = _offset(invocation) if call.cursor is not None else 0  # of a page that we make
    fields = None
    if call.fields is not None:
        from .fields import Fields

        fields = Fields(call.fields)
        if not fields.names:
            _refuse_value(invocation, "--fields", call.fields, "expected names, such as id,name")
    shaper = Shaper(invocation, limit, offset, cap if cap is not None else _cap_set(invocation))
    shaper.fields = fields
    invocation.shaper = shaper
    invocation.writer.shape = shaper.shape
    if call.etag is not None and not invocation.in_family:
        invocation.writer.about = lambda: invocation.meta


def check_command(invocation: Invocation) -> None:
    """Refuse a cursor that no call of this command can have given."""
    metadata = invocation.metadata
    if metadata is not None and metadata.lists is not None:
        prepare(invocation)
    shaper = invocation.shaper
    if shaper is not None and invocation.call.cursor is not None and not shaper.is_repeatable:
        from .cursors import foreign

        invocation.refuse(foreign())


def _offset(invocation: Invocation) -> int:
    from ..errors import AgentError
    from .cursors import offset_in
    from .own_paging import declared_in

    if declared_in(invocation) is not None:
        return 0
    try:
        return offset_in(invocation.call.cursor or "", mark_of_call(invocation))
    except AgentError as problem:
        invocation.refuse(problem)


def _number(invocation: Invocation, name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        _refuse_value(invocation, name, text, "expected a whole number from 0 on, 0 for all")
    return int(text)


def _refuse_value(invocation: Invocation, name: str, text: str, reason: str) -> NoReturn:
    from .usage import bad_value

    invocation.refuse(bad_value(name, text, reason))


def _cap_set(invocation: Invocation) -> int | None:
    """Give how many bytes the environment lets an answer have, 0 for any; ``None``: not said."""
    own = variable_of(invocation, "MAX_OUTPUT_BYTES")
    for name in (own, "TOOL_MAX_OUTPUT_BYTES", "MURLI_MAX_OUTPUT_BYTES"):
        text = os.environ.get(name, "")
        if text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS:
            return int(text)
        if text:
            told = f"{name} is no number of bytes, and was ignored: {text[:40]}"
            invocation.writer.warn("invalid_setting", told, variable=name)
    return None
