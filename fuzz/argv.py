"""The argv scanner, against the frameworks' own parsers.

An input is lines: the name of a tool, then the words of a command line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from fuzz.targets import require
from fuzz.tools import TOOLS, Tool, Unparsed
from murli.core import FLAG_NAMES, MOUNTED, SEPARATOR
from murli.line.flags import flags_in
from murli.line.scanning import flag_value, scan

WORDS = [
    *(f"\n{name}" for name in (*sorted(FLAG_NAMES), *MOUNTED)),
    *(f"{name}\n" for name in TOOLS),
    *("\n--", "=json", "\ntext", "\n-", "\n-v", "\n--env", "\n--pair", "\nleaf", "\nmany", "\nrun"),
    *("\n-q", "\ngroup", "\n--items", "\n--some", "\n-n", "\n--maybe", "\n-x", "\n--rest"),
    *("\n--output-file", "\n--out", "\n--prof", "\nbuild", "\nship", "\n--to", "\n-5", "\n--no"),
]

_FIELDS = {name: flag.destination for name, flag in flags_in().items()}
_VALUED = [name for name, flag in flags_in().items() if flag.takes_value]


def check(data: bytes) -> None:
    """Scan a command line, and compare with what the tool's own parser makes of it."""
    tool, words = command_line(data)
    for mounted in ((), MOUNTED):
        call = scan(words, tool.level(), mounted)
        rest = [word for word in call.rest if word != SEPARATOR or SEPARATOR in words]
        left = [*call.before, *([call.mounted] if call.mounted else []), *rest]
        # An option whose value is optional is given it where a word behind ours would become it.
        left = [word if word in words else word.partition("=")[0] for word in left]
        _require_order(words, left)
        _require_dashes(tool, words, left)
        _require_flags(words, left, call)
        if not mounted:
            _require_agreement(tool, words, call)


def command_line(data: bytes) -> tuple[Tool, list[str]]:
    """Return the tool and the words that *data* stands for."""
    name, *words = data.split(b"\n")
    names = list(TOOLS)
    key = name.decode("latin-1")
    if key not in TOOLS:
        key = names[sum(name) % len(names)]
    # No command line has a NUL in a word.
    return TOOLS[key], [os.fsdecode(word.replace(b"\0", b"")) for word in words[:12]]


def _require_order(words: Sequence[str], left: Sequence[str]) -> None:
    remaining = iter(words)
    require(all(word in remaining for word in left), "no word is added or moved", (words, left))


def _require_dashes(tool: Tool, words: Sequence[str], left: Sequence[str]) -> None:
    if "--" not in words:
        return
    first = words.index("--")
    if tool.takes_any_value and any(word[:1] == "-" for word in words[max(0, first - 2) : first]):
        return  # the dashes may be the value of an option
    behind = words[first:]
    require(list(left[-len(behind) :]) == behind, "what is behind -- is left", (words, left))


def _require_flags(words: Sequence[str], left: Sequence[str], call: Any) -> None:
    """Nothing but flags of ours and their values is taken, and nothing is on that was not said."""
    said = {word.partition("=")[0] for word in words}
    for name in _FIELDS:
        field = _FIELDS[name]
        spellings = {option for option, each in _FIELDS.items() if each == field}
        require(not flag_value(call, field) or spellings & said, "a flag is said to be on", words)
    taken = list(words)
    for word in left:
        taken.remove(word)
    values = {words[place] for place in _behind_ours(words)}
    strangers = [
        word for word in taken if word.partition("=")[0] not in _FIELDS and word not in values
    ]
    require(not strangers, "only flags of ours are taken", (words, strangers))


def _behind_ours(words: Sequence[str]) -> Iterator[int]:
    return (place for place in range(1, len(words)) if words[place - 1] in _VALUED)


def _require_agreement(tool: Tool, words: Sequence[str], call: Any) -> None:
    try:
        expected = tool.parsed(words)
    except Unparsed:
        expected = None
    if expected is not None and not tool.is_lenient:
        require(call.mistake is None, "a line the tool takes by itself is no mistake", words)
        require(
            _parsed(tool, call) == expected,
            "a line the tool takes by itself is understood as before",
            (words, call.rest),
        )
        return
    if tool.is_lenient or call.mistake is not None:
        return
    try:
        expected, ours = tool.twin(words)
    except Unparsed:
        return
    if SEPARATOR in words:
        return
    found = {name: flag_value(call, name) for name in _FIELDS.values()}
    found = {name: value for name, value in found.items() if value}
    require(_parsed(tool, call) == expected, "the rest means what it meant", (words, call.rest))
    require(found == ours, "our flags are those the parser would see", (words, found, ours))


def _parsed(tool: Tool, call: Any) -> Any:
    try:
        return tool.parsed(call.rest, call.separated)
    except Unparsed as refused:
        return refused
