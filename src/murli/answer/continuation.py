"""How a caller gets what an answer leaves out: cursors, and the calls that give the rest."""

from __future__ import annotations

from ..compact.cursors import cursor_at
from ..line.calls import call_with, command_line, mark_of_call
from ..outcome import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..call import Invocation
    from ..compact.caps import Caps
    from .paging import Part


class Continuation:
    """The calls that go on from the answer of one invocation.

    *asked_limit* is how many items the caller wants, 0 for all; *offset* how many came before.
    """

    def __init__(
        self, invocation: Invocation, asked_limit: int | None, offset: int, caps: Caps
    ) -> None:
        self._invocation = invocation
        self._caps = caps
        self.asked_limit = asked_limit
        self.offset = offset
        # The limit that decided where the list ends, once it is known.
        self.limit: int | None = None
        # Whether some of the work failed: a second try is not the same again.
        self.is_partial = False
        self._can_continue: bool | None = None

    @property
    def is_repeatable(self) -> bool:
        """Whether asking again changes nothing, so that an answer may come in parts."""
        metadata, writer = self._invocation.metadata, self._invocation.writer
        changes = metadata is not None and metadata.mutating and not writer._dry_run
        return not changes and not self.is_partial

    def can_continue(self, limit: int) -> bool:
        """Return whether a caller could ask for what a list of this command leaves out."""
        if self._can_continue is None:
            level = command_line(self._invocation).level
            # A command with options of these names pages in its own way.
            owned = level.owns("--limit") or level.owns("--cursor")
            flags = {"--limit": str(limit), "--cursor": cursor_at(0, "")}
            self._can_continue = self.is_repeatable and not owned and bool(self._call(flags))
        return self._can_continue

    def page_of(
        self,
        part: Part,
        *,
        cut: bool = False,
        fields: Sequence[str] = (),
        whole: str = "",
        stuck: bool = False,
    ) -> Page:
        """Return what there is to say about *part*.

        *cut* says that the size decided, *fields* are missing in it, *whole* is the call that
        gives them; *stuck* that there was no room for anything at all.
        """
        next_cursor, rest = "", ""
        if part.more and not stuck and self.is_repeatable:
            next_cursor = self._cursor_at(part.end)
            rest = self._call({**self._limit_for(part), "--cursor": next_cursor})
            next_cursor = next_cursor if rest or self.asked_limit else ""
        if (cut or stuck) and not rest:
            rest = whole or self.whole_call()
        return Page(
            part.total,
            len(part.pieces),
            has_more=part.more,
            cut=cut,
            next_cursor=next_cursor,
            rest=rest,
            left_out=fields,
        )

    def page_without(self, total: int, returned: int, fields: Sequence[str]) -> Page:
        """Return what there is to say about an object that lacks *fields*."""
        return Page(total, returned, cut=True, rest=self.whole_call(), left_out=fields)

    def whole_call(self) -> str:
        """Return the call whose answer is this one, however long."""
        return self._call(self._caps.uncapped()) if self.is_repeatable else ""

    def call_for(self, part: Part) -> str:
        """Return the call whose answer is exactly *part*, however long."""
        if not self.is_repeatable:
            return ""
        flags = {"--cursor": self._cursor_at(part.start), **self._caps.uncapped()}
        alone = {"--limit": str(len(part.pieces))} if not part.is_text else {}
        return self._call({**alone, **flags}) or self._call(flags) or self.whole_call()

    def behind_stream(self, count: int) -> tuple[str, str]:
        """Return the cursor, and the call, of what comes behind the first *count* items."""
        if not self.is_repeatable:
            return "", ""
        cursor = self._cursor_at(self.offset + count)
        rest = self._call({"--stream": None, "--cursor": cursor})
        return (cursor if rest else ""), rest

    def _limit_for(self, part: Part) -> dict[str, str | None]:
        if part.is_text:
            return {"--limit": None} if self.asked_limit is not None else {}
        return {"--limit": str(self.limit)} if self.limit else {}

    def _cursor_at(self, offset: int) -> str:
        return cursor_at(offset, mark_of_call(self._invocation))

    def _call(self, flags: Mapping[str, str | None]) -> str:
        return call_with(self._invocation, flags)
