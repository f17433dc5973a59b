"""The encoder: any value gives JSON that every reader takes, or `EncodingError`."""

from __future__ import annotations

import json
import re
from typing import Any

from fuzz.targets import require
from fuzz.values import Source, value_from
from murli import EncodingError
from murli.answer import payload_of
from murli.formats import MAX_DEPTH, dumps, plain

WORDS = ["\x00\x08\x1b[31m", "NaN", '{"a":', "[[[[", "\\ud800", "1e999"]
_CONTROL = re.compile("[\0-\x09\x0b-\x1f]")


def check(data: bytes) -> None:
    """Encode the value that *data* stands for, and the text it is."""
    try:
        found = plain(value_from(Source(data)))
    except EncodingError as error:
        require("\n" not in str(error)[:20] and str(error), "a refusal says where the trouble is")
    else:
        _require_json(found)
    printed = data.decode("utf-8", "replace")
    _require_json(payload_of(printed if b"\0" not in data[:8] else data))


def _require_json(found: Any) -> None:
    pretty, compact = dumps(found), dumps(found, pretty=False)
    require(not _CONTROL.search(pretty), "a document has no control characters", pretty)
    require("\n" not in compact, "a line is one line", compact)
    for text in (pretty, compact):
        text.encode()  # UTF-8, strictly
        require(_read(text) == found, "what is written is what was meant", text)
    require(plain(found) == found, "plain data stays as it is", compact)
    require(dumps(plain(found)) == pretty, "the bytes are stable", compact)
    require(_depth(found) <= MAX_DEPTH + 1, "no reader is asked for more depth than it has")


def _read(text: str) -> Any:
    def refuse(name: str) -> None:
        require(False, "no constant that JSON does not have", name)

    return json.loads(text, parse_constant=refuse)


def _depth(found: Any) -> int:
    deepest, level = 0, [found]
    while level:
        level = [
            each
            for value in level
            if isinstance(value, (dict, list))
            for each in (value.values() if isinstance(value, dict) else value)
        ]
        deepest += bool(level)
    return deepest
