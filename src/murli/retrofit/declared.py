"""What a sidecar declares about one command beyond what its author could: the layout of its output.

The tool itself cannot be asked to answer in another way, so what it prints is read.
"""

from __future__ import annotations

from ..core import fill
from ..declare import Metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..call import Invocation
    from ..declare.exit_codes import ExitCode

OUTPUTS = ("text", "json", "lines", "csv", "tsv", "columns")
# A longer one is no name of a place in a list.
_LONGEST_CURSOR = 4096
# Words of options that confirm, or keep a tool from asking.
_CONFIRMING = frozenset(
    """
    y yes f force assume assumeyes confirm confirmed confirmation noconfirm approve approved
    autoapprove autoconfirm accept agree ok sure really prompt prompts interactive noninteractive
    noinput input batch unattended dangerously allow trust skip ignore override overwrite delete
    remove purge prune destroy quiet q silent
    """.split()  # noqa: SIM905
)


def may_confirm(option: str) -> bool:
    """Return whether an option may answer a question of the tool, by the words of its name."""
    name = option.partition("=")[0]
    if name[:1] == "-" and name[1:2] != "-":  # letters may stand together
        return not _CONFIRMING.isdisjoint(name[1:].casefold()) or name[1:].casefold() in _CONFIRMING
    return not _CONFIRMING.isdisjoint(name.casefold().replace("_", "-").split("-"))


class Declaration(Metadata):
    """Metadata of a command whose author has declared nothing.

    *layout* is how what it prints is laid out, ``""`` where nobody says; *failures* are the
    statuses that mean a failure of a kind. A tool that pages by itself has the cursor of the next
    page at *next_in* of what it prints, dots for nesting, and takes it with the option *next_with*.
    """

    layout: str = ""
    failures: Any = None
    next_in: str = ""
    next_with: str = ""

    def _check(self, given: dict[str, Any]) -> None:
        super()._check(given)
        own = {"layout", "failures", "next_in", "next_with"}
        fill(self, explicit=self.explicit - own)

    @property
    def meanings(self) -> Mapping[int, str | ExitCode]:
        """What statuses other than 0 mean."""
        return {**(self.ok_codes or {}), **(self.failures or {})}

    def parsed(self, printed: str, invocation: Invocation) -> Any:
        """Return what was *printed* as data; ``None`` where the usual look at it will do."""
        if not self.next_in:
            return parsed_output(printed, self.layout)
        import json

        try:
            found = json.loads(printed)
        except (ValueError, RecursionError):
            return None
        self._note_next(found, invocation)
        return found

    def _note_next(self, found: Any, invocation: Invocation) -> None:
        """Note the call for the next page, unless the caller wants another part of this one."""
        if (invocation.call.limit, invocation.call.cursor) != (None, None):
            return
        for name in self.next_in.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        cursor = str(found) if isinstance(found, (str, int)) and found is not True else ""
        # A word that begins with a hyphen would be an option of the next call.
        if not cursor or cursor[:1] == "-" or len(cursor) > _LONGEST_CURSOR:
            return
        from ..line.calls import command_line, spelled
        from ..outcome import Page

        words = command_line(invocation).with_option(self.next_with, cursor)
        invocation.running.page = Page(next_cursor=cursor, rest=spelled(invocation, words))


def parsed_output(text: str, kind: str) -> Any:
    """Return what a program has printed as data, where *kind* says how it is laid out.

    ``None`` where it is not laid out so this time, because an option asked for something else.
    """
    if kind == "lines":
        return text.splitlines()
    if text[:256].lstrip()[:1] in ("{", "["):
        return None  # which is JSON
    if kind in ("csv", "tsv"):
        return _rows(text, "," if kind == "csv" else "\t")
    return _columns(text.splitlines()) if kind == "columns" else None


def _rows(text: str, separator: str) -> list[dict[str, Any]] | None:
    """Return the rows below the names in the first one; ``None`` for what is no table."""
    import csv
    import io

    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        names, *rows = [row for row in reader if row] or [[]]
    except csv.Error:  # a field without end
        return None
    if len(set(names)) != len(names) or any(len(row) > len(names) for row in rows):
        return None  # nothing may get lost
    return [dict(zip(names, row)) for row in rows]  # noqa: B905 -- a row may end early


def _columns(lines: list[str]) -> list[dict[str, str]] | None:
    """Return the rows of a table whose columns begin where those of its first line do.

    That line has names in capitals; ``None`` where it has not, for it may be a row.
    """
    import re

    first = lines[0] if lines else ""
    heads = [(each.start(), each[0]) for each in re.finditer(r"\S+(?: \S+)*", first)]
    names = [name.casefold() for _, name in heads]
    if first and not (first.isupper() and len(set(names)) == len(names)):
        return None
    starts = [0, *(start for start, _ in heads[1:])]
    rows = []
    for line in filter(str.strip, lines[1:]):
        ends = [*starts[1:], len(line)]
        parts = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        rows.append(dict(zip(names, parts, strict=True)))
    return rows
