"""Results that come item by item: one line for each as it is made, and one line at the end.

What is iterated over runs inside the invocation, so that a signal, a deadline or a reader that goes
away stops it where it is: it is closed, and the last line says how the stream ended. That line is
the answer, written when nothing can interrupt it any more (`end`); no item looks like it.
"""

from __future__ import annotations

from ..contracts import contract_named
from ..formats import DescriptorStream, dumps, plain, put, text_of
from ..outcome import Plan, Success, status_of
from .event_lines import as_event, begin_stream, plain_line, put_line, stream_item, stream_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType
    from typing import Any

    from ..call import Invocation
    from ..declare import Metadata
    from ..errors import AgentError
    from ..outcome import Page
    from . import Writer

# Formats that are asked for by name, and are not lines.
_WHOLE = ("json", "toon", "tsv")
# Functions whose body is an iteration (inspect.CO_GENERATOR, CO_ASYNC_GENERATOR).
_GENERATOR = 0x20 | 0x200
# Types, by their names in lower case, whose values have items.
_LISTS = frozenset(
    (
        "array",
        "asyncgenerator",
        "asynciterable",
        "asynciterator",
        "collection",
        "frozenset",
        "generator",
        "iterable",
        "iterator",
        "list",
        "sequence",
        "set",
        "tuple",
    )
)
# Types, by their names in Python and in JSON Schema, whose values are one thing.
_SINGLE = frozenset(
    (
        "bool",
        "boolean",
        "bytes",
        "dict",
        "float",
        "int",
        "integer",
        "mapping",
        "number",
        "object",
        "str",
        "string",
    )
)
# Instructions that make such a value.
_MAKES_SINGLE = ("BUILD_MAP", "BUILD_CONST_KEY_MAP", "BUILD_STRING", "DICT_MERGE", "DICT_UPDATE")


# -- before the handler runs -------------------------------------------------------------------


def prepare(invocation: Invocation) -> None:
    """Decide whether the answer of the command about to run is streamed, or refuse to."""
    call, metadata = invocation.call, invocation.metadata
    declared = metadata is not None and metadata.streams
    # Where a tool passes unknown words on, the flag may be for another program.
    asked = call.stream and (declared or not call.level.forwards)
    if asked:
        problem = _objection(invocation, metadata)
        if problem is not None:
            invocation.refuse(problem)
    # Unasked, a call for a page, a comparison or an unknown format gets no lines.
    whole = call.no_stream or invocation.writer.format() in _WHOLE
    whole = whole or call.cursor is not None or call.etag is not None or "query" in call.extra
    invocation.writer._reply.streams = asked or (declared and not whole)
    if asked and _may_print(invocation.running.handler):
        from .printed_lines import begin

        begin(invocation)


def _objection(invocation: Invocation, metadata: Metadata | None) -> AgentError | None:
    from ..line.usage import exclusive

    call = invocation.call
    for other, given in (
        ("--no-stream", call.no_stream),
        ("--cursor", call.cursor is not None),
        ("--etag", call.etag is not None),
        *(
            (f"{invocation.contract.format_flag} {name}", invocation.writer.format() == name)
            for name in ("toon", "tsv")
        ),
    ):
        if given:
            return exclusive("--stream", other)
    changes = metadata is not None and metadata.mutating
    if changes and "query" in call.extra:  # the answer says what was done of every item
        return exclusive("--stream", "--query")
    if metadata is not None and metadata.destructive:
        return _not_supported("A destructive command is not streamed: its answer is whole or none.")
    if not _may_stream(invocation.running.handler, metadata):
        return _not_supported("The command does not stream.")
    return None


def _not_supported(message: str) -> AgentError:
    from ..errors import AgentError

    return AgentError.user_error(
        message, "Leave out --stream.", error_type="streaming_not_supported", field="stream"
    )


def _may_stream(handler: Any, metadata: Metadata | None) -> bool:
    """Return whether a call of *handler* may give items; where nobody knows, it may.

    What a handler returns that says nothing about it is known only when it has run, and then it is
    too late to refuse the call.
    """
    returns = metadata.returns if metadata is not None else None
    if metadata is not None and (metadata.streams or metadata.lists):
        return True
    code, annotated = _code_of(handler)
    if code is None or code.co_flags & _GENERATOR:
        return True
    kinds = [annotated, *map(_name_of, (returns, getattr(returns, "type", None)))]
    if not _LISTS.isdisjoint(kinds):
        return True
    return _SINGLE.isdisjoint(kinds) and not _returns_single(code)


def _may_print(handler: Any) -> bool:
    """Return whether the lines that *handler* prints may be its answer: it has no items to give."""
    code, annotated = _code_of(handler)
    if code is not None and code.co_flags & _GENERATOR:
        return False
    return annotated not in _LISTS


def _code_of(handler: Any) -> tuple[CodeType | None, str]:
    """Return the code of *handler*, and what it is annotated to return; nothing where it has none.

    A number is no answer by itself: what is printed is, with a number for its status.
    """
    while hasattr(handler, "__wrapped__"):
        handler = handler.__wrapped__
    code = getattr(handler, "__code__", None)
    try:
        annotated = _name_of(handler.__annotations__.get("return"))
    except Exception:  # there are none, or a name that only type checkers know
        return None, ""
    return code, "" if annotated in ("int", "bool") else annotated


def _name_of(kind: Any) -> str:
    """Return the bare name of a type, or of what a text calls one; ``""`` for a choice of types."""
    origin = getattr(kind, "__origin__", kind)
    name = origin if isinstance(origin, str) else getattr(origin, "__name__", "")
    return "" if "|" in name else name.partition("[")[0].rpartition(".")[2].lower()


def _returns_single(code: CodeType) -> bool:
    """Return whether every value that *code* returns is written out as an object or a text."""
    from dis import get_instructions

    returned, made = set(), ""
    for instruction in get_instructions(code):
        if instruction.is_jump_target:
            made = ""  # one of several values
        if instruction.opname in ("LOAD_CONST", "RETURN_CONST"):
            made = type(instruction.argval).__name__
        if instruction.opname in ("RETURN_VALUE", "RETURN_CONST"):
            returned.add(made)
        elif instruction.opname != "LOAD_CONST":
            made = instruction.opname
    returned.discard("NoneType")  # the end of every function that has no other
    return bool(returned) and returned <= {*_MAKES_SINGLE, "str"}


# -- what a handler gives ----------------------------------------------------------------------


def is_lazy(value: Any) -> bool:
    """Return whether *value* makes its items when it is asked for them."""
    kind = type(value)  # which runs no code of the value's own
    return hasattr(kind, "__next__") or hasattr(kind, "__anext__")


def until_exit(items: Iterator[Any]) -> Iterator[Any]:
    """Yield the *items* of a handler; those before it exits with success are its result."""
    try:
        yield from items
    except SystemExit as ending:
        if status_of(ending.code):
            raise


def take(writer: Writer, value: Any, human_text: str = "") -> Any:
    """Stream *value* if it is a list and streams are wanted; else give it, with its items made."""
    if is_lazy(value):
        if writer._reply.streams:
            stream(writer, value, human_text)
            return None
        return _page_of(writer, value)
    if isinstance(value, list) and any(map(is_lazy, value)):  # of the commands of a chain
        value = [_collected(writer, each) if is_lazy(each) else each for each in value]
    invocation = writer._invocation
    lines = invocation.running.lines if invocation is not None else None
    printed = lines.catch_up() if lines is not None else None
    if (
        not writer._reply.streams
        or (writer._reply.is_streaming and printed is None)
        or writer._reply.answered
    ):
        return value
    try:
        items = plain(value)
    except ValueError:  # something only the tool understands
        return value
    if isinstance(items, list):
        metadata = invocation.metadata if invocation is not None else None
        if metadata is not None and metadata.lists and metadata.lists.sort_key:
            from .paging import in_order

            items = in_order(items, metadata.lists.sort_key)
        stream(writer, items, human_text)
        return None
    # What was printed is the stream, should there be nothing else.
    is_whole = printed is None and not (value is None and lines is not None)
    if invocation is not None and invocation.call.stream and is_whole:
        writer.warn("STREAMING_NOT_SUPPORTED", "The result is not a list, and was not streamed.")
    return value


def stream(writer: Writer, items: Any, human_text: str = "") -> None:
    """Write each of *items* as it comes; what ends them is said when the invocation ends."""
    invocation = writer._invocation
    if invocation is not None and invocation.call.no_stream and not writer.is_tty():
        writer.write_success(human_text, _page_of(writer, items))
        return
    writer._reply.refuse_second_answer()
    lines = invocation.running.lines if invocation is not None else None
    out = (lines.catch_up() if lines is not None else None) or ItemStream(writer)
    _pour(writer, items, out.put)
    out.end(human_text, len(items) if isinstance(items, list) else None)


def _page_of(writer: Writer, items: Any) -> list[Any]:
    """Make as many of *items* as one answer holds."""
    invocation = writer._invocation if not writer.is_tty() else None
    shaper = invocation.shaper if invocation is not None else None
    drawing = shaper.drawing() if shaper is not None else None
    if drawing is None:
        return _collected(writer, items)
    _pour(writer, items, drawing.put)
    return drawing.items


def _collected(writer: Writer, items: Any) -> list[Any]:
    """Make all of *items*, here, where what goes wrong with them is the handler's failure."""
    found: list[Any] = []

    def keep(item: Any) -> bool:
        found.append(item)
        return False

    _pour(writer, items, keep)
    return found


def _pour(writer: Writer, items: Any, take: Callable[[Any], bool]) -> None:
    """Pass each of *items* to *take* until that returns true; close what is left."""
    if hasattr(type(items), "__aiter__") or hasattr(type(items), "__anext__"):
        from ..process.event_loops import pour, run

        run(pour(items, take), writer)
        return
    iterator = iter(items)
    try:
        for item in iterator:
            if take(item):
                break
    except BaseException as error:
        _close_after(error, iterator, writer)
        raise
    if hasattr(iterator, "close"):
        iterator.close()


def _close_after(error: BaseException, iterator: Any, writer: Writer) -> None:
    """Let *iterator* clean up; *error* is what will be reported, whatever happens there."""
    if not hasattr(iterator, "close"):
        return
    if writer._invocation is not None:
        writer._invocation.process.block_signals_after_interrupt(error)
    try:
        iterator.close()
    except Exception as trouble:
        from ..failures.exceptions import as_agent_error

        reason = as_agent_error(trouble).message
        writer.warn("CLEANUP_FAILED", f"The stream could not clean up: {reason}")


def _for_people(item: Any, writer: Writer) -> str:
    """Return *item* in a line of its own, or in a few."""
    from ..formats.people import readable, render

    value = writer._outlet.scrubbed_value(readable(item))
    if value is None and item is not None:  # something only the tool understands
        return text_of(item)

    if not isinstance(value, dict):
        return render(value)
    fields = ((name, dumps(each, pretty=False) if isinstance(each, (dict, list)) else render(each))
              for name, each in value.items())  # fmt: skip
    return "  ".join(f"{name}: {text}" for name, text in fields)


class ItemStream:
    """The items of one answer on their way out."""

    def __init__(self, writer: Writer) -> None:
        invocation = writer._invocation
        self._writer = writer
        self._for_people = writer.is_tty()
        self._contract = contract_named(writer.contract)
        self._metadata = invocation.metadata if invocation is not None else None
        self._shaper = invocation.shaper if invocation is not None else None
        # How many are wanted, 0 for all, and how much of them.
        self._limit = _number(invocation.call.limit) if invocation is not None else 0
        caps = invocation.call if invocation is not None else None
        shaped = (
            self._shaper
            if caps is not None and (caps.max_bytes or "max_tokens" in caps.extra)
            else None
        )
        self._measure = shaped.caps.measure(0) if shaped is not None else None
        self._size = 0
        self._is_full = False
        # The number of the last item, the size of its line, and the parts of it that are out.
        self._last: tuple[int, int, list[int]] = (0, 0, [])
        # A stream numbers all of its items or none.
        self._numbers = self._contract.numbers_items and not writer._reply.events
        # What was done, by the effects in the items.
        self._effects: dict[str, int] = {}
        annotates = self._contract.annotates_results
        self._changes = annotates and self._metadata is not None and self._metadata.mutating
        # Whether items go out as they are, but for their numbers.
        external = annotates and self._metadata is not None and self._metadata.external
        self._query = self._shaper.query if self._shaper is not None else None
        # Why the first item was left out, if its query missed something.
        self._missed = ""
        selects = self._shaper is not None and self._shaper.fields is not None
        selects = selects or self._query is not None
        self._is_unchanged = not (self._changes or external or selects)
        writer._reply.refuse_second_answer()
        if not writer.is_tty():
            begin_stream(writer)
            writer._reply.stream = self

    @property
    def emitted(self) -> int:
        """How many items are out, exactly, wherever an interruption has found us."""
        number, size, parts = self._last
        return number if sum(parts) >= size else number - 1

    def put(self, item: Any) -> bool:
        """Write *item*; return whether that was the last one."""
        writer = self._writer
        if self._for_people:
            writer._outlet.show(_for_people(item, writer))
            self._last = (self._last[0] + 1, 0, [])
        elif writer._reply.answered:
            raise RuntimeError("the command has answered in the middle of its stream")
        elif not (self._is_unchanged and self._put_plain(item)):
            before, name = self.emitted, f"result[{self._last[0]}]"
            marked = self._with_effect(item, name)
            selected = self._selected(marked, name)
            if selected is None and self._query is not None:
                return False
            stream_item(writer, as_event(writer, selected, name))
            if self._changes and self.emitted > before:
                self._count_effect(marked)
        return self._is_full or (self._limit > 0 and self.emitted == self._limit)

    def _put_plain(self, item: Any) -> bool:
        """Write *item* if that takes nothing but encoding it; return whether it was."""
        outlet = self._writer._outlet
        with outlet.lock:
            line = plain_line(outlet, item, self._last[0] + 1 if self._numbers else 0)
            if line is None:
                return False
            put_line(outlet, line, self._put_whole)
        return True

    def put_printed(self, item: Any, *, is_text: bool) -> bool:
        """Write a line that was printed; return whether that was the last one that is wanted.

        Of one that *is_text* no fields are chosen, and none says what it has changed.
        """
        name = f"result[{self._last[0]}]"
        shown = item if is_text else self._selected(item, name)
        stream_item(self._writer, as_event(self._writer, shown, name))
        return self._is_full or self.emitted == self._limit

    def write(self, event: Any) -> None:
        """Write *event* as the contract has it, and count it once it is out."""
        stream_line(self._writer, self._line(event), "stdout", self._put_whole)

    def end(self, human_text: str, total: int | None) -> None:
        """Leave what the last line will say; it is said now where nobody else will."""
        writer = self._writer
        if self._for_people:
            if human_text:
                writer._outlet.show(human_text)
            writer._reply.stream_summary = Success()
            return
        if writer._reply.answered:  # by what was iterated over, behind its last item
            return
        count = self.emitted
        # The summary of the family counts by itself.
        result = None if self._contract.counts_items else {"count": count}
        fields = self._shaper.fields if self._shaper is not None else None
        if self._shaper is not None and fields is not None and count:
            from .filters import selected_nothing

            missing = selected_nothing(fields)
            if missing is not None:
                writer.warn(missing.code, missing.message, **missing.context)
            if not self._contract.has_warnings:
                human_text = f"{human_text} {missing.message if missing else ''}".strip()
        if self._missed and not count:
            writer.warn("query_missed", self._missed)
            if not self._contract.has_warnings:
                human_text = f"{human_text} {self._missed}".strip()
        if self._effects and writer._invocation is not None:
            writer._invocation.meta["effects"] = self._effects
        page = self._page(count, total) if self._limit or self._is_full else None
        # What shapes lists has nothing to do with a summary.
        writer._reply.filters = [lambda outcome, facts: (outcome, facts.replace(page=page))]
        ending = Plan(human_text, result) if writer.is_dry_run() else Success(human_text, result)
        if writer._reply.single_answer:  # the end of the invocation is where it is said
            writer._reply.stream_summary = ending
        else:
            writer._answer(ending, "")

    def _with_effect(self, item: Any, name: str) -> Any:
        """Return *item* with the effect that its command declares, unless it has its own."""
        if not self._changes:
            return item
        item = plain(item, name)
        if self._metadata is None or not self._metadata.effect:
            return item
        from ..declare.declarations import with_effect
        from ..process.headless import as_object

        return with_effect(as_object(item), self._metadata.effect, self._writer._dry_run)

    def _count_effect(self, item: Any) -> None:
        from ..declare.declarations import count_effects

        for effect, count in count_effects([item]).items():
            self._effects[effect] = self._effects.get(effect, 0) + count

    def _selected(self, item: Any, name: str) -> Any:
        """Return what was asked for of *item*, marked if it comes from outside."""
        if self._query is not None:
            item = self._found(plain(item, name))
            if item is None:
                return None
        if self._shaper is not None and self._shaper.fields is not None:
            effect = item.get("effect") if self._changes and isinstance(item, dict) else None
            item = self._shaper.fields.select(plain(item, name))
            if effect is not None and isinstance(item, dict):
                item = {"effect": effect, **item}  # what was done is no field to leave out
        annotates = self._contract.annotates_results
        if not annotates or self._metadata is None or not self._metadata.external:
            return item
        from ..declare.declarations import as_external

        return as_external(plain(item, name))

    def _found(self, item: Any) -> Any:
        """Return what the caller's expression finds in *item*."""
        from ..compact import queries

        query: Any = self._query
        try:
            found = queries.marked(query.search(item), item)
        except queries.QueryError as problem:
            raise queries.refused(query.text, problem) from None
        if not self._last[0]:
            self._missed = self._missed or query.missed
        return found

    def _page(self, count: int, total: int | None) -> Page:
        from ..outcome import Page

        # Whether a stream goes on behind the last item nobody knows without asking for one more.
        more = self._is_full or (count == self._limit and total != count)
        # What is left of a stream by a query has no place in the list that a page is of.
        shaper = self._shaper if more and self._query is None else None
        cursor, rest = shaper.rest.behind_stream(count) if shaper is not None else ("", "")
        known = total if total is not None or more else count
        return Page(known, count, has_more=more, cut=self._is_full, next_cursor=cursor, rest=rest)

    def _line(self, event: Any) -> Any:
        """Return *event* as the contract has it."""
        if not self._numbers:
            return event
        from ..contracts.control_lines import with_number

        return with_number(event, self._last[0] + 1)

    def _put_whole(self, stream: Any, text: str) -> None:
        """Write a line; what interrupts that finds it whole, or not there at all."""
        data = text.encode("utf-8", "replace")
        if self._measure is not None:
            self._size += self._measure.of(text)
            if self._size > self._measure.cap:
                self._is_full = True
                return
        parts: list[int] = []
        self._last = (self._last[0] + 1, len(data), parts)
        if not isinstance(stream, DescriptorStream):
            put(stream, text)
            parts.append(len(data))
            return
        rest: bytes | memoryview[int] = data
        try:
            while stream.take(rest, parts) < len(rest):
                rest = memoryview(data)[sum(parts) :]
        except KeyboardInterrupt:
            from ..process.process_guard import hold_signals

            release_signals = hold_signals()
            while 0 < sum(parts) < len(data):
                stream.take(memoryview(data)[sum(parts) :], parts)
            release_signals()
            raise


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0


# -- behind the last item ----------------------------------------------------------------------


def end(invocation: Invocation, printed: str | bytes) -> int:
    """Write the last line of a complete stream; return the exit code."""
    writer = invocation.writer
    invocation.pass_on(printed)
    invocation.extras.note_printed(printed)
    ending, writer._reply.stream_summary = writer._reply.stream_summary, None
    if ending is None or writer.is_tty():
        return 0
    try:
        return writer._answer(ending, "")
    except Exception as error:  # it could not be written
        return invocation.conclude(error, "")
