"""What an answer holds of what a handler gave, in the order in which it is decided.

The marks an author declared, the order of a list, the page, the fields, the size in bytes, and
whether the caller has it already. An answer that is not the whole says how much there is, how
much it holds, and with which call the rest is had.
"""

from __future__ import annotations

from ..asides import Notice, Page
from ..formats import dumps
from ..outcome import Failure, Partial, Plan, Success
from . import sizes
from .argv import said
from .calls import call_with, mark_of_call, scan_again
from .paging import FAMILY_LIMIT, Drawing, Part, in_order, lines_of, list_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..outcome import Outcome
    from .fields import Fields
    from .invocation import Invocation

# What an answer under the ResponseEnvelope contracts may have in bytes.
FAMILY_CAP = 1 << 20


class Draft:
    """An outcome whose result is still open."""

    def __init__(self, outcome: Outcome, finish: Callable[[Any], Any], *, in_family: bool) -> None:
        self._outcome = outcome
        self._name = "plan" if isinstance(outcome, Plan) else "result"
        self._finish = finish
        self._in_family = in_family
        self.message: str = "" if isinstance(outcome, Failure) else outcome.message

    @property
    def result(self) -> Any:
        """What the handler gave."""
        return getattr(self._outcome, self._name)

    def holding(self, result: Any) -> Outcome:
        """Give the outcome with *result*, and the marks it has to bear."""
        changes = {self._name: self._finish(result), "message": self.message}
        return self._outcome.replace(**changes)

    def text_of(self, text: Any) -> Any:
        """Give a result that is *text*, or the place of one that is missing."""
        return {"text": None} if text is None and self._in_family else text


class Shaper:
    """Shapes the answer of one invocation; made when there is something to shape."""

    def __init__(
        self, invocation: Invocation, limit: int | None, offset: int, cap: int | None
    ) -> None:
        self.invocation = invocation
        self.writer = invocation.writer
        self.fields: Fields | None = None
        self._asked_limit = limit
        self._offset = offset
        self._asked_cap = cap
        self._drawing: Drawing | None = None
        # The limit that decided where the list ends, once it is known.
        self._limit: int | None = None
        self._continues: bool | None = None
        # Whether some of the work failed: a second try is not the same again.
        self._is_partial = False
        self._is_plan = False
        # Whether there was an answer to shape.
        self._used = False

    # -- what is known about the call ------------------------------------------------------

    @property
    def is_repeatable(self) -> bool:
        """Whether asking again changes nothing, so that an answer may come in parts."""
        metadata = self.invocation.metadata
        changes = metadata is not None and metadata.mutating and not self.writer.dry_run
        return not changes and not self._is_partial

    @property
    def spelling(self) -> str:
        """How documents are written: ``json``, ``ndjson`` or ``tsv``."""
        if self.writer.in_lines:
            return "ndjson"
        return "tsv" if self.writer.format() == "tsv" else "json"

    @property
    def payload_name(self) -> str:
        """What the contract calls the result."""
        return "data" if self.invocation.in_family else "result"

    def limit(self) -> int | None:
        """Give how many items the answer may hold; ``None`` for any number."""
        if self._asked_limit is not None:
            return self._asked_limit or None
        if self.writer.is_tty() and (self.invocation.is_attended or not self.writer.format()):
            return None  # people see all there is, and have no flags to ask for the rest with
        # A plan is to be judged as a whole.
        limit = 0 if self._is_plan else self._usual_limit()
        return limit if limit and self._can_continue(limit) else None

    def _usual_limit(self) -> int:
        """Give how many items the author, or else the contract, lets an answer hold; 0 for all."""
        metadata = self.invocation.metadata
        declared = metadata.lists if metadata is not None else None
        if declared is not None:
            from ..declarations import USUAL_PAGING

            if declared is not USUAL_PAGING:
                return declared.limit
        return FAMILY_LIMIT if self.invocation.in_family else 0

    def cap(self, outcome: Outcome) -> int:
        """Give how many bytes the answer may have, 0 for any number."""
        if self._asked_cap is not None:
            return self._asked_cap
        if not self.invocation.in_family:
            return 0
        # What cannot be asked for again is better long than incomplete.
        return FAMILY_CAP if isinstance(outcome, Failure) or self.is_repeatable else 0

    def _can_continue(self, limit: int) -> bool:
        """Tell whether a caller could ask for what a list of this command leaves out."""
        if self._continues is None:
            from .cursors import cursor_at

            invocation = self.invocation
            level = scan_again(invocation, invocation.argv).level
            # A command with options of these names pages in its own way.
            owned = level.owns("--limit") or level.owns("--cursor")
            flags = {"--limit": str(limit), "--cursor": cursor_at(0, "")}
            self._continues = (
                self.is_repeatable and not owned and bool(call_with(invocation, flags))
            )
        return self._continues

    # -- what a handler iterates over ------------------------------------------------------

    def drawing(self) -> Drawing | None:
        """Give what takes the items out of an iteration; ``None`` when all of them are wanted."""
        metadata = self.invocation.metadata
        if not self.is_repeatable or self._pages_by_handler or self.writer.own_page is not None:
            return None
        if metadata and metadata.lists and metadata.lists.sort_key:
            return None
        self._limit = self.limit()
        self._drawing = Drawing(self._offset, self._limit, self.cap(Success()))
        return self._drawing

    # -- the answer ------------------------------------------------------------------------

    def shape(self, outcome: Outcome) -> tuple[Outcome, Page | None]:
        """Give the outcome that is told, and which part of the whole it is."""
        self._used = True
        if isinstance(outcome, Failure):
            return self._bounded(outcome), None
        if self.invocation.meta.get("help"):
            return outcome, None
        self._is_partial = isinstance(outcome, Partial)
        draft = Draft(outcome, self._marks_of(outcome), in_family=self.invocation.in_family)
        result, part, page = draft.result, None, None
        self._is_plan = isinstance(outcome, Plan)
        is_result = self._is_plan or (isinstance(outcome, Success) and not outcome.attention)
        own_page = self.writer.own_page
        if own_page is not None or self._pages_by_handler:
            page = self.writer.page
        elif is_result and self.is_repeatable:
            part = self._part_of(result)
            result = result if part is None else part.result
        else:
            self._tell_not_applied(*self._asked("limit", "cursor"), why="it is always whole")
        if self.fields is not None and not self._is_partial:
            result, part = self._select(self.fields, result, part, draft)
        page = page if part is None else self.page_of(part)
        cap = self.cap(outcome)
        if cap:
            from .capping import Cap

            shaped, page = Cap(self, draft, cap).fit(result, part, page)
        else:
            shaped = draft.holding(result)
        if self.invocation.in_family and self.invocation.metadata is not None:
            from .declared import look_at

            look_at(self.invocation, shaped)
        if isinstance(shaped, Success) and self.invocation.call.etag is not None:
            return self._compare(shaped, page)
        return shaped, page

    def show(self, value: Any) -> Any:
        """Give what of *value* is shown to who reads text; what is left is told on stderr."""
        self._used = True
        is_paged = self._pages_by_handler or self.writer.own_page is not None
        part = None if is_paged else self._part_of(value)
        value = value if part is None else part.result
        if self.fields is not None:
            value, part = self._select(self.fields, value, part)
        page = None if part is None else self.page_of(part)
        if page is not None and not page.whole:
            from ..presentation import tell_rest

            tell_rest(self.writer, page)
        return value

    def tell_unused(self) -> None:
        """Tell who reads text that the handler wrote it, so that it is whole."""
        if not self._used:
            self._tell_not_applied(*self._asked(), why="the command writes its own text")

    def _marks_of(self, outcome: Outcome) -> Callable[[Any], Any]:
        invocation = self.invocation
        if not invocation.in_family or not (invocation.metadata or invocation.marks):
            return lambda result: result
        from .declared import marks_of

        return marks_of(invocation, outcome)

    def _part_of(self, result: Any) -> Part | None:
        """Give the part of *result* that the caller wants, or gets unasked; ``None``: no list."""
        given = self.invocation.call.cursor is not None
        metadata = self.invocation.metadata
        paging = metadata.lists if metadata is not None else None
        if isinstance(result, str) and given:
            self._tell_not_applied(*self._asked("limit"), why="the result is text")
            return lines_of(result).between(self._offset, None)
        part = list_in(result, inside=paging is not None or given)
        if part is None:
            self._tell_not_applied(*self._asked("limit", "cursor"), why="the result is no list")
            return None
        drawn = self._drawing.part_of(part.pieces) if self._drawing and not part.frame else None
        if drawn is not None:
            return drawn
        if paging is not None and paging.sort_key:
            part.pieces = in_order(part.pieces, paging.sort_key)
        # Whether a caller could go on is asked only where something would be left.
        most = self._asked_limit or self._usual_limit()
        self._limit = self.limit() if len(part.pieces) > most else self._asked_limit
        return part.between(self._offset, self._limit)

    @property
    def _pages_by_handler(self) -> bool:
        metadata = self.invocation.metadata
        return metadata is not None and metadata.lists is not None and metadata.lists.by_handler

    def _select(
        self, fields: Fields, result: Any, part: Part | None, draft: Draft | None = None
    ) -> tuple[Any, Part | None]:
        selected = fields.select(result)
        told = "" if result in ([], None) else self.tell_selected_nothing(fields)
        if told and draft is not None and not self.invocation.in_family:
            # This contract has no other place for it in the answer.
            draft.message = f"{draft.message} {told}".strip()
        if part is None or part.is_text:
            return selected, part
        if part.frame is None:
            return selected, part.replaced(selected)
        if not isinstance(selected.get(part.key), list):
            return selected, None
        part.frame = selected
        return selected, part.replaced(selected[part.key])

    def tell_selected_nothing(self, fields: Fields) -> str:
        """Warn that none of *fields* is there, if that is so, and return the warning."""
        if not fields.applied:
            return self._tell_not_applied("--fields", why="there is no object in the result")
        if fields.found:
            return ""
        names, known = ", ".join(fields.names), list(fields.known)
        told = f"None of the fields {names} exists; there are: {', '.join(known)}."
        self.writer.warn("field_unknown", told, fields=fields.names, known=known)
        return told

    def _compare(self, outcome: Success, page: Page | None) -> tuple[Outcome, Page | None]:
        """Say what the answer is known by, or that the caller has it."""
        if not self.is_repeatable:
            return outcome, page
        from hashlib import blake2b

        facts = None if page is None else [page.total, page.returned, page.has_more]
        told = dumps([outcome.result, facts], pretty=False).encode("utf-8", "surrogatepass")
        etag = blake2b(told, digest_size=12).hexdigest()
        self.invocation.meta["etag"] = etag
        if self.invocation.call.etag != etag:
            return outcome, page
        self.invocation.meta["not_modified"] = True
        return outcome.replace(result=None), None

    # -- what is told about a part ---------------------------------------------------------

    def page_of(
        self,
        part: Part,
        *,
        cut: bool = False,
        fields: Sequence[str] = (),
        whole: str = "",
        stuck: bool = False,
    ) -> Page:
        """Give what there is to tell about *part*.

        *cut* tells that the size decided, *fields* are missing in it, *whole* is the call that
        gives them; *stuck* that there was no room for anything at all.
        """
        next_cursor, rest = "", ""
        if part.more and not stuck and self.is_repeatable:
            from .cursors import cursor_at

            next_cursor = cursor_at(part.end, mark_of_call(self.invocation))
            rest = call_with(self.invocation, {**self._limit_for(part), "--cursor": next_cursor})
            next_cursor = next_cursor if rest or self._asked_limit else ""
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
        """Give what there is to tell about an object that lacks *fields*."""
        return Page(total, returned, cut=True, rest=self.whole_call(), left_out=fields)

    def whole_call(self) -> str:
        """Give the call whose answer is this one, however long."""
        return call_with(self.invocation, {"--max-bytes": "0"}) if self.is_repeatable else ""

    def call_for(self, part: Part) -> str:
        """Give the call whose answer is exactly *part*, however long."""
        from .cursors import cursor_at

        if not self.is_repeatable:
            return ""
        flags = {
            "--cursor": cursor_at(part.start, mark_of_call(self.invocation)),
            "--max-bytes": "0",
        }
        alone = {"--limit": str(len(part.pieces))} if not part.is_text else {}
        return (
            call_with(self.invocation, {**alone, **flags})
            or call_with(self.invocation, flags)
            or self.whole_call()
        )

    def behind_stream(self, count: int) -> tuple[str, str]:
        """Give the cursor, and the call, of what comes behind the first *count* items."""
        from .cursors import cursor_at

        if not self.is_repeatable:
            return "", ""
        cursor = cursor_at(self._offset + count, mark_of_call(self.invocation))
        rest = call_with(self.invocation, {"--stream": None, "--cursor": cursor})
        return (cursor if rest else ""), rest

    def divided(self, result: Any) -> Part | None:
        """Give the parts that a result may be divided into though nobody called it a list."""
        if isinstance(result, str):
            return lines_of(result)
        return list_in(result, inside=True)

    def _limit_for(self, part: Part) -> dict[str, str | None]:
        if part.is_text:
            return {"--limit": None} if self._asked_limit is not None else {}
        return {"--limit": str(self._limit)} if self._limit else {}

    def _asked(self, *names: str) -> list[str]:
        """Give those of our flags, or of *names*, that the caller gave."""
        call = self.invocation.call
        return [f"--{name}" for name in names or ("limit", "cursor", "fields") if said(call, name)]

    def _tell_not_applied(self, *flags: str, why: str) -> str:
        if not flags:
            return ""
        told = f"{' and '.join(flags)} had nothing to apply to: {why}."
        self.writer.warn("paging_not_applied", told, flags=list(flags))
        return told

    # -- a failure -------------------------------------------------------------------------

    def _bounded(self, failure: Failure) -> Failure:
        """Give *failure* with no more of what was printed before it than there is room for."""
        cap = self.cap(failure)
        if not cap or failure.output is None:
            return failure
        if sizes.is_surely_below(cap // 4, failure.output) or self._fits(failure, cap):
            return failure
        output = failure.output
        if isinstance(output, dict) and output.keys() == {"omitted_characters", "end"}:
            output, before = output["end"], output["omitted_characters"]
        else:
            before = 0
        lines = output.split("\n") if isinstance(output, str) else []
        count = len(lines)
        while count:
            count //= 2
            end = "\n".join(lines[len(lines) - count :])
            shown = {"omitted_characters": before + len(output) - len(end), "end": end}
            if self._fits(failure.replace(output=shown), cap):
                return failure.replace(output=shown)
        size = sizes.size_of(failure.output)
        told = f"What the command had printed ({size:,} bytes) was left out."
        context = {"field": "output", "returned_bytes": 0, "original_bytes": size}
        self.writer.warn("field_truncated", told, **context)
        return failure.replace(output=None)

    def _fits(self, outcome: Outcome, cap: int, notices: Sequence[Notice] = ()) -> bool:
        return sizes.measured(self.writer, outcome, None, notices) <= cap
