"""Data: the same for the same call in every locale; lists page by page, with pagination."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...wire.catalogue import Command
from ...wire.values import object_in, text_in
from ..calls.making import Call, Target, named, over, same
from ..judging import NotApplicable, finding
from ..results import Finding
from ..shapes.envelope import pagination
from ..shapes.kinds import first

_NO_SUCH_CURSOR = "murli-check-no-such-cursor"
# A locale with other number and date formats.
_ELSEWHERE = {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8", "LANGUAGE": "de"}


def stable(target: Target) -> Iterator[Finding]:
    """What changes from call to call is in meta, not in the data."""
    for command in target.readers():
        calls = target.repeated(target.words(command))
        done = [each for each in calls if each is not None and each.exit_code == 0]
        if len(done) > 1:
            differ = not all(same(each.data, done[0].data) for each in done)
            trouble = "the same call gave other data" if differ else ""
            yield finding(trouble, named(command), done[-1].evidence)


def locale(target: Target) -> Iterator[Finding]:
    """Numbers and dates are written the same in every locale."""
    for command in target.readers():
        words = target.words(command)
        here = target.made(*words)
        if here is None or here.exit_code != 0 or not has_numbers(here.data):
            continue
        there = target.made(*words, env=_ELSEWHERE)
        if there is None or not target.is_steady(words):
            continue
        trouble = ""
        if there.exit_code != 0:
            trouble = f"in another language {there.ended}"
        elif not same(here.data, there.data):
            trouble = "in another language the data is another"
        yield finding(trouble, named(command), there.evidence)


def has_numbers(data: Any) -> bool:
    """Return whether *data* has a digit anywhere."""
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


def _lists(target: Target) -> Iterator[Call]:
    target.listed()
    for call in target.all_calls():
        if call.kind == "answer" and call.exit_code == 0 and isinstance(call.data, list):
            yield call


@over(_lists, otherwise="no answer is a list")
def paging(call: Call) -> str:
    """Every list has its pagination, and that agrees with the list."""
    is_first = not any(each.startswith("--cursor") for each in call.words)
    return first(pagination(call.meta.get("pagination"), len(call.data), is_first))


def _paged(target: Target) -> Iterator[tuple[Command, tuple[str, ...], list[Any]]]:
    """Yield the commands whose lists have pages, with the list."""
    target.listed()
    for command in target.readers():
        words = target.words(command)
        call = target.made(*words)
        flags = (target.flag_of(command, each) for each in ("limit", "cursor"))
        if call is not None and isinstance(call.data, list) and all(flags):
            yield command, words, call.data


def _next(call: Call) -> str:
    """Return the cursor of the next page, wherever the revision puts it."""
    page = object_in(call.meta.get("pagination"))
    return text_in(page.get("next_cursor")) or text_in(call.meta.get("cursor"))


def pages(target: Target) -> Iterator[Finding]:
    """Two pages of one item are the first two items of the list."""
    tried = False
    for command, words, whole in _paged(target):
        if len(whole) < 2 or not target.is_steady(words):
            continue
        tried = True
        name = named(command)
        page = target.made(*words, "--limit", "1")
        if page is None:
            continue
        if page.exit_code != 0 or not same(page.data, whole[:1]):
            yield finding("--limit 1 does not give the first item", name, page.evidence)
            continue
        cursor = _next(page)
        if not cursor:
            yield finding("--limit 1 returns no cursor for the rest", name, page.evidence)
            continue
        page = target.made(*words, "--limit", "1", "--cursor", cursor)
        if page is not None:
            goes_on = page.exit_code == 0 and same(page.data, whole[1:2])
            trouble = "" if goes_on else "the cursor does not lead to the second item"
            yield finding(trouble, name, page.evidence)
    if not tried:
        raise NotApplicable("no list of two items or more has --limit and --cursor")


def bad_cursor(target: Target) -> Iterator[Finding]:
    """An invalid cursor is refused, and does not return the first page."""
    tried = False
    for command, words, _ in _paged(target):
        tried = True
        call = target.made(*words, "--cursor", _NO_SUCH_CURSOR)
        if call is None:
            continue
        trouble = ""
        if call.exit_code != call.dialect.wrong_call:
            trouble = f"a made-up cursor: {call.ended}"
        elif call.error and call.error_name != "INVALID_CURSOR":
            trouble = "error.code is not INVALID_CURSOR"
        yield finding(trouble, named(command), call.evidence)
    if not tried:
        raise NotApplicable("no list has --limit and --cursor")
