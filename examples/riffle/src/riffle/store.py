"""The index file: recognising, opening, creating and removing it.

At rest an index is one SQLite file in rollback mode, so that reading it never writes anything,
not even a side file. A build switches it to write-ahead logging for as long as it takes: readers
go on seeing the previous index, and a killed build leaves frames that nobody ever looks at.
"""

from __future__ import annotations

import os
import stat
import time

from .errors import IndexBusy, IndexMissing, IndexUnreadable, IndexUnwritable, RiffleError
from .paths import encoded, shown, uri

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from types import TracebackType

    from .paths import AnyPath

APPLICATION_ID = 0x5249464C  # "RIFL"
SCHEMA_VERSION = 1
BUSY_SECONDS = 5.0
SIDE_SUFFIXES = (b"-wal", b"-shm", b"-journal")

_TOKENIZER = "tokenize = 'porter unicode61 remove_diacritics 2'"
_SCHEMA = (
    "CREATE TABLE root (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, updated TEXT NOT NULL)",
    """CREATE TABLE file (
        id INTEGER PRIMARY KEY, root_id INTEGER NOT NULL, path BLOB NOT NULL UNIQUE,
        shown TEXT NOT NULL, stamp TEXT NOT NULL, bytes INTEGER NOT NULL, lines INTEGER NOT NULL,
        modified TEXT NOT NULL)""",
    "CREATE INDEX file_root ON file (root_id)",
    # Derived from `file` after each build; `held` counts the files at any depth.
    """CREATE TABLE folder (
        id INTEGER PRIMARY KEY, root_id INTEGER NOT NULL, path BLOB NOT NULL UNIQUE,
        shown TEXT NOT NULL, held INTEGER NOT NULL)""",
    "CREATE INDEX folder_root ON folder (root_id)",
    f"CREATE VIRTUAL TABLE file_words USING fts5 (name, place, body, {_TOKENIZER})",
    f"CREATE VIRTUAL TABLE folder_words USING fts5 (name, {_TOKENIZER})",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)


def locate(index_path: AnyPath) -> bytes:
    """The absolute path of the index, links resolved: SQLite puts its side files there."""
    raw = encoded(index_path)
    if not raw or b"\0" in raw:
        raise IndexUnreadable(shown(raw), "not a usable path")
    return os.path.realpath(raw)


def footprint(index: bytes) -> list[bytes]:
    """The files an index may consist of, the database first, whether they exist or not."""
    return [index, *(index + suffix for suffix in SIDE_SUFFIXES)]


def recognise(index: bytes) -> int:
    """The schema version of the riffle index at ``index``, read without opening a database.

    Raises `IndexMissing` when nothing is there and `IndexUnreadable` when something else is. An
    empty file counts as nothing: it is what a build killed in its first instant leaves.
    """
    try:
        status = os.stat(index)
        if not stat.S_ISREG(status.st_mode):
            raise IndexUnreadable(shown(index), "not a file")
        if status.st_size == 0:
            raise IndexMissing(shown(index))
        with open(index, "rb") as file:
            header = file.read(100)
    except (FileNotFoundError, NotADirectoryError):
        raise IndexMissing(shown(index)) from None
    except OSError as error:
        raise IndexUnreadable(shown(index), error.strerror or str(error)) from error
    # Offsets 60 and 68: https://www.sqlite.org/fileformat2.html#the_database_header
    ours = APPLICATION_ID.to_bytes(4, "big")
    if not header.startswith(b"SQLite format 3\0") or header[68:72] != ours:
        raise IndexUnreadable(shown(index), "not a riffle index")
    return int.from_bytes(header[60:64], "big")


def _require_schema(index: bytes) -> None:
    version = recognise(index)
    if version > SCHEMA_VERSION:
        raise IndexUnreadable(
            shown(index),
            f"written by a newer riffle (schema {version}, this one knows {SCHEMA_VERSION})",
        )
    if version < SCHEMA_VERSION:
        raise IndexUnreadable(shown(index), f"written by an older riffle (schema {version})")


class _Session:
    """A database connection that speaks the engine's errors."""

    # By message: error codes reached Python's module only with 3.11.
    _write_failures: tuple[str, ...] = ("readonly database", "disk is full")

    def __init__(self, index: bytes) -> None:
        self.index = index
        self._db: sqlite3.Connection | None = None

    def _open(self, mode: str) -> sqlite3.Connection:
        import sqlite3

        self._db = sqlite3.connect(
            uri(self.index, mode), uri=True, timeout=BUSY_SECONDS, isolation_level=None
        )
        return self._db

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _explain(self, error: BaseException | None) -> None:
        """Raise what ``error`` means in the engine's terms, if it means anything there."""
        translated = self._translate(error)
        if translated is not None:
            raise translated from error

    def _translate(self, error: BaseException | None) -> RiffleError | None:
        import sqlite3

        # What is left of sqlite3.Error would be a mistake in riffle, and should look like one.
        if type(error) not in (sqlite3.OperationalError, sqlite3.DatabaseError):
            return None
        reason, path = str(error), shown(self.index)
        if "is locked" in reason:
            return IndexBusy(path)
        if any(failure in reason for failure in self._write_failures):
            return IndexUnwritable(path, reason)
        return IndexUnreadable(path, reason)


class Reading(_Session):
    """``with Reading(index) as db``: one unchanging view of a completed index.

    Raises `IndexMissing`, `IndexUnreadable` or `IndexBusy`, and turns database errors inside the
    block into them.
    """

    def __enter__(self) -> sqlite3.Connection:
        _require_schema(self.index)
        try:
            try:
                db = self._begin()
            except Exception as error:
                if not isinstance(self._translate(error), IndexUnwritable):
                    raise
                # "Read-only" at a first read: a journal wants to be rolled back, and only a
                # writer can.
                self._close()
                self._open("rw").execute("SELECT count(*) FROM root").fetchone()
                self._close()
                db = self._begin()
        except BaseException as error:
            self._close()
            self._explain(error)
            raise
        return db

    def _begin(self) -> sqlite3.Connection:
        db = self._open("ro")
        db.execute("BEGIN")
        if db.execute("SELECT count(*) FROM root").fetchone()[0] == 0:
            raise IndexMissing(shown(self.index))
        return db

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()
        self._explain(error)


class Writing(_Session):
    """``with Writing(index) as db``: one transaction, committed at the end or not at all.

    Creates the index when there is none: the file for its owner only, and so the folders on the
    way to it. Raises what `Reading` raises save `IndexMissing`, and `IndexUnwritable`.
    """

    _write_failures = (*_Session._write_failures, "disk I/O error")

    def __enter__(self) -> sqlite3.Connection:
        try:
            _require_schema(self.index)
        except IndexMissing:
            _create_file(self.index)
        try:
            db = self._open("rw")
            _create_schema(db)
            _start_logging(db)
            db.execute("BEGIN IMMEDIATE")
        except BaseException as error:
            self._close()
            self._explain(error)
            raise
        return db

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import sqlite3

        db = self._db
        assert db is not None
        try:
            if error is None:
                db.execute("COMMIT")
            elif db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error as failure:
            self._explain(failure)
            raise
        finally:
            _settle(db)
            self._close()
        self._explain(error)


def remove(index: bytes) -> None:
    """Remove the index, unless a build is under way (`IndexBusy`)."""
    import sqlite3

    session = _Session(index)
    try:
        session._open("rw").execute("BEGIN IMMEDIATE")
    except sqlite3.Error as error:
        # A corrupt index is deleted all the more gladly.
        if isinstance(busy := session._translate(error), IndexBusy):
            raise busy from error
    finally:
        session._close()
    # The database goes first: side files without it mean nothing, whereas it could be broken
    # without them.
    for path in footprint(index):
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise IndexUnwritable(shown(index), error.strerror or str(error)) from error


def _create_file(index: bytes) -> None:
    try:
        _make_private_folder(os.path.dirname(index))
        # SQLite gives its side files the mode of the database.
        os.close(os.open(index, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise IndexUnwritable(shown(index), error.strerror or str(error)) from error


def _create_schema(db: sqlite3.Connection) -> None:
    def exists() -> bool:
        return bool(db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)

    if exists():
        return
    # In rollback mode and in one transaction: the file is either empty or a whole index, and its
    # header can be trusted without opening it.
    db.execute("BEGIN IMMEDIATE")
    if not exists():
        for statement in _SCHEMA:
            db.execute(statement)
    db.execute("COMMIT")


def _start_logging(db: sqlite3.Connection) -> None:
    import sqlite3

    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # SQLite does not apply its busy timeout here when another process is writing.
            if "is locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _settle(db: sqlite3.Connection) -> None:
    import sqlite3

    # Not worth waiting for: when somebody else has the index open, the next build settles it.
    try:
        db.execute("PRAGMA busy_timeout = 0")
        db.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error:
        return


def _make_private_folder(folder: bytes) -> None:
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    if parent != folder:
        _make_private_folder(parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
