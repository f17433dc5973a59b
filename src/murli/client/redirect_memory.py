"""Permanent redirects, kept between sessions: which call of which tool has become which.

The file is private, whole at every moment, changed under a lock; a corrupt one is set aside. What
is in it only ever changes words that the same tool is called with.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .. import files
from .own_calls import is_runnable

Words = tuple[str, ...]
Rules = Mapping[Words, Words]

#: how many redirects of one tool are kept; the oldest go first
MOST_RULES = 500
_MOST_STEPS = 10


def default_path() -> str:
    """Return where redirects are kept, ``""`` when there is no home to keep them in."""
    state = files.user_folder("XDG_STATE_HOME")
    return os.path.join(state, "murli", "redirects.json") if state else ""


def rule_of(old: Sequence[str], new: Sequence[str]) -> tuple[Words, Words] | None:
    """Return the part of two calls in which they differ: what became of a command, not of a call.

    ``query tea --top=5`` that became ``search tea --top=5`` is a ``query`` that became a
    ``search``. A command that lives on below its own name may be a group by now, whose other
    commands have not moved: of that only the very call is kept. Where options are what changed
    there is nothing to be learnt: ``None``. Values of options, which may be secret, are not kept.
    """
    before, after = _heads(old, new)
    if _extends(old, new):
        before, after = tuple(old), tuple(new)
    if not before or before == after or any(word.startswith("-") for word in before):
        return None
    return before, after


def _heads(old: Sequence[str], new: Sequence[str]) -> tuple[Words, Words]:
    """Return two calls without the words at their ends that are the same."""
    before, after = list(old), list(new)
    while len(before) > 1 and len(after) > 1 and before[-1] == after[-1]:
        before.pop()
        after.pop()
    return tuple(before), tuple(after)


def _extends(old: Sequence[str], new: Sequence[str]) -> bool:
    before, after = _heads(old, new)
    return after[: len(before)] == before


def applied(rules: Rules, words: Sequence[str]) -> Words:
    """Return the current words for *words*: the longest rule first, then those it leads to."""
    current = tuple(words)
    used: set[Words] = set()
    for _ in range(_MOST_STEPS):
        for length in range(len(current), 0, -1):
            old = current[:length]
            new = rules.get(old)
            if new and old not in used and (old == current or not _extends(old, new)):
                break
        else:
            break
        used.add(old)
        current = (*new, *current[length:])
    return current


class RedirectMemory:
    """What is known of tools: from the file at *path*, and from this session.

    With ``""`` for a path there is no file.
    """

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._saved: dict[str, dict[Words, Words]] = {}
        self._session: dict[str, dict[Words, Words]] = {}

    def rules(self, tool: str) -> Rules:
        """Return what is known of *tool*; the file is read when it has changed."""
        if self._path:
            now = self._state()
            if now != self._seen:
                self._saved = _tools_in(self._document())
                self._seen = now
        return {**self._saved.get(tool, {}), **self._session.get(tool, {})}

    def remember(self, tool: str, old: Words, new: Words) -> bool:
        """Keep that *old* is *new* now; return whether the next session will know it too."""
        self._session.setdefault(tool, {})[old] = new
        if not self._path:
            return False

        try:
            with self._alone():
                document = self._document(may_set_aside=True)
                tools = document.setdefault("tools", {})
                rules = [each for each in tools.get(tool, ()) if each.get("from") != list(old)]
                moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                rules.append({"from": list(old), "to": list(new), "at": moment})
                tools[tool] = rules[-MOST_RULES:]
                text = json.dumps({**document, "version": 1}, indent=1)
                files.replace_text(self._path, f"{text}\n")
        except (OSError, files.StoreError):  # a memory that cannot be written must not stop a call
            return False
        return True

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep others from changing the file."""
        folder = os.path.dirname(self._path)
        files.make_folders(folder)
        files.tighten(folder)
        lock = files.open_lock(f"{self._path}.lock")
        try:
            files.wait_for_lock(lock, self._path)
            yield
        finally:
            os.close(lock)

    def _document(self, *, may_set_aside: bool = False) -> dict[str, Any]:
        """Return what the file holds, as far as it is what we write."""
        try:
            data = files.contents(self._path, repair=True)
            if data is None:
                return {}
            document = json.loads(data)
            _check(document)
        except files.StoreError:  # it may not be read
            return {}
        except (files.CorruptError, ValueError, RecursionError):
            if may_set_aside:
                files.set_aside(self._path)
            return {}
        found: dict[str, Any] = document
        return found

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:  # there is none
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size


def _check(document: Any) -> None:
    """Raise `ValueError` for what we cannot have written."""
    tools = document.get("tools", {}) if isinstance(document, dict) else None
    if not isinstance(tools, dict):
        raise ValueError("no tools")
    for rules in tools.values():
        for rule in rules if isinstance(rules, list) else [None]:
            if not isinstance(rule, dict) or not all(map(_is_words, map(rule.get, ("from", "to")))):
                raise ValueError("a rule is no pair of calls")


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)


def _tools_in(document: Mapping[str, Any]) -> dict[str, dict[Words, Words]]:
    """Return the rules in *document* that lead to a call that can be made."""
    return {
        tool: {tuple(rule["from"]): tuple(rule["to"]) for rule in rules if is_runnable(rule["to"])}
        for tool, rules in document.get("tools", {}).items()
    }
