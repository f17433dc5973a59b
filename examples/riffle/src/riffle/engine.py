"""The engine of riffle: index the text below folders, find what matches a topic.

This module is the whole public face of the engine; nothing here knows about a command line.
Paths go in as strings and come out in display form (see `riffle.paths`).
"""

from __future__ import annotations

import os

from . import store
from .build import build, plan_build
from .errors import (
    BadQuery,
    IndexBusy,
    IndexMissing,
    IndexUnreadable,
    IndexUnwritable,
    NotIndexed,
    RiffleError,
)
from .paths import encoded, shown
from .records import BuildPlan, BuildReport, DeletePlan, Document, Match, Status
from .search import query

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from .paths import AnyPath

__all__ = [
    "BadQuery",
    "BuildPlan",
    "BuildReport",
    "DeletePlan",
    "Document",
    "IndexBusy",
    "IndexMissing",
    "IndexUnreadable",
    "IndexUnwritable",
    "Match",
    "NotIndexed",
    "RiffleError",
    "Status",
    "build",
    "default_index_path",
    "delete",
    "plan_build",
    "plan_delete",
    "query",
    "show",
    "status",
]

NEAR = 5


def default_index_path(environ: Mapping[str, str] = os.environ) -> str:
    """``$RIFFLE_INDEX``, or ``~/.riffle/index.db`` when that is unset or empty."""
    chosen = environ.get("RIFFLE_INDEX")
    if chosen:
        return os.path.expanduser(chosen)
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(home, ".riffle", "index.db")


def status(index_path: AnyPath) -> Status:
    """What the index holds. Raises `IndexMissing`, `IndexUnreadable` or `IndexBusy`."""
    index = store.locate(index_path)
    with store.Reading(index) as db:
        roots = db.execute("SELECT path, updated FROM root ORDER BY path").fetchall()
        files, size = db.execute("SELECT count(*), coalesce(sum(bytes), 0) FROM file").fetchone()
        (folders,) = db.execute("SELECT count(*) FROM folder").fetchone()
    return Status(
        path=shown(index),
        roots=[shown(path) for path, _ in roots],
        files=files,
        folders=folders,
        bytes=size,
        updated=max(updated for _, updated in roots),
        size_bytes=plan_delete(index_path).bytes,
    )


def plan_delete(index_path: AnyPath) -> DeletePlan:
    """What `delete` would remove. Raises `IndexMissing`, or `IndexUnreadable` if not an index."""
    index = store.locate(index_path)
    store.recognise(index)
    sizes = {
        shown(path): os.path.getsize(path)
        for path in store.footprint(index)
        if os.path.exists(path)
    }
    return DeletePlan(files=list(sizes), bytes=sum(sizes.values()))


def delete(index_path: AnyPath) -> DeletePlan:
    """Remove the index and its side files; returns what was removed.

    An index of any schema, and a corrupt one, can be deleted; a file that is not a riffle index
    raises `IndexUnreadable`, and one that is being built `IndexBusy`.
    """
    plan = plan_delete(index_path)
    store.remove(store.locate(index_path))
    return plan


def show(index_path: AnyPath, path: AnyPath) -> Document:
    """The indexed file or folder ``path``: absolute, relative, or the end of just one path.

    Raises `NotIndexed` when nothing or more than one thing answers to ``path``, and what
    `riffle.store.Reading` raises.
    """
    with store.Reading(store.locate(index_path)) as db:
        found, near = _find(db, path)
        if found is None:
            raise NotIndexed(shown(path), near)
        return _document(db, found)


def _find(db: sqlite3.Connection, path: AnyPath) -> tuple[bytes | None, list[str]]:
    """The indexed path meant by ``path``, or else the ones that come near."""
    raw = encoded(path)
    if not raw.strip() or b"\0" in raw:
        return None, []
    indexed = "SELECT path, shown FROM file UNION ALL SELECT path, shown FROM folder"
    full = os.path.abspath(raw)
    for exact in (full, os.path.realpath(raw)):
        if db.execute(f"SELECT 1 FROM ({indexed}) WHERE path = ?", (exact,)).fetchone():
            return exact, []
    alike = f"SELECT path, shown FROM ({indexed}) WHERE shown = ? ORDER BY path"
    matches = db.execute(alike, (shown(full),)).fetchall()
    if not matches and not os.path.isabs(raw):
        tail = os.sep + shown(os.path.normpath(raw))
        ending = f"SELECT path, shown FROM ({indexed}) WHERE substr(shown, -?) = ? ORDER BY path"
        matches = db.execute(ending, (len(tail), tail)).fetchall()
    if len(matches) == 1:
        return matches[0][0], []
    if matches:
        return None, [name for _, name in matches[:NEAR]]
    return None, _nearest(shown(full), [name for _, name in db.execute(indexed)])


def _nearest(path: str, indexed: list[str]) -> list[str]:
    from difflib import get_close_matches

    wanted = os.path.basename(path)
    by_name: dict[str, list[str]] = {}
    for each in sorted(indexed):
        name = os.path.basename(each)
        # Comparing is slow, and names this different in length are not near anyway.
        if abs(len(name) - len(wanted)) <= 4:
            by_name.setdefault(name, []).append(each)
    names = get_close_matches(wanted, by_name, n=NEAR, cutoff=0.6)
    return [each for name in names for each in by_name[name]][:NEAR]


def _document(db: sqlite3.Connection, path: bytes) -> Document:
    columns = "file.shown, root.path, file.bytes, file.lines, file.modified"
    joined = "FROM file JOIN root ON root.id = file.root_id"
    row = db.execute(
        f"SELECT {columns}, file_words.body {joined}"
        " JOIN file_words ON file_words.rowid = file.id WHERE file.path = ?",
        (path,),
    ).fetchone()
    if row is not None:
        name, root, size, lines, modified, text = row
        return Document(
            path=name, root=shown(root), kind="file", bytes=size, lines=lines,
            modified=modified, text=text, files=[],
        )  # fmt: skip
    inside = path.rstrip(os.fsencode(os.sep)) + os.fsencode(os.sep)
    rows = db.execute(
        f"SELECT {columns} {joined} WHERE substr(file.path, 1, ?) = ? AND file.root_id ="
        " (SELECT root_id FROM folder WHERE path = ?) ORDER BY file.path",
        (len(inside), inside, path),
    ).fetchall()
    return Document(
        path=shown(path), root=shown(rows[0][1]), kind="folder",
        bytes=sum(row[2] for row in rows), lines=sum(row[3] for row in rows),
        modified=max(row[4] for row in rows), text="", files=[row[0] for row in rows],
    )  # fmt: skip
