"""Bringing an index up to date with a folder, and foretelling what that would do.

Roots never overlap. Building a folder that an indexed root already covers refreshes that part of
the root; building a folder that covers indexed roots takes their files over.
"""

from __future__ import annotations

import os
import time

from . import scan, store
from .errors import IndexMissing
from .paths import beneath, iso_time, shown
from .records import BuildPlan, BuildReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from .paths import AnyPath

    Progress = Callable[[str, int, int, str], None]
    Known = dict[bytes, tuple[int, str]]


class _Scope:
    """What of the index a build of ``top`` answers for."""

    def __init__(self, db: sqlite3.Connection, top: bytes) -> None:
        roots = dict(db.execute("SELECT path, id FROM root ORDER BY path").fetchall())
        self.top = top
        self.root = next((root for root in roots if scan.reaches(root, top)), top)
        self.root_id: int | None = roots.get(self.root)
        self.absorbed = {
            root_id
            for root, root_id in roots.items()
            if root != self.root and scan.reaches(top, root)
        }

    def known(self, db: sqlite3.Connection) -> Known:
        """The id and stamp of the indexed files, by path."""
        rows = db.execute("SELECT path, id, stamp, root_id FROM file")
        return {
            path: (file_id, stamp)
            for path, file_id, stamp, root_id in rows
            if root_id in self.absorbed or (root_id == self.root_id and beneath(path, self.top))
        }


class _Survey:
    """How the files below a folder differ from what the index knows of them."""

    def __init__(self, skipped: int) -> None:
        self.work: list[tuple[int | None, scan.Entry]] = []
        self.unchanged: list[tuple[int, bytes]] = []
        self.removed: list[int] = []
        self.skipped = skipped
        self.bytes = 0

    def counts(self) -> dict[str, int]:
        added = sum(file_id is None for file_id, _ in self.work)
        return {
            "files": len(self.work) + len(self.unchanged),
            "added": added,
            "changed": len(self.work) - added,
            "removed": len(self.removed),
            "unchanged": len(self.unchanged),
            "skipped": self.skipped,
            "bytes": self.bytes,
        }


def plan_build(root: AnyPath, index_path: AnyPath) -> BuildPlan:
    """What `build` would do now. Writes nothing and creates nothing."""
    top, index = scan.resolve_root(root), store.locate(index_path)
    entries, skipped = scan.walk(top, store.footprint(index))
    known: Known = {}
    try:
        with store.Reading(index) as db:
            known = _Scope(db, top).known(db)
    except IndexMissing:
        pass
    survey = _compare(entries, known, skipped, None)
    return BuildPlan(root=shown(top), index=shown(index), **survey.counts())


def build(root: AnyPath, index_path: AnyPath, on_progress: Progress | None = None) -> BuildReport:
    """Bring the index up to date with the text files below ``root``.

    Only files whose size or modification time changed are read again. Everything happens in one
    transaction: when the build fails, is interrupted or killed, the index stays as it was.

    ``on_progress(stage, current, total, path)`` is called once a file is done with: in stage
    "scan" for every candidate, then in stage "index" for every file that is read. What it raises
    ends the build.

    Raises ``OSError`` for a root that is missing, not a folder or unreadable, and
    `IndexUnreadable`, `IndexUnwritable` or `IndexBusy` for an index that cannot be used.
    """
    started = time.monotonic()
    top, index = scan.resolve_root(root), store.locate(index_path)
    # Outside the transaction, so that a large folder on a slow disk keeps nobody waiting.
    entries, skipped = scan.walk(top, store.footprint(index))
    with store.Writing(index) as db:
        scope = _Scope(db, top)
        survey = _compare(entries, scope.known(db), skipped, on_progress)
        root_id = _claim_root(db, scope, survey)
        _index_files(db, scope.root, root_id, survey, on_progress)
        for file_id in survey.removed:
            _forget_file(db, file_id)
        _derive_folders(db, scope.root, root_id)
    seconds = round(time.monotonic() - started, 3)
    return BuildReport(root=shown(top), index=shown(index), seconds=seconds, **survey.counts())


def _compare(
    entries: list[scan.Entry], known: Known, skipped: int, on_progress: Progress | None
) -> _Survey:
    survey = _Survey(skipped)
    gone = dict(known)
    for number, entry in enumerate(entries, 1):
        file_id, stamp = known.get(entry.path, (None, ""))
        same = file_id is not None and stamp == entry.stamp
        # What is unchanged was text when it was indexed; only the rest needs a look inside.
        if same or scan.looks_textual(entry.path):
            gone.pop(entry.path, None)
            survey.bytes += entry.size
            if file_id is not None and same:
                survey.unchanged.append((file_id, entry.path))
            else:
                survey.work.append((file_id, entry))
        else:
            survey.skipped += 1
        if on_progress is not None:
            on_progress("scan", number, len(entries), shown(entry.path))
    survey.removed = [file_id for file_id, _ in gone.values()]
    return survey


def _claim_root(db: sqlite3.Connection, scope: _Scope, survey: _Survey) -> int:
    now = iso_time(time.time())
    if scope.root_id is not None:
        db.execute("UPDATE root SET updated = ? WHERE id = ?", (now, scope.root_id))
        return scope.root_id
    cursor = db.execute("INSERT INTO root (path, updated) VALUES (?, ?)", (scope.root, now))
    root_id = cursor.lastrowid
    assert root_id is not None
    for file_id, path in survey.unchanged:
        db.execute("UPDATE file SET root_id = ? WHERE id = ?", (root_id, file_id))
        db.execute(
            "UPDATE file_words SET place = ? WHERE rowid = ?", (_place(scope.root, path), file_id)
        )
    for absorbed in scope.absorbed:
        _forget_folders(db, absorbed)
        db.execute("DELETE FROM root WHERE id = ?", (absorbed,))
    return root_id


def _index_files(
    db: sqlite3.Connection,
    root: bytes,
    root_id: int,
    survey: _Survey,
    on_progress: Progress | None,
) -> None:
    work, survey.work = survey.work, []
    for number, (file_id, entry) in enumerate(work, 1):
        if file_id is not None:
            _forget_file(db, file_id)
        survey.bytes -= entry.size
        content = scan.read(entry.path)
        if content is not None:
            _remember_file(db, root, root_id, entry.path, content)
            survey.work.append((file_id, entry))
            survey.bytes += content.size
        else:
            # It looked fine a moment ago, during the comparison.
            survey.skipped += 1
            if file_id is not None:
                survey.removed.append(file_id)
        if on_progress is not None:
            on_progress("index", number, len(work), shown(entry.path))


def _remember_file(
    db: sqlite3.Connection, root: bytes, root_id: int, path: bytes, content: scan.Content
) -> None:
    cursor = db.execute(
        "INSERT INTO file (root_id, path, shown, stamp, bytes, lines, modified)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (root_id, path, shown(path), content.stamp, content.size, content.lines, content.modified),
    )
    db.execute(
        "INSERT INTO file_words (rowid, name, place, body) VALUES (?, ?, ?, ?)",
        (cursor.lastrowid, shown(os.path.basename(path)), _place(root, path), content.text),
    )


def _forget_file(db: sqlite3.Connection, file_id: int) -> None:
    db.execute("DELETE FROM file WHERE id = ?", (file_id,))
    db.execute("DELETE FROM file_words WHERE rowid = ?", (file_id,))


def _derive_folders(db: sqlite3.Connection, root: bytes, root_id: int) -> None:
    held: dict[bytes, int] = {}
    for (path,) in db.execute("SELECT path FROM file WHERE root_id = ?", (root_id,)):
        folder = path
        while folder != root:
            folder = os.path.dirname(folder)
            held[folder] = held.get(folder, 0) + 1
    before = dict(
        db.execute("SELECT path, held FROM folder WHERE root_id = ?", (root_id,)).fetchall()
    )
    if held == before:
        return
    _forget_folders(db, root_id)
    for folder, count in sorted(held.items()):
        cursor = db.execute(
            "INSERT INTO folder (root_id, path, shown, held) VALUES (?, ?, ?, ?)",
            (root_id, folder, shown(folder), count),
        )
        db.execute(
            "INSERT INTO folder_words (rowid, name) VALUES (?, ?)",
            (cursor.lastrowid, shown(os.path.basename(folder))),
        )


def _forget_folders(db: sqlite3.Connection, root_id: int) -> None:
    db.execute(
        "DELETE FROM folder_words WHERE rowid IN (SELECT id FROM folder WHERE root_id = ?)",
        (root_id,),
    )
    db.execute("DELETE FROM folder WHERE root_id = ?", (root_id,))


def _place(root: bytes, path: bytes) -> str:
    # From the root's own name downwards: what lies above it says nothing about the file, and
    # would match every file alike.
    folder = os.path.relpath(os.path.dirname(path), os.path.dirname(root))
    return "" if folder == b"." else shown(folder)
