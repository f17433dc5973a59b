"""What the tools of the soak say, made from two numbers: the tool and the oracle make the same.

Loaded by every process of the soak, so it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 äé漢🎈"
# Terminal control, NUL, what is not Unicode, what ends lines elsewhere, what turns them around.
HOSTILE = (
    "\x1b[31mred\x1b[0m",
    "a\0b",
    "\ud800 alone",
    "\udcff\udcfe",
    "\u202eabc\u2066",
    "line\u2028line\u2029\x85end",
    "\r\nreturn\r",
    "\x9b1m\x9d0;title\x9c",
    "\x07\x08\x7f\x0b\x0c",
    '"}\n{"status":"ok"}',
    "\ufeffbom",
    "Traceback, said a handler",
    "x" * 3000,
)


def letters(seed: int, count: int) -> str:
    """Return a text of *count* letters; long ones repeat themselves."""
    state, found = seed & 0xFFFFFFFF, []
    for _ in range(min(count, 200)):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        found.append(_LETTERS[(state >> 16) % len(_LETTERS)])
    block = "".join(found)
    return (block * (count // len(block) + 1))[:count] if block else ""


def lines(seed: int, size: int) -> str:
    """Return about *size* letters in lines, the last one ended too."""
    line = f"{seed % 1000:03} {letters(seed, 60)}".rstrip() + ".\n"
    return line * max(size // len(line), 1)


def payload(seed: int, size: int) -> dict[str, Any]:
    """Return data that JSON can hold, about *size* letters of it."""
    row = letters(seed, 80)
    return {
        "seed": seed,
        "text": letters(seed, min(size, 500)),
        "numbers": [seed, -seed, seed / 7, 0, True, None],
        "rows": [{"id": index, "row": row} for index in range(size // 90)],
    }


def hostile(seed: int, size: int) -> dict[str, Any]:
    """Return data that murli has to clean or convert."""
    pick = HOSTILE[seed % len(HOSTILE)]
    return {
        "text": pick,
        pick: seed,
        "bytes": bytes(range(256)) * (size // 256 % 40),
        "tuple": (pick, {pick, "other"}),
        "many": [HOSTILE[index % len(HOSTILE)] for index in range(size // 100 % 200)],
        "deep": _deep(seed % 200),
        "range": range(seed % 10),
    }


def _deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value
