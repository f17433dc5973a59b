"""The index as a thing: where it lives, what it tells about itself, how it goes away."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import riffle
from riffle import engine, store

SOURCE = str(Path(engine.__file__).parents[1])
FORBIDDEN = {
    "asyncio", "dataclasses", "inspect", "logging", "murli", "pathlib", "sqlite3", "tempfile",
    "typing",
}  # fmt: skip


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    for name, text in {
        "a/readme.md": "one\ntwo\n", "b/readme.md": "three", "b/joints.md": "four", "b/c/empty": "",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        os.utime(folder / name, (0, 86_400 * len(text)))
    return folder


@pytest.fixture
def index(tmp_path: Path, docs: Path) -> str:
    path = str(tmp_path / "index.db")
    engine.build(str(docs), path)
    return path


def foreign_database(path: Path) -> bytes:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE precious (x)")
    db.commit()
    db.close()
    return path.read_bytes()


def test_import_cost() -> None:
    """Importing the engine loads nothing that would slow a start-up down."""
    script = (
        "import sys; before = set(sys.modules); import riffle.engine;"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before})"
    )
    output = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {SOURCE!r}); {script}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert set(output.split()) & FORBIDDEN == set()


def test_version() -> None:
    """The package carries its version and nothing else."""
    assert riffle.__version__ == "1.0.2"


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"RIFFLE_INDEX": "/x/y.db", "HOME": "/home/me"}, "/x/y.db"),
        ({"RIFFLE_INDEX": "", "HOME": "/home/me"}, "/home/me/.riffle/index.db"),
        ({"HOME": "/home/me"}, "/home/me/.riffle/index.db"),
        ({}, os.path.expanduser("~/.riffle/index.db")),
    ],
)
def test_default_index_path(environ: dict[str, str], path: str) -> None:
    """The environment chooses the index, and the home folder is the default."""
    assert engine.default_index_path(environ) == path


def test_status(index: str, docs: Path) -> None:
    """The status sums up the index."""
    status = engine.status(index)
    assert (status.path, status.roots) == (index, [str(docs)])
    assert (status.files, status.folders, status.bytes) == (4, 4, 17)
    assert status.size_bytes == os.path.getsize(index)
    assert len(status.updated) == len("2026-01-01T00:00:00Z")
    assert status.updated.endswith("Z")


@pytest.mark.parametrize("call", [
    engine.status, engine.delete, engine.plan_delete, lambda path: engine.query(path, "x", 1),
    lambda path: engine.show(path, "x"),
])  # fmt: skip
def test_missing_index(tmp_path: Path, call: object) -> None:
    """Everything but a build reports a missing index, and creates nothing."""
    assert callable(call)
    for path in (tmp_path / "no/index.db", tmp_path / "index.db"):
        with pytest.raises(engine.IndexMissing) as caught:
            call(str(path))
        assert caught.value.path == str(path)
    assert list(tmp_path.iterdir()) == []


def test_unreadable_indexes(index: str, tmp_path: Path) -> None:
    """What is not a readable index is reported with the reason."""
    other = tmp_path / "other"
    foreign_database(other)
    (tmp_path / "text").write_text("not a database at all")
    newer, older, broken = (tmp_path / name for name in ("newer", "older", "broken"))
    data = Path(index).read_bytes()
    newer.write_bytes(data[:60] + (2).to_bytes(4, "big") + data[64:])
    older.write_bytes(data[:60] + bytes(4) + data[64:])
    broken.write_bytes(data[:4096] + b"\xff" * (len(data) - 4096))
    reasons = {}
    for path in (other, tmp_path / "text", tmp_path, newer, older, broken):
        with pytest.raises(engine.IndexUnreadable) as caught:
            engine.query(str(path), "one", 5)
        reasons[path.name] = caught.value.reason
    assert reasons["other"] == reasons["text"] == "not a riffle index"
    assert reasons[tmp_path.name] == "not a file"
    assert "newer riffle" in reasons["newer"]
    assert "older riffle" in reasons["older"]
    assert "malformed" in reasons["broken"]


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_impossible_index_path(path: str) -> None:
    """A path no file can have is no index."""
    with pytest.raises(engine.IndexUnreadable):
        engine.status(path)


def test_delete(index: str, docs: Path) -> None:
    """A deletion removes the database and its side files, and nothing else."""
    Path(index + "-journal").write_bytes(b"")
    size = os.path.getsize(index)
    plan = engine.plan_delete(index)
    assert (plan.files, plan.bytes) == ([index, index + "-journal"], size)
    assert os.path.exists(index)
    assert engine.delete(index) == plan
    assert sorted(os.listdir(os.path.dirname(index))) == ["docs"]
    with pytest.raises(engine.IndexMissing):
        engine.delete(index)


def test_foreign_files_are_not_deleted(tmp_path: Path) -> None:
    """A file that is not a riffle index is never deleted."""
    database = foreign_database(tmp_path / "precious.db")
    (tmp_path / "notes.txt").write_text("notes")
    (tmp_path / "short").write_bytes(b"SQLite format 3\0")
    for name in ("precious.db", "notes.txt", "short", "."):
        for attempt in (engine.plan_delete, engine.delete):
            with pytest.raises(engine.IndexUnreadable):
                attempt(str(tmp_path / name))
    assert (tmp_path / "precious.db").read_bytes() == database
    assert len(list(tmp_path.iterdir())) == 3


def test_broken_index_can_be_deleted(index: str) -> None:
    """An index that is corrupt or of another schema can still be deleted."""
    data = Path(index).read_bytes()
    Path(index).write_bytes(data[:60] + (9).to_bytes(4, "big") + data[64:100] + b"\xff" * 5000)
    engine.delete(index)
    assert not os.path.exists(index)


def test_hostile_index_path(docs: Path, tmp_path: Path) -> None:
    """Characters with a meaning in URIs have none in the path of an index."""
    for name in ("a?mode=memory", "b#c", "d%20e", "f g", "é", os.fsdecode(b"\xff")):
        path = tmp_path / name / "index.db"
        engine.build(str(docs), str(path))
        assert path.is_file()
        assert engine.status(str(path)).files == 4
        engine.status(str(path)).path.encode("utf-8")
        engine.delete(str(path))
        assert list(path.parent.iterdir()) == []


def test_linked_index(index: str, tmp_path: Path) -> None:
    """An index is the same through a link to it."""
    (tmp_path / "link").symlink_to(index)
    assert engine.status(str(tmp_path / "link")) == engine.status(index)


def test_show_file(index: str, docs: Path) -> None:
    """A file is shown as it was indexed."""
    document = engine.show(index, str(docs / "a/readme.md"))
    assert document.as_dict() == {
        "path": str(docs / "a/readme.md"), "root": str(docs), "kind": "file", "bytes": 8,
        "lines": 2, "modified": "1970-01-09T00:00:00Z", "text": "one\ntwo\n", "files": [],
    }  # fmt: skip
    assert engine.show(index, str(docs / "b/readme.md")).lines == 1
    assert engine.show(index, str(docs / "b/c/empty")).lines == 0


def test_show_folder(index: str, docs: Path) -> None:
    """A folder is shown as the files indexed below it."""
    document = engine.show(index, str(docs / "b") + "/")
    assert (document.kind, document.text) == ("folder", "")
    assert (document.bytes, document.lines) == (9, 2)
    assert document.modified == "1970-01-06T00:00:00Z"
    assert document.files == [
        str(docs / "b" / name) for name in ("c/empty", "joints.md", "readme.md")
    ]


def test_show_relative(index: str, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path starts at the working folder, and may else be the end of one path."""
    monkeypatch.chdir(docs / "a")
    assert engine.show(index, "readme.md").text == "one\ntwo\n"
    assert engine.show(index, "../b/readme.md").text == "three"
    assert engine.show(index, "joints.md").text == "four"
    assert engine.show(index, "./b/readme.md").text == "three"
    assert engine.show(index, "b/c").kind == "folder"


def test_show_ambiguous(index: str, docs: Path) -> None:
    """An end shared by several paths names none of them, and they are offered instead."""
    with pytest.raises(engine.NotIndexed) as caught:
        engine.show(index, "readme.md")
    assert caught.value.near == [str(docs / "a/readme.md"), str(docs / "b/readme.md")]


def test_show_near(index: str, docs: Path) -> None:
    """A misspelt path is answered with the closest indexed ones."""
    with pytest.raises(engine.NotIndexed) as caught:
        engine.show(index, str(docs / "b/joint.md"))
    assert caught.value.near == [str(docs / "b/joints.md")]
    assert caught.value.path == str(docs / "b/joint.md")


def test_show_nothing(index: str) -> None:
    """A path that is not indexed raises NotIndexed, however odd it is."""
    for path in ("", " ", "a\0b", "\ud800", "%", "oints.md", "/", "..", "*"):
        with pytest.raises(engine.NotIndexed) as caught:
            engine.show(index, path)
        str(caught.value).encode("utf-8")


def test_records_are_immutable(index: str) -> None:
    """What the engine hands out cannot be changed."""
    status = engine.status(index)
    with pytest.raises(AttributeError):
        status.files = 0
    with pytest.raises(AttributeError):
        del status.files
    assert repr(status).startswith("Status(path=")


def test_errors_have_one_base() -> None:
    """Every error of the engine is a RiffleError that says what it is about."""
    for error in (
        engine.IndexMissing("p"), engine.IndexUnreadable("p", "r"), engine.NotIndexed("p", []),
        engine.IndexUnwritable("p", "r"), engine.IndexBusy("p"), engine.BadQuery("p"),
    ):  # fmt: skip
        assert isinstance(error, engine.RiffleError)
        assert "p" in str(error)


def test_application_id(index: str) -> None:
    """The database declares itself to be a riffle index, to SQLite and to file(1)."""
    db = sqlite3.connect(index)
    assert db.execute("PRAGMA application_id").fetchone() == (store.APPLICATION_ID,)
    assert db.execute("PRAGMA user_version").fetchone() == (store.SCHEMA_VERSION,)
    assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    db.close()
