"""An answer of no more than its reader takes: whole items, whole lines, whole values.

Nothing is cut in the middle. What is missing is counted, and the call that returns it is named.
"""

from __future__ import annotations

from ..compact import sizes
from ..compact.sizes import LeftOut
from . import with_notices
from .paging import divided_in
from .presentation import warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..compact.caps import Measure
    from ..contracts import Contract, Facts
    from ..outcome import Failure, Notice, Outcome, Page
    from . import Reply
    from .continuation import Continuation
    from .filters import Draft
    from .paging import Part

    Shaped = tuple[Outcome, Facts]

# What the duration in a document may grow by between being measured and being written.
SLACK = 8
# A message of fewer characters is a sentence.
LONG = 256
# What an envelope takes besides what it is about, at most.
ENVELOPE = 1 << 14


class Cap:
    """One answer that has to fit."""

    def __init__(
        self, reply: Reply, rest: Continuation, draft: Draft, measure: Measure, contract: Contract
    ) -> None:
        self._reply = reply
        self._rest = rest
        self._draft = draft
        self._contract = contract
        # What the contract calls the result.
        self._payload_name = contract.payload_key
        self._room = max(measure.cap - SLACK, 0)
        self._measure = measure
        # The warnings about what had to be left out on the way.
        self._left_out: list[Notice] = []
        self._fields: list[str] = []

    def fit(self) -> tuple[Outcome, Facts]:
        """Return the outcome that fits, and the facts that say which part it is."""
        draft = self._draft
        result, part, page = draft.result, draft.part, draft.page
        more = [each for notice in draft.facts.notices for each in (notice.message, notice.context)]
        if sizes.is_surely_below(
            self._measure.bytes - SLACK - ENVELOPE, result, draft.message, more
        ):
            return draft.holding(result, page)
        draft.facts = with_notices(draft.facts, self._reply.found)
        divided = part or divided_in(result)
        if divided is not None and self._is_far_too_long(divided):
            return self._shorten(divided, result, page)
        if self._excess(result, page) <= 0:
            return draft.holding(result, page)
        if self._drop_long_message(result, page) and self._excess(result, page) <= 0:
            return self._settle(result, self._without_fields(result, part))
        return self._shorten(divided, result, page)

    def _shorten(self, divided: Part | None, result: Any, page: Page | None) -> Shaped:
        """Return the outcome as a part that fits, and keep the whole if there is room to say so."""
        draft = self._draft
        draft.kept = draft.keeping()
        if draft.kept is None:
            return self._part(divided, result, page)
        message, frame = draft.message, divided.frame if divided is not None else None
        left_out, fields = list(self._left_out), list(self._fields)
        found = self._part(divided, result, page)
        if self._returned(found):
            return found
        draft.kept, draft.message = None, message
        self._left_out, self._fields = left_out, fields
        if divided is not None:
            divided.frame = frame
        without = self._part(divided, result, page)
        return without if self._returned(without) or not self._fits(found) else found

    def _part(self, divided: Part | None, result: Any, page: Page | None) -> Shaped:
        if divided is not None and divided.pieces:
            return self._divide(divided)
        return self._lighten(result, page)

    def _fits(self, shaped: Shaped) -> bool:
        return sizes.size_on_wire(self._reply, *shaped, self._measure) <= self._measure.cap

    def _returned(self, shaped: Shaped) -> bool:
        """Return whether *shaped* has anything of the result, and fits."""
        page = shaped[1].page
        return page is not None and bool(page.returned) and self._fits(shaped)

    def _is_far_too_long(self, part: Part) -> bool:
        """Return whether *part* alone is too long for the answer, without writing all of it."""
        found = sizes.piece_sizes(part, self._reply, self._measure)
        return sizes.how_many_fit(found, self._room + ENVELOPE) < len(part.pieces)

    def _excess(self, result: Any, page: Page | None, more: Sequence[Notice] = ()) -> int:
        shaped = self._draft.holding(result, page, (*self._left_out, *more))
        return sizes.size_on_wire(self._reply, *shaped, self._measure) - self._room

    def _settle(self, result: Any, page: Page | None) -> tuple[Outcome, Facts]:
        return self._draft.holding(result, page, tuple(self._left_out))

    def _drop_long_message(self, result: Any, page: Page | None) -> bool:
        """Leave out the sentence for people, if it is what takes the room."""
        draft = self._draft
        if len(draft.message) < LONG:
            return False
        message, before = draft.message, self._excess(result, page)
        draft.message = ""
        if before - self._excess(result, page) < max(LONG, before // 2):
            draft.message = message
            return False
        self._note([LeftOut("message", sizes.size_of(message))], self._rest.whole_call())
        return True

    # -- lists and texts -------------------------------------------------------------------

    def _divide(self, part: Part, *, lightened: bool = False) -> tuple[Outcome, Facts]:
        """Hold as many pieces as fit, from the first on."""
        rest = self._rest
        # No shorter part needs more words about itself than this one.
        longest = rest.page_of(part.first(len(part.pieces) - 1), cut=True, fields=self._fields)
        base = self._excess(part.holding([]), longest)
        if base > 0 and self._drop_long_message(part.holding([]), longest):
            return self._divide(part)
        if base > 0 and part.frame is not None and not lightened:
            lighter = self._with_lighter_frame(part, longest)
            if lighter is None:
                return self._lighten(part.result, rest.page_of(part))
            return self._divide(lighter, lightened=True)
        if lightened:
            page = rest.page_of(part, cut=True, fields=self._fields)
            if self._excess(part.result, page) <= 0:
                return self._settle(part.result, page)
        found = sizes.piece_sizes(part, self._reply, self._measure)
        count = min(sizes.how_many_fit(found, -base), len(part.pieces) - 1)
        while count > 0:
            kept = part.first(count)
            page = rest.page_of(kept, cut=True, fields=self._fields)
            excess = self._excess(kept.result, page)
            if excess <= 0:
                return self._settle(kept.result, page)
            # The estimate was wrong, by secrets that became longer say; rarely more than once.
            count = min(count - 1, count * -base // max(excess - base, 1))
        return self._hold_first(part)

    def _with_lighter_frame(self, part: Part, page: Page) -> Part | None:
        """Return *part* without what is too large beside its list; ``None`` if it is no help."""
        frame = {key: value for key, value in (part.frame or {}).items() if key != part.key}
        call = self._rest.whole_call()
        found = sizes.leave_out(
            frame,
            lambda lighter, left: self._excess(
                {**(lighter or {}), part.key: []}, page, self._notices(left, call)
            ),
            self._measure,
        )
        if found is None or found[0] is None:
            return None
        lighter, left = found
        self._note(left, call)
        # An object keeps its keys and their order.
        part.frame = {key: lighter.get(key) for key in part.frame or ()}
        return part

    def _hold_first(self, part: Part) -> tuple[Outcome, Facts]:
        """Hold the first piece without what is too large in it, so that a caller gets on."""
        rest = self._rest
        first = part.first(1)
        call = rest.call_for(first)
        place = "" if part.is_text else f"{part.key}[{part.start}]"

        def named(left: list[LeftOut]) -> list[LeftOut]:
            return [LeftOut(_joined(place, each.field), each.size) for each in left]

        def page_without(left: list[LeftOut]) -> Page:
            fields = [*self._fields, *map(self._name, named(left))]
            page = rest.page_of(first, cut=True, fields=fields, whole=call)
            # A line has no parts: what is left out of it is all of it.
            return page.replace(returned=0) if part.is_text else page

        found = sizes.leave_out(
            first.pieces[0],
            lambda piece, left: self._excess(
                self._with_piece(part, piece), page_without(left), self._notices(named(left), call)
            ),
            self._measure,
        )
        if found is None:
            # Not even the skeleton fits: nothing but the way to the whole is left to say.
            nothing = part.first(0)
            return self._settle(nothing.result, rest.page_of(nothing, cut=True, stuck=True))
        piece, left = found
        page = page_without(left)
        self._note(named(left), call)
        return self._settle(self._with_piece(part, piece), page)

    def _with_piece(self, part: Part, piece: Any) -> Any:
        if not part.is_text:
            return part.holding([piece])
        # The place of a text that is missing.
        return {"text": None} if piece is None and self._contract.has_object_payload else piece

    # -- what has no parts -----------------------------------------------------------------

    def _lighten(self, result: Any, page: Page | None) -> tuple[Outcome, Facts]:
        """Leave out what makes *result* too large, unless there is less of it than to say so."""
        excess = self._excess(result, page)
        before = len(self._left_out)
        lighter, about = self._leave_out(result)
        if self._excess(lighter, about) < excess:
            return self._settle(lighter, about)
        del self._left_out[before:], self._fields[before:]
        return self._settle(result, self._without_fields(result, None) if self._fields else page)

    def _leave_out(self, result: Any) -> tuple[Any, Page]:
        """Return the object without its largest values, and what to report about that."""
        call = self._rest.whole_call()

        def page_without(left: list[LeftOut]) -> Page:
            return self._without_fields(result, None, list(map(self._name, left)))

        found = sizes.leave_out(
            result,
            lambda lighter, left: self._excess(
                lighter, page_without(left), self._notices(left, call)
            ),
            self._measure,
        )
        lighter, left = found or (None, [LeftOut("", sizes.size_of(result))])
        page = page_without(left)
        self._note(left, call)
        return lighter, page

    def _without_fields(self, result: Any, part: Part | None, fields: Sequence[str] = ()) -> Page:
        """Return the page of an answer whose list, if it is one, is whole."""
        missing = [*self._fields, *fields]
        if part is not None:
            return self._rest.page_of(part, cut=True, fields=missing)
        total = len(result) if isinstance(result, dict) else 1
        if self._payload_name in missing:
            return self._rest.page_without(total, 0, missing)
        lost = {name.partition(".")[0].partition("[")[0] for name in missing} - {"message"}
        return self._rest.page_without(total, max(total - len(lost), 0), missing)

    # -- what is reported about it---------------------------------------------------------

    def _note(self, left: list[LeftOut], call: str) -> None:
        self._left_out += self._notices(left, call)
        self._fields += [self._name(each) for each in left]

    def _name(self, left: LeftOut) -> str:
        return left.field or self._payload_name

    def _notices(self, left: list[LeftOut], call: str) -> list[Notice]:
        return [self._notice(self._name(each), each.size, call) for each in left]

    def _notice(self, field: str, size: int, call: str) -> Notice:
        text = f"{field} ({size:,} bytes) was left out of an answer of at most {self._measure}."
        context = {"field": field, "returned_bytes": 0, "original_bytes": size}
        if call:
            text = f"{text} For the whole: {call}"
            context["rest"] = call
        return warning("field_truncated", text, context)


def bounded(
    reply: Reply, failure: Failure, facts: Facts, measure: Measure
) -> tuple[Failure, Facts]:
    """Return *failure* with no more of what was printed before it than there is room for."""
    output, before = failure.output, 0
    if sizes.is_surely_below(measure.bytes // 4, output) or _fits(reply, failure, facts, measure):
        return failure, facts
    if isinstance(output, dict) and output.keys() == {"omitted_characters", "end"}:
        output, before = output["end"], output["omitted_characters"]
    lines = output.split("\n") if isinstance(output, str) else []
    count = len(lines)
    while count:
        count //= 2
        end = "\n".join(lines[len(lines) - count :])
        shown = {"omitted_characters": before + len(output) - len(end), "end": end}
        shortened = failure.replace(output=shown)
        if _fits(reply, shortened, facts, measure):
            return shortened, facts
    size = sizes.size_of(failure.output)
    message = f"What the command had printed ({size:,} bytes) was left out."
    context = {"field": "output", "returned_bytes": 0, "original_bytes": size}
    notice = warning("field_truncated", message, context)
    return failure.replace(output=None), with_notices(facts, [*reply.found, notice])


def _fits(reply: Reply, failure: Failure, facts: Facts, measure: Measure) -> bool:
    facts = with_notices(facts, reply.found)
    return sizes.size_on_wire(reply, failure, facts, measure) <= measure.cap


def _joined(place: str, field: str) -> str:
    return f"{place}{'.' if place and field and field[0] != '[' else ''}{field}"
