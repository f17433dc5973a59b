"""Data: the same for the same call, whatever the language; lists page by page, and told so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...client.catalogue import Command
from ...client.envelopes import object_in, text_in
from ..checking import NotApplicable, check, judged
from ..results import Finding
from ..target import FAMILY, Target
from .family_calls import (
    ARG_ERROR,
    NEWEST,
    Call,
    all_calls,
    flag_of,
    is_steady,
    listed,
    made,
    readers,
    same,
)
from .family_shapes import first, pagination

_NO_SUCH_CURSOR = "murli-check-no-such-cursor"
# A place where numbers and dates are written in another way.
_ELSEWHERE = {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LANGUAGE": "de"}


@check(
    "family.data.stable",
    "The same call gives the same data",
    level=3,
    contracts=FAMILY,
    requirements=("F-021",),
)
def data_is_stable(target: Target) -> Iterator[Finding]:
    """What changes from call to call is in meta, and not in the data."""
    for command in readers(target):
        words = target.words(command)
        calls = [made(target, *words, stdin=each) for each in ("null", "closed", "silent")]
        done = [each for each in calls if each is not None and each.exit_code == 0]
        if len(done) > 1:
            differ = not all(same(each.data, done[0].data) for each in done)
            trouble = "the same call gave other data" if differ else ""
            yield judged(trouble, " ".join(command.path), done[-1].evidence)


@check(
    "family.data.locale",
    "The language of the place changes nothing",
    level=2,
    contracts=FAMILY,
    requirements=("F-005",),
)
def data_is_the_same_everywhere(target: Target) -> Iterator[Finding]:
    """Numbers and dates are written alike wherever the tool runs."""
    for command in readers(target):
        words = target.words(command)
        here = made(target, *words)
        if here is None or here.exit_code != 0 or not has_numbers(here.data):
            continue
        there = made(target, *words, env=_ELSEWHERE)
        if there is None or not is_steady(target, words):
            continue
        trouble = ""
        if there.exit_code != 0:
            trouble = f"in another language {there.evidence.ended}"
        elif not same(here.data, there.data):
            trouble = "in another language the data is another"
        yield judged(trouble, " ".join(command.path), there.evidence)


def has_numbers(data: Any) -> bool:
    """Tell whether anything in *data* is written with digits."""
    left = [data]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)
        elif isinstance(value, str):
            if any(map(str.isdigit, value)):
                return True
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            return True
    return False


# -- pages ---------------------------------------------------------------------------------------


@check(
    "family.paging.told",
    "A list tells which part of the whole it is",
    level=2,
    contracts=NEWEST,
    requirements=("F-018",),
    in_hindsight=True,
)
def paging_is_told(target: Target) -> Iterator[Finding]:
    """Every list comes with its five numbers and truths, and they agree with it."""
    listed(target)
    lists = [
        call
        for call in all_calls(target)
        if call.kind == "answer" and call.exit_code == 0 and isinstance(call.data, list)
    ]
    if not lists:
        raise NotApplicable("no answer is a list")
    for call in lists:
        is_first = not any(each.startswith("--cursor") for each in call.words)
        trouble = first(pagination(call.meta.get("pagination"), len(call.data), is_first))
        yield judged(trouble, call.command, call.evidence)


def _paged(target: Target) -> Iterator[tuple[Command, tuple[str, ...], list[Any]]]:
    """Give the commands whose lists can be asked for page by page, with what they list."""
    listed(target)
    for command in readers(target):
        words = target.words(command)
        call = made(target, *words)
        flags = (flag_of(target, command, each) for each in ("limit", "cursor"))
        if call is not None and isinstance(call.data, list) and all(flags):
            yield command, words, call.data


def _next(call: Call) -> str:
    """Give the cursor of the page behind this one, wherever the revision puts it."""
    page = object_in(call.meta.get("pagination"))
    return text_in(page.get("next_cursor")) or text_in(call.meta.get("cursor"))


@check(
    "family.paging.continues",
    "The pages of a list are the list",
    level=2,
    contracts=FAMILY,
    requirements=("F-019", "O-003"),
)
def pages_go_on(target: Target) -> Iterator[Finding]:
    """One item, and the one behind its cursor, are the first two of the list."""
    tried = False
    for command, words, whole in _paged(target):
        if len(whole) < 2 or not is_steady(target, words):
            continue
        tried = True
        name = " ".join(command.path)
        page = made(target, *words, "--limit", "1")
        if page is None:
            continue
        if page.exit_code != 0 or not same(page.data, whole[:1]):
            yield judged("--limit 1 does not give the first item", name, page.evidence)
            continue
        cursor = _next(page)
        if not cursor:
            yield judged("--limit 1 gives no cursor for the rest", name, page.evidence)
            continue
        page = made(target, *words, "--limit", "1", "--cursor", cursor)
        if page is not None:
            goes_on = page.exit_code == 0 and same(page.data, whole[1:2])
            trouble = "" if goes_on else "the cursor does not lead to the second item"
            yield judged(trouble, name, page.evidence)
    if not tried:
        raise NotApplicable("no list of two items or more has --limit and --cursor")


@check(
    "family.paging.cursor",
    "A cursor that is none is refused",
    level=2,
    contracts=FAMILY,
    requirements=("O-003",),
)
def bad_cursor(target: Target) -> Iterator[Finding]:
    """Who goes on from nowhere is told so, and gets no first page."""
    tried = False
    for command, words, _ in _paged(target):
        tried = True
        call = made(target, *words, "--cursor", _NO_SUCH_CURSOR)
        if call is None:
            continue
        trouble = ""
        if call.exit_code != ARG_ERROR[target.contract]:
            trouble = f"a cursor that is none: {call.evidence.ended}"
        elif call.error and call.error_code != "INVALID_CURSOR":
            trouble = "error.code is not INVALID_CURSOR"
        yield judged(trouble, " ".join(command.path), call.evidence)
    if not tried:
        raise NotApplicable("no list has --limit and --cursor")
