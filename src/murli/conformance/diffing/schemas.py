"""Compares JSON Schemas: whether every new answer is valid by the old schema.

A reader can handle less than was promised, never more: a wider type, another value of an
enumeration, a property that may be missing now. What cannot be decided counts as breaking, so that
it is not overlooked. A new property is allowed, unless the old schema excluded it.

What a command accepts is compared in the other direction: every value that was valid before must
be valid now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .changes import BREAKING, COMPATIBLE, Change, canonical, listed, printable, same, shown
from .nodes import ALL, LEAST, MOST, TYPES, Node, Reader, TooIntricate, kinds_in, values_in

#: pairs of schemas, by their ids
Pairs = set[tuple[int, int]]
# How many pairs of schemas are compared before the comparison stops.
_MOST_PAIRS = 20_000
# A bound may be implied by another one.
_STRICTER = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}
_COMPARED = {
    *("type", "enum", "properties", "required", "additionalProperties", "patternProperties"),
    *("items", "prefixItems", *LEAST, *MOST),
}
# The type that a keyword restricts; values of other types are valid.
_CONCERNS = {
    **dict.fromkeys(("minLength", "maxLength", "pattern"), "string"),
    **dict.fromkeys(("contentEncoding", "contentMediaType", "contentSchema"), "string"),
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems", "unevaluatedItems"), "array"),
    **dict.fromkeys(("contains", "minContains", "maxContains"), "array"),
    **dict.fromkeys(("minProperties", "maxProperties", "propertyNames"), "object"),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "dependencies"), "object"),
    "unevaluatedProperties": "object",
    # Numbers may be integers.
    **dict.fromkeys(("minimum", "maximum", "multipleOf"), "integer"),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), "integer"),
}
_UNDECIDED = "changed in a way that cannot be judged"


def output_changes(old: Any, new: Any) -> list[Change]:
    """Return what changes for a reader of *old* answers who gets *new* ones."""
    if same(old, new):
        return []
    return _Comparison(old, new, is_output=True).changes()


def takes_as_before(old: Any, new: Any) -> bool:
    """Return whether everything that *old* accepted is sure to be accepted by *new*."""
    if same(old, new):
        return True
    found = _Comparison(new, old, is_output=False).changes()
    return all(each.severity != BREAKING for each in found)


class _Comparison:
    """Compares the promised schema (*old*) with the present one (*new*)."""

    def __init__(self, old: Any, new: Any, *, is_output: bool) -> None:
        self._olds, self._news = Reader(old), Reader(new)
        self._is_output = is_output
        self._fit: dict[tuple[int, int], None] = {}  # in the order of their discovery
        self._unfit: Pairs = set()
        self._depth = 0
        self._left = _MOST_PAIRS

    def changes(self) -> list[Change]:
        """Return all differences, those that cannot be decided included."""
        old, new = self._olds.root, self._news.root
        try:
            return list(self._walk(self._olds.node(old), self._news.node(new), "", set()))
        except TooIntricate:
            return [_change("unjudged", BREAKING, "", "is too intricate to be judged")]

    def _walk(self, old: Node, new: Node, place: str, met: Pairs) -> Iterator[Change]:
        """Yield the differences between two schemas and their parts, each pair once."""
        pair = (id(old), id(new))
        if pair in met:  # a recursive schema
            return
        met.add(pair)
        self._left -= 1
        if not self._left:
            raise TooIntricate
        if old.unions or new.unions:
            yield from self._alternatives(old, new, place, met)
        else:
            yield from self._plain(old, new, place, met)

    def _below(self, old: Any, new: Any, place: str, met: Pairs) -> Iterator[Change]:
        yield from self._walk(self._olds.node(old), self._news.node(new), place, met)

    def _fits(self, old: Node, new: Node) -> bool:
        """Return whether everything that *new* allows is sure to be allowed by *old*.

        Schemas may be recursive: a pair that is being compared is assumed to fit. If it turns out
        not to, all results that relied on it are dropped; a pair that does not fit even under that
        assumption never does.
        """
        pair = (id(old), id(new))
        if pair in self._unfit or pair in self._fit:
            return pair in self._fit
        known = len(self._fit)
        self._fit[pair] = None
        self._depth += 1
        found = self._walk(old, new, "", set())
        fits = all(each.severity != BREAKING for each in found)
        self._depth -= 1
        if not fits:
            while len(self._fit) > known:
                self._fit.popitem()
            self._unfit.add(pair)
        return fits

    # -- one of several --------------------------------------------------------------------------

    def _alternatives(self, old: Node, new: Node, place: str, met: Pairs) -> Iterator[Change]:
        before, after = self._olds.alternatives(old), self._news.alternatives(new)
        strange, homes = [], []
        for each in after:
            home = next((one for one in before if self._fits(one, each)), None)
            if home is None:
                strange.append(each)
            else:
                homes.append((home, each))
        if self._depth:  # one difference is enough, and assumptions must not be followed
            if strange:
                yield _widened(place, "may be something else now")
            return
        for home, each in homes:
            yield from self._walk(home, each, place, met)
        gone = [one for one in before if not any(self._fits(one, each) for each in after)]
        known = frozenset().union(*map(kinds_in, before))
        for one, each in _paired(gone, strange):
            yield from self._walk(one, each, place, met)
        for each in strange:
            other = "another kind of " if kinds_in(each) & known else ""
            text = f"may be {other}{_in_words(each)} now"
            yield _widened(place, text, after=_in_words(each))
        if gone and not strange:
            text = " or ".join(dict.fromkeys(_in_words(each) for each in gone))
            yield _narrowed(place, f"is no longer {text}", before=text)

    # -- one thing -------------------------------------------------------------------------------

    def _plain(self, old: Node, new: Node, place: str, met: Pairs) -> Iterator[Change]:
        before, after = kinds_in(old), kinds_in(new)
        values, others = values_in(old), values_in(new)
        if values is not None and others is not None:
            yield from _values(values, others, place)
        elif after - before:
            yield _gained(before, after, place)
        elif values is not None and after:
            yield _widened(place, f"may be anything now, not only {listed(values)}")
        elif before - after or others is not None:
            yield _narrowed(place, f"is always {_in_words(new)} now", _named(before), _named(after))
        both = before & after
        if "object" in both:
            yield from self._objects(old, new, place, met)
        if "array" in both:
            yield from self._arrays(old, new, place, met)
        if both:
            yield from _bounds(old, new, place, both)
            yield from _others(old, new, place, both)

    def _objects(self, old: Node, new: Node, place: str, met: Pairs) -> Iterator[Change]:
        before, after = old.words.get("properties", {}), new.words.get("properties", {})
        needed = old.words.get("required", frozenset())
        given = new.words.get("required", frozenset())
        rest, others = _rest(old), _rest(new)
        # The property that distinguishes kinds of objects first: it differs soonest.
        names = {*before, *after, *needed, *given}
        for name in sorted(names, key=lambda each: (not _is_constant(before.get(each)), each)):
            inner = f"{place}.{name}"
            if name in after or name in given:
                schema = after.get(name, others)
                if name not in before and name not in needed:
                    yield from self._added(old, name, schema, inner, met)
                    continue
                if name in needed and name not in given:
                    yield _change("property_optional", BREAKING, inner, "may be missing now")
                elif name in given and name not in needed:
                    yield _change("property_required", COMPATIBLE, inner, "is always there now")
                yield from self._below(before.get(name, rest), schema, inner, met)
            elif name in needed or self._is_output:
                yield _change("property_removed", BREAKING, inner, "was removed")
        yield from self._patterned(old, new, place, met)
        if rest is False and others is not False:
            yield _widened(place, "may have properties now that the old schema excludes")
        elif others is False and rest is not False:
            yield _narrowed(place, "has no properties but those it names now")
        else:
            yield from self._below(rest, others, f"{place}.*", met)

    def _added(self, old: Node, name: str, schema: Any, place: str, met: Pairs) -> Iterator[Change]:
        rest = _rest(old)
        patterns = old.words.get("patternProperties", {})
        bound = [each for pattern, each in patterns.items() if _may_match(pattern, name)]
        if bound:
            for each in bound:
                yield from self._below(each, schema, place, met)
        elif rest is False:
            text = "was added, where the old schema excludes what it does not name"
            yield _change("property_added", BREAKING, place, text)
        elif rest is True or rest == {}:
            yield _change("property_added", COMPATIBLE, place, "was added")
        else:
            yield from self._below(rest, schema, place, met)

    def _patterned(self, old: Node, new: Node, place: str, met: Pairs) -> Iterator[Change]:
        before = old.words.get("patternProperties", {})
        after = new.words.get("patternProperties", {})
        for pattern in sorted({*before, *after}):
            inner = f"{place}./{pattern}/"
            if pattern in before and pattern in after:
                yield from self._below(before[pattern], after[pattern], inner, met)
            elif pattern in before:
                yield _change("unjudged", BREAKING, inner, _UNDECIDED)
            else:
                yield from self._below(_rest(old), after[pattern], inner, met)

    def _arrays(self, old: Node, new: Node, place: str, met: Pairs) -> Iterator[Change]:
        first, then = old.words.get("prefixItems", []), new.words.get("prefixItems", [])
        before, after = old.words.get("items", True), new.words.get("items", True)
        for place_in in range(max(len(first), len(then))):
            one = first[place_in] if place_in < len(first) else before
            other = then[place_in] if place_in < len(then) else after
            yield from self._below(one, other, f"{place}[{place_in}]", met)
        if "items" in old.words or "items" in new.words:
            yield from self._below(before, after, f"{place}[]", met)


def _paired(gone: list[Node], strange: list[Node]) -> list[tuple[Node, Node]]:
    """Remove from both lists the only pair that looks like one schema, changed."""
    found = []
    for mark in (_mark, lambda node: _named(kinds_in(node)), lambda node: None):
        for each in list(strange):
            twins = [one for one in gone if mark(one) == mark(each)]
            if len(twins) == 1 == sum(1 for one in strange if mark(one) == mark(each)):
                strange.remove(each)
                gone.remove(twins[0])
                found.append((twins[0], each))
    return found


def _mark(node: Node) -> Any:
    """Return what distinguishes an object from others: the properties with a single value."""
    properties = node.words.get("properties", {})
    return canonical({name: each for name, each in properties.items() if _is_constant(each)})


def _is_constant(schema: Any) -> bool:
    return isinstance(schema, dict) and not {"const", "enum"}.isdisjoint(schema)


def _rest(node: Node) -> Any:
    """Return the schema of properties that *node* does not name, ``False`` if it forbids them."""
    if node.words.get("unevaluatedProperties") is False:
        return False
    return node.words.get("additionalProperties", True)


def _may_match(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except (re.error, RecursionError, OverflowError):  # of another dialect
        return True


def _values(old: list[Any], new: list[Any], place: str) -> Iterator[Change]:
    before = {canonical(each) for each in old}
    after = {canonical(each) for each in new}
    added = [each for each in new if canonical(each) not in before]
    removed = [each for each in old if canonical(each) not in after]
    if added:
        yield _change("value_added", BREAKING, place, f"may be {listed(added)} now", old, new)
    elif removed:
        yield _narrowed(place, f"is no longer {listed(removed)}", old, new)


def _gained(before: frozenset[str], after: frozenset[str], place: str) -> Change:
    was, now = _named(before), _named(after)
    if before & after and after != ALL:
        return _widened(place, f"may be {_named(after - before)} now", was, now)
    return _change("type_changed", BREAKING, place, f"is {now} now, it was {was}", was, now)


def _matters(word: str, kinds: frozenset[str]) -> bool:
    """Return whether keyword *word* restricts values of *kinds*."""
    return word not in _CONCERNS or _CONCERNS[word] in kinds


def _bounds(old: Node, new: Node, place: str, kinds: frozenset[str]) -> Iterator[Change]:
    for words, sign in ((LEAST, 1), (MOST, -1)):
        for word in (each for each in words if _matters(each, kinds)):
            before, after = old.words.get(word), new.words.get(word)
            if before == after:
                continue
            kept = [
                each
                for each in (after, new.words.get(_STRICTER.get(word, word)))
                if each is not None and (before is None or sign * each >= sign * before)
            ]
            if kept:
                yield _narrowed(place, f"is bound more closely by {word}", before, after)
            else:
                text = f"is no longer bound by {word} {shown(before)}"
                yield _widened(place, text, before, after)


def _others(old: Node, new: Node, place: str, kinds: frozenset[str]) -> Iterator[Change]:
    """Yield the changes of keywords that can only be equal, added or removed."""
    others = {*old.words, *new.words} - _COMPARED
    for word in sorted(each for each in others if _matters(each, kinds)):
        before, after = old.words.get(word), new.words.get(word)
        if word in old.words and word in new.words and same(before, after):
            continue
        if word in old.words:
            yield _change("unjudged", BREAKING, place, f"{_UNDECIDED} ({word})", before, after)
        else:
            yield _narrowed(place, f"is bound more closely by {word}", before, after)


def _change(
    kind: str, severity: str, place: str, text: str, before: Any = None, after: Any = None
) -> Change:
    subject = f"result{place}"
    detail = f"{printable(subject)} {text}."
    return Change(f"output_{kind}", severity, "", subject, detail, before, after)


def _narrowed(place: str, text: str, before: Any = None, after: Any = None) -> Change:
    return _change("narrowed", COMPATIBLE, place, text, before, after)


def _widened(place: str, text: str, before: Any = None, after: Any = None) -> Change:
    return _change("widened", BREAKING, place, text, before, after)


def _in_words(node: Node) -> str:
    values = values_in(node)
    if values:
        return " or ".join(listed([each]) for each in values[:5])
    return _named(kinds_in(node))


def _named(kinds: frozenset[str]) -> str:
    if kinds >= ALL:
        return "anything"
    shorter = kinds - {"integer"} if "number" in kinds else kinds
    known = [each for each in TYPES if each in shorter]
    return " or ".join([*known, *sorted(shorter - set(TYPES))]) or "nothing"
