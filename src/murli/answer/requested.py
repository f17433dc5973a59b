"""What a caller asks of an answer: how many items, from where on, which fields, how many bytes."""

from __future__ import annotations

from ..compact.caps import Caps, number, refuse_value
from ..line.calls import mark_of_call
from ..line.field_names import key_in
from .filters import Shaper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..call import Invocation
    from ..compact.queries import Query


def prepare(invocation: Invocation) -> None:
    """Look at the flags that shape an answer, refuse what is wrong with them, and do the rest."""
    if invocation.running.shaper is not None:
        return
    call = invocation.call
    limit = number(invocation, "--limit", call.limit)
    caps = Caps(invocation)
    offset = _offset(invocation) if call.cursor is not None else 0  # of a page that we make
    fields = None
    if call.fields is not None:
        fields = Fields(call.fields)
        if not fields.names:
            refuse_value(invocation, "--fields", call.fields, "expected names, such as id,name")
    query = _query(invocation, call.extra["query"]) if "query" in call.extra else None
    shaper = invocation.running.shaper = Shaper(invocation, limit, offset, caps, fields, query)
    invocation.writer._reply.filters = [shaper.shape]
    if call.etag is not None and invocation.writer._reply.meta_source is None:
        invocation.writer._reply.meta_source = lambda: invocation.meta


def check_command(invocation: Invocation) -> None:
    """Refuse a cursor that no call of this command can have given."""
    prepare(invocation)
    shaper = invocation.running.shaper
    if shaper is not None and invocation.call.cursor is not None and not shaper.rest.is_repeatable:
        from ..compact.cursors import foreign

        invocation.refuse(foreign())


def _offset(invocation: Invocation) -> int:
    from ..compact.cursors import offset_in
    from ..errors import AgentError
    from .own_paging import declared_in

    if declared_in(invocation) is not None:
        return 0
    try:
        return offset_in(invocation.call.cursor or "", mark_of_call(invocation))
    except AgentError as problem:
        invocation.refuse(problem)


def _query(invocation: Invocation, text: str) -> Query:
    """Return the expression *text*, or refuse it: nothing has run yet."""
    try:
        from ..compact.queries import Query, QueryError, refused
    except ImportError:
        from ..line.usage import missing_extra

        invocation.refuse(missing_extra("--query", "jmespath", "query"))
    try:
        return Query(text)
    except QueryError as error:
        invocation.refuse(refused(text, error))


# What says how to get the rest is kept whatever was asked for.
_KEPT = ("_source", "_trusted")


class Fields:
    """The fields that were asked for, dots for what is nested: ``id,owner.name``.

    They are found whatever their case, and with dashes, spaces or underscores.
    """

    def __init__(self, asked: str) -> None:
        self.names = [name.strip() for name in asked.split(",") if name.strip()]
        # Whether one of them was there, whether there was an object at all, and what it had.
        self.found = False
        self.applied = False
        self.known: dict[str, None] = {}

    def names_one_of(self, value: dict[str, Any]) -> bool:
        """Return whether one of these fields is, or begins with, a key of *value*."""
        return any(key_in(value, name.partition(".")[0]) is not None for name in self.names)

    def of_table(self, table: dict[str, Any]) -> dict[str, Any]:
        """Return *table* with these columns alone."""
        wanted = {key_in(table["columns"], name) for name in self.names}
        columns = [name for name in table["columns"] if name in wanted]
        return {**table, "columns": columns, "rows": self.select(table["rows"])}

    def select(self, result: Any) -> Any:
        """Return *result* with these fields alone; what is not an object stays as it is."""
        if isinstance(result, list):
            return [self._select(item, self.names) for item in result]
        return self._select(result, self.names)

    def _select(self, value: Any, names: list[str]) -> Any:
        if isinstance(value, list):
            return [self._select(item, names) for item in value]
        if not isinstance(value, dict):
            return value
        self.applied = True
        if names is self.names and len(self.known) < 40:
            self.known.update(dict.fromkeys(value))
        kept = {name: value[name] for name in _KEPT if name in value}
        below: dict[str, list[str]] = {}
        for name in names:
            key = key_in(value, name)
            if key is not None:
                kept[key] = value[key]
                below.pop(key, None)
                self.found = True
                continue
            first, dot, rest = name.partition(".")
            key = key_in(value, first) if dot else None
            if key is not None and key not in kept and isinstance(value[key], (dict, list)):
                below.setdefault(key, []).append(rest)
                kept[key] = None  # its place is where it was asked for first
            elif key in below:
                below[key].append(rest)
        for key, rests in below.items():
            kept[key] = self._select(value[key], rests)
        return kept
