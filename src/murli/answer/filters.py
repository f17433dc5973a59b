"""What an answer holds of what a handler gave, in the order in which it is decided.

The marks an author declared, the order of a list, the page, the fields, the size in bytes, and
whether the caller has it already. An answer that is not the whole says how much there is, how
much it holds, and with which call the rest is had.
"""

from __future__ import annotations

from ..contracts import Facts
from ..formats import dumps
from ..formats.text import TextLines, TextWithTables
from ..line.scanning import flag_value
from ..outcome import Failure, Notice, Page, Partial, Plan, Success
from . import with_notices
from .continuation import Continuation
from .paging import Drawing, Part, in_order, lines_of, list_in
from .presentation import presentable, warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..call import Invocation
    from ..compact.caps import Caps, Measure
    from ..compact.queries import Query
    from ..compact.reading_on import KeptWhole
    from ..errors import AgentError
    from ..outcome import Outcome
    from .requested import Fields

    # What puts the marks of a call into its result, and the facts about that.
    Marks = Callable[[Any], tuple[Any, dict[str, Any]]]


def _unmarked(result: Any) -> tuple[Any, dict[str, Any]]:
    return result, {}


class Draft:
    """An outcome whose *result* is still open: the *part* and *page* it is, if it is one."""

    def __init__(self, outcome: Outcome, facts: Facts, marks: Marks = _unmarked) -> None:
        self.outcome = outcome
        self.facts = facts
        self._name = "plan" if isinstance(outcome, Plan) else "result"
        self._marks = marks
        self.message: str = "" if isinstance(outcome, Failure) else outcome.message
        self.result: Any = getattr(outcome, self._name)
        self.part: Part | None = None
        self.page: Page | None = facts.page
        # What keeps the whole result, once it is too long; and where it is kept then.
        self.keeping: Callable[[], KeptWhole | None] = lambda: None
        self.kept: KeptWhole | None = None

    @property
    def is_result(self) -> bool:
        """Whether it is a result like any other, and not a report to act on, or half a success."""
        outcome = self.outcome
        return isinstance(outcome, Plan) or (isinstance(outcome, Success) and not outcome.attention)

    def warn(self, notice: Notice) -> None:
        """Add a warning."""
        self.facts = with_notices(self.facts, [notice])

    def holding(
        self, result: Any, page: Page | None, notices: tuple[Notice, ...] = ()
    ) -> tuple[Outcome, Facts]:
        """Return the outcome with *result*, and the facts with *page* and *notices*."""
        marked, meta = self._marks(result)
        if self.kept is not None and page is not None and page.cut:
            meta = {**meta, "kept": self.kept.about(page)}
            page = page if page.rest else page.replace(rest=meta["kept"]["call"])
        facts = with_notices(self.facts, notices)
        return (
            self.outcome.replace(**{self._name: marked, "message": self.message}),
            facts.replace(page=page, meta={**facts.meta, **meta}),
        )


class Shaper:
    """Shapes the answer of one invocation; made when there is something to shape."""

    def __init__(
        self,
        invocation: Invocation,
        limit: int | None,
        offset: int,
        caps: Caps,
        fields: Fields | None,
        query: Query | None = None,
    ) -> None:
        self._invocation = invocation
        self._writer = invocation.writer
        self.rest = Continuation(invocation, limit, offset, caps)
        self.fields = fields
        self.query = query
        self.caps = caps
        self._drawing: Drawing | None = None
        self._is_plan = False
        # Whether there was an answer to shape.
        self._used = False

    # -- what is known about the call ------------------------------------------------------

    def limit(self) -> int | None:
        """Return how many items the answer may hold; ``None`` for any number."""
        if self.rest.asked_limit is not None:
            return self.rest.asked_limit or None
        if self._writer.is_tty() and (self._invocation.is_attended or not self._writer.format()):
            return None  # people see all there is, and have no flags to ask for the rest with
        # A plan is to be judged as a whole.
        limit = 0 if self._is_plan else self._usual_limit()
        return limit if limit and self.rest.can_continue(limit) else None

    def _usual_limit(self) -> int:
        """Return how many items the author, else the contract, lets an answer hold; 0 for all."""
        metadata = self._invocation.metadata
        declared = metadata.lists if metadata is not None else None
        if declared is not None:
            from ..declare.declarations import USUAL_PAGING

            if declared is not USUAL_PAGING:
                return declared.limit
        return self._invocation.contract.list_limit

    def measure(self, outcome: Outcome) -> Measure | None:
        """Return how much the answer may be, ``None`` for any amount."""
        # What cannot be asked for again is better long than incomplete.
        bounded = isinstance(outcome, Failure) or self.rest.is_repeatable
        return self.caps.measure(self._invocation.contract.size_limit if bounded else 0)

    @property
    def _pages_by_handler(self) -> bool:
        metadata = self._invocation.metadata
        declared = metadata is not None and metadata.lists is not None and metadata.lists.by_handler
        return declared or self._writer._reply.own_page is not None

    # -- what a handler iterates over ------------------------------------------------------

    def drawing(self) -> Drawing | None:
        """Return what takes the items out of an iteration; ``None`` when all of them are wanted."""
        metadata = self._invocation.metadata
        if not self.rest.is_repeatable or self._pages_by_handler or self.query is not None:
            return None
        if metadata and metadata.lists and metadata.lists.sort_key:
            return None
        self.rest.limit = self.limit()
        self._drawing = Drawing(self.rest.offset, self.rest.limit, self.measure(Success()))
        return self._drawing

    # -- the answer ------------------------------------------------------------------------

    def shape(self, outcome: Outcome, facts: Facts) -> tuple[Outcome, Facts]:
        """Return the outcome that is answered, and the facts about the part that it is."""
        self._used = True
        if isinstance(outcome, Failure):
            measure = self.measure(outcome)
            if measure is None or outcome.output is None:
                return outcome, facts.replace(page=None)
            from .capping import bounded

            return bounded(self._writer._reply, outcome, facts.replace(page=None), measure)
        if self._invocation.meta.get("help"):
            return outcome, facts.replace(page=None)
        self.rest.is_partial = isinstance(outcome, Partial)
        self._is_plan = isinstance(outcome, Plan)
        marks = self._marks_of(outcome)
        draft = Draft(outcome, facts, marks)
        whole = self._in_order(draft.result)
        draft.keeping = lambda: self._kept(whole, marks)
        failure = self._take_query(draft) if self.query is not None else None
        if failure is not None:
            return failure, facts.replace(page=None)
        self._take_page(draft)
        self._take_fields(draft)
        shaped = self._fit(draft)
        if self._invocation.contract.annotates_results and self._invocation.metadata is not None:
            from .declared_results import look_at

            shaped = shaped[0], look_at(self._invocation, *shaped)
        return self._compare(*shaped, whole, marks)

    def show(self, value: Any) -> Any:
        """Return what of *value* is shown as text; stderr has what is left out."""
        self._used = True
        draft = Draft(Success("", value), Facts())
        if self.query is not None:
            self._find(draft, self.query)
        if not self._pages_by_handler:
            self._take_part(draft)
        self._take_fields(draft)
        for notice in draft.facts.notices:
            self._writer.warn(notice.code, notice.message, **notice.context)
        if draft.page is not None and not draft.page.whole:
            from .presentation import log_rest

            log_rest(self._writer, draft.page)
        return draft.result

    def warn_of_unused(self) -> None:
        """Warn a reader of text that the handler wrote it, so that it is whole."""
        flags = self._asked("query", "limit", "cursor", "fields")
        if flags and not self._used:
            notice = _not_applied(flags, "the command writes its own text")
            self._writer.warn(notice.code, notice.message, **notice.context)

    def _marks_of(self, outcome: Outcome) -> Marks:
        invocation = self._invocation
        annotates = invocation.contract.annotates_results
        if not annotates or not (invocation.metadata or invocation.running.marks):
            return _unmarked
        from .declared_results import marks_of

        return marks_of(invocation, outcome)

    def _take_query(self, draft: Draft) -> Failure | None:
        """Leave what the caller's expression finds; return the failure where it cannot be applied.

        What a change has done is answered whatever the expression is worth.
        """
        if self.query is None or self.rest.is_partial or self._is_plan:
            self._warn_not_applied(draft, "it is always whole", "query")
            return None
        from ..declare.safety import only_reads

        problem = self._find(draft, self.query)
        running = self._invocation.running
        if problem is None or not only_reads(running.metadata, running.path):
            return None
        error = self._invocation.extras.finalize(problem)
        return Failure(presentable(error), self._writer._reply.phase)

    def _find(self, draft: Draft, query: Query) -> AgentError | None:
        """Put what *query* finds in the place of the result; return why that is impossible."""
        from ..compact import queries

        result = self._in_order(draft.result)
        if self._invocation.contract.has_object_payload:
            from ..process.headless import as_object

            result = as_object(result)
        try:
            draft.result = queries.marked(query.search(result), result)
        except queries.QueryError as problem:
            error = queries.refused(query.text, problem)
            message = f"{error.message} The result is whole."
            draft.warn(warning("query_failed", message, {"query": query.text}))
            self._say(draft, message)
            return error
        if query.missed:
            context = {"query": query.text, "near": query.known}
            draft.warn(warning("query_missed", query.missed, context))
            self._say(draft, query.missed)
        return None

    def _in_order(self, result: Any) -> Any:
        """Return *result* with its list in the order that is declared for it."""
        metadata = self._invocation.metadata
        paging = metadata.lists if metadata is not None else None
        part = list_in(result, inside=True) if paging is not None and paging.sort_key else None
        if part is None or paging is None or self._pages_by_handler:
            return result
        return part.holding(in_order(part.pieces, paging.sort_key))

    def _say(self, draft: Draft, text: str) -> None:
        """Add *text* to the message, where the contract has no other place for it."""
        if not self._invocation.contract.has_warnings:
            known = draft.message.removesuffix(".")
            draft.message = f"{known}. {text}" if known else text

    def _take_page(self, draft: Draft) -> None:
        if self._pages_by_handler:
            return
        if draft.is_result and self.rest.is_repeatable:
            self._take_part(draft)
        else:
            self._warn_not_applied(draft, "it is always whole")

    def _take_part(self, draft: Draft) -> None:
        """Leave the part that the caller wants, or gets unasked, of a result that is a list."""
        draft.part = self._part_of(draft)
        if draft.part is not None:
            draft.result, draft.page = draft.part.result, self.rest.page_of(draft.part)

    def _part_of(self, draft: Draft) -> Part | None:
        rest, result = self.rest, draft.result
        given = self._invocation.call.cursor is not None
        metadata = self._invocation.metadata
        paging = metadata.lists if metadata is not None else None
        if isinstance(result, str) and given:
            self._warn_not_applied(draft, "the result is text", "limit")
            return lines_of(result).between(rest.offset, None)
        is_text = isinstance(result, TextLines)
        if is_text and not given and rest.asked_limit is None:
            return None  # text is whole unless the caller says otherwise, or its size
        part = list_in(result, inside=paging is not None or given or is_text)
        if part is None:
            self._warn_not_applied(draft, "the result is not a list")
            return None
        drawn = self._drawing.part_of(part.pieces) if self._drawing and not part.frame else None
        if drawn is not None:
            return drawn
        if paging is not None and paging.sort_key and self.query is None:
            part.pieces = in_order(part.pieces, paging.sort_key)
        # Whether a caller could go on is asked only where something would be left.
        most = rest.asked_limit or self._usual_limit()
        over = len(part.pieces) > most and not is_text  # of which only a size is too much
        rest.limit = self.limit() if over else rest.asked_limit
        return part.between(rest.offset, rest.limit)

    def _take_fields(self, draft: Draft) -> None:
        """Leave the fields that the caller wants."""
        fields, part = self.fields, draft.part
        if fields is None or self.rest.is_partial:
            return
        before, frame = draft.result, part.frame if part is not None else draft.result
        if isinstance(frame, TextWithTables) and not fields.names_one_of(frame):
            draft.result = {
                **before,
                "tables": [fields.of_table(each) for each in before["tables"]],
            }
        elif not isinstance(frame, TextLines):
            draft.result = fields.select(before)
        missing = None if before in ([], None) else selected_nothing(fields)
        if missing is not None:
            draft.warn(missing)
            self._say(draft, missing.message)
        if part is None or part.is_text:
            return
        if part.frame is None:
            draft.part = part.replaced(draft.result)
        elif part.table is not None:
            first = (draft.result.get("tables") or [{}])[0]
            if not isinstance(first.get("rows"), list):
                draft.part = draft.page = None
                return
            part.frame, part.table = draft.result, first
            draft.part = part.replaced(first["rows"])
        elif isinstance(draft.result.get(part.key), list):
            part.frame = draft.result
            draft.part = part.replaced(draft.result[part.key])
        else:
            draft.part = draft.page = None

    def _fit(self, draft: Draft) -> tuple[Outcome, Facts]:
        """Leave as much as the caller takes."""
        measure = self.measure(draft.outcome)
        if measure is None:
            return draft.holding(draft.result, draft.page)
        from .capping import Cap

        return Cap(self._writer._reply, self.rest, draft, measure, self._invocation.contract).fit()

    def _kept(self, whole: Any, marks: Marks) -> KeptWhole | None:
        """Keep the *whole* result, where the caller has set the limit; ``None`` if it is not kept.

        Of what is made item by item, or page by page, nobody has the whole.
        """
        from ..compact import kept
        from ..compact.reading_on import KeptWhole, data_of, program

        if not self.caps.words() or self._drawing is not None or self._pages_by_handler:
            return None
        words, data = program(), data_of(self._invocation, whole, marks)
        if not words or not data or not kept.keep(data):
            return None
        shape = self._writer._outlet.scrubbed_value(kept.shape_of(whole))
        return KeptWhole(self._invocation, data, words, self.rest.offset, shape)

    def _compare(
        self, outcome: Outcome, facts: Facts, whole: Any, marks: Marks
    ) -> tuple[Outcome, Facts]:
        """Add what the answer is known by, or that the caller has it, or the handle of it."""
        asked, page = self._invocation.call.etag, facts.page
        if asked is None or not isinstance(outcome, Success) or not self.rest.is_repeatable:
            return outcome, facts
        from hashlib import blake2b

        from ..compact import kept

        known = None if page is None else [page.total, page.returned, page.has_more]
        shown = dumps([outcome.result, known], pretty=False).encode("utf-8", "surrogatepass")
        etag = blake2b(shown, digest_size=12).hexdigest()
        if kept.is_handle(asked):
            from ..compact.reading_on import data_of

            data = data_of(self._invocation, whole, marks)
            if data and kept.handle_of(data) == asked:
                kept.keep(data)  # for as long again
                etag = asked
        if asked != etag:
            return outcome, facts.replace(meta={**facts.meta, "etag": etag})
        meta = {**facts.meta, "etag": etag, "not_modified": True}
        return outcome.replace(result=None), facts.replace(meta=meta, page=None)

    def _asked(self, *names: str) -> list[str]:
        """Return those of the flags called *names* that the caller gave."""
        return [f"--{name}" for name in names if flag_value(self._invocation.call, name)]

    def _warn_not_applied(self, draft: Draft, why: str, *names: str) -> None:
        flags = self._asked(*(names or ("limit", "cursor")))
        if flags:
            draft.warn(_not_applied(flags, why))


def selected_nothing(fields: Fields) -> Notice | None:
    """Return the warning that none of *fields* is there, if that is so."""
    if not fields.applied:
        return _not_applied(["--fields"], "there is no object in the result")
    if fields.found:
        return None
    names, known = ", ".join(fields.names), list(fields.known)
    message = f"None of the fields {names} exists; there are: {', '.join(known)}."
    return warning("field_unknown", message, {"fields": fields.names, "known": known})


def _not_applied(flags: list[str], why: str) -> Notice:
    message = f"{' and '.join(flags)} had nothing to apply to: {why}."
    return warning("paging_not_applied", message, {"flags": flags})
