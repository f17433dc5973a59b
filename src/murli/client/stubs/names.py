"""Names and texts of a tool as Python: whatever is in them, they stay names and texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from keyword import iskeyword

from ...formats.text import clean_line

_MOST_LETTERS = 80
_MOST_TEXT = 2000


def identifier(text: str) -> str:
    """Return *text* as a name in ASCII; only a digit gets an underscore in front."""
    name = re.sub(r"[^0-9A-Za-z_]", "_", text)[:_MOST_LETTERS].strip("_") or "unnamed"
    if name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if iskeyword(name) else name


def class_name(*texts: str) -> str:
    """Return *texts* together as the name of a class."""
    parts = re.findall(r"[0-9A-Za-z]+", " ".join(texts))
    name = "".join(part[0].upper() + part[1:] for part in parts)[:_MOST_LETTERS] or "Unnamed"
    if name[0].isdigit():
        name = f"C{name}"
    return f"{name}_" if iskeyword(name) else name


class Scope:
    """The names that are taken in one place; `take` gives one that is not."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)

    def take(self, name: str) -> str:
        """Return *name*, or one like it, and take it."""
        found = name
        if found in self.taken and not found.endswith("_"):
            found = f"{name}_"
        count = 2
        while found in self.taken:
            found = f"{name.rstrip('_')}_{count}"
            count += 1
        self.taken.add(found)
        return found


def docstring(lines: Iterable[str], indent: str) -> str:
    """Return *lines* as the docstring they are, and nothing else, at *indent*."""
    safe = [_escaped(line) for line in lines]
    while safe and not safe[-1]:
        safe.pop()
    if len(safe) <= 1:
        return f'{indent}"""{"".join(safe)}"""\n'
    margin = (f"{indent}{line}" if line else "" for line in safe[1:])
    return "\n".join((f'{indent}"""{safe[0]}', *margin, f'{indent}"""\n'))


def _escaped(line: str) -> str:
    line = line.replace("\\", "\\\\")
    return line.replace('"', '\\"') if '"""' in line or line.endswith('"') else line


def safe_lines(text: str) -> list[str]:
    """Return what a tool says about itself as lines that are safe to show, not too many."""
    shown = clean_line(text[: 2 * _MOST_TEXT])
    if len(shown) > _MOST_TEXT:
        shown = shown[:_MOST_TEXT].rstrip() + " …"
    return [" ".join(line.split()) for line in shown.split("\n")]
