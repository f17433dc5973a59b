"""Lists whose handlers page by themselves: what the caller asked for, and what they gave."""

from __future__ import annotations

from ..contracts import contract_named
from ..line.calls import call_with, command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..call import Invocation
    from ..contracts import Facts
    from ..declare.declarations import Paging
    from ..outcome import Outcome, Page
    from . import Writer


def declared_in(invocation: Invocation) -> Paging | None:
    """Return how the called command pages by itself, ``None`` if it does not."""
    metadata = invocation.metadata
    if metadata is None and not invocation.call.mounted:
        level = command_line(invocation).level
        metadata = invocation.host.command(level).metadata
    paging = metadata.lists if metadata is not None else None
    return paging if paging is not None and paging.by_handler else None


def limit_of(writer: Writer) -> int | None:
    """Return how many items the caller wants, or else the author, or else the contract."""
    invocation = writer._invocation
    if invocation is None:
        return None
    text = invocation.call.limit
    if text is not None and text.isdecimal():
        return int(text) or None
    from ..declare.declarations import USUAL_PAGING

    metadata = invocation.metadata
    paging = metadata.lists if metadata is not None else None
    if paging is None or paging is USUAL_PAGING:
        return invocation.contract.list_limit or None
    return paging.limit or None


def completed(writer: Writer, outcome: Outcome, page: Page) -> Page:
    """Return *page* with what its handler left to us: how many there are, the call for the rest."""
    changes: dict[str, Any] = {}
    if page.returned is None:
        from .paging import list_in

        part = list_in(getattr(outcome, "result", None), inside=True)
        changes["returned"] = len(part.pieces) if part is not None else 0
    invocation = writer._invocation
    if page.next_cursor and not page.rest and invocation is not None:
        changes["rest"] = _call_for(invocation, page.next_cursor)
    return page.replace(**changes) if changes else page


def filtered(writer: Writer, outcome: Outcome, facts: Facts) -> tuple[Outcome, Facts]:
    """Return what every filter leaves of *outcome*, and what is said beside it then."""
    reply = writer._reply
    if reply.own_page is not None:
        facts = facts.replace(page=completed(writer, outcome, reply.own_page))
    for each in reply.filters:
        outcome, facts = each(outcome, facts)
    if not contract_named(writer.contract).has_warnings:
        for notice in facts.notices:
            writer.log(f"warning: {notice.message}")
    return outcome, facts


def _call_for(invocation: Invocation, cursor: str) -> str:
    """Return the caller's call with *cursor*, be the option for it ours or the tool's own.

    ``""`` where the cursor would not reach the handler.
    """
    level = command_line(invocation).level
    if not level.owns("--cursor"):
        reaches = declared_in(invocation) is not None
        return call_with(invocation, {"--cursor": cursor}) if reaches else ""
    from ..line.calls import spelled

    return spelled(invocation, command_line(invocation).with_option("--cursor", cursor))
