"""Accidents and company: builds that fail, are killed, or do not have the index to themselves."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from harness import lay_out

from riffle import engine, store

SOURCE = str(Path(engine.__file__).parents[1])


def run_python(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return lay_out(
        tmp_path / "docs",
        {"a.txt": "alpha\n", "deep/b.txt": "beta\nbeta", "deep/er/c.txt": "gamma\n"},
    )


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".riffle" / "index.db"


@pytest.mark.parametrize("stage", ["scan", "index"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_interrupted_build(docs: Path, index: Path, stage: str, error: type[BaseException]) -> None:
    """A build that ends early leaves the index as it was, and the next one succeeds."""
    engine.build(str(docs), str(index))
    before = engine.status(str(index))
    lay_out(docs, {"a.txt": "changed text", "new1.txt": "1", "new2.txt": "2"})

    def interrupt(at: str, current: int, total: int, path: str) -> None:
        if at == stage and current == 2:
            raise error

    with pytest.raises(error):
        engine.build(str(docs), str(index), interrupt)
    assert engine.status(str(index)) == before
    assert [p.name for p in index.parent.iterdir()] == ["index.db"]
    assert engine.build(str(docs), str(index)).added == 2


def test_interrupted_first_build(docs: Path, index: Path) -> None:
    """An index whose first build never completed counts as missing, yet can be deleted."""

    def interrupt(at: str, current: int, total: int, path: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.build(str(docs), str(index), interrupt)
    with pytest.raises(engine.IndexMissing):
        engine.status(str(index))
    assert engine.plan_build(str(docs), str(index)).added == 3
    engine.delete(str(index))
    assert list(index.parent.iterdir()) == []


KILLED = """
import os, signal, sys
from riffle import engine
def die(stage, current, total, path):
    if stage == "index" and current == 30:
        os.kill(os.getpid(), signal.SIGKILL)
engine.build(sys.argv[1], sys.argv[2], die)
"""


def test_killed_build(docs: Path, index: Path) -> None:
    """A build killed outright leaves the index as it was, or missing when it was the first."""
    # Enough text to push uncommitted pages out of SQLite's cache and onto the disk.
    filler = {
        f"many/{n}.txt": " ".join(f"word{n * 7919 % 10007}x{i}" for i in range(9000))
        for n in range(32)
    }
    other = lay_out(docs.parent / "other", filler)
    process = run_python(KILLED, other, index)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with pytest.raises(engine.IndexMissing):
        engine.status(str(index))

    engine.build(str(docs), str(index))
    before = engine.status(str(index)), engine.query(str(index), "beta", 5)
    process = run_python(KILLED, other, index)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert (index.parent / "index.db-wal").stat().st_size > 1_000_000
    after = engine.status(str(index))
    assert (after.roots, after.files, after.updated) == (
        before[0].roots, before[0].files, before[0].updated,
    )  # fmt: skip
    assert engine.query(str(index), "beta", 5) == before[1]
    assert engine.build(str(other), str(index)).added == 32
    assert [p.name for p in index.parent.iterdir()] == ["index.db"]
    check = sqlite3.connect(index)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    check.close()


HOT_JOURNAL = """
import os, signal, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("PRAGMA cache_size = 1")
db.execute("BEGIN")
db.execute("DELETE FROM root")
db.execute("CREATE TABLE junk (x)")
db.executemany("INSERT INTO junk VALUES (?)", [("x" * 5000,)] * 200)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_reader_rolls_back_a_journal(docs: Path, index: Path) -> None:
    """A reader copes with a writer killed while the index was in rollback mode."""
    engine.build(str(docs), str(index))
    before = engine.status(str(index))
    run_python(HOT_JOURNAL, index).communicate()
    assert (index.parent / "index.db-journal").stat().st_size > 0
    assert engine.status(str(index)) == before


BUILDER = """
import sys, time
from riffle import engine
report = engine.build(sys.argv[1], sys.argv[2], lambda *call: time.sleep(0.005))
print(report.files)
"""


def test_concurrent_builders(docs: Path, index: Path, tmp_path: Path) -> None:
    """Builders that start together on a new index all succeed, and none loses its files."""
    roots = [
        lay_out(tmp_path / f"root{n}", {f"{i}.txt": f"text {i}" for i in range(10)})
        for n in range(4)
    ]
    processes = [run_python(BUILDER, root, index) for root in (*roots, roots[0])]
    for process in processes:
        output, errors = process.communicate()
        assert output == "10\n", errors
    status = engine.status(str(index))
    assert status.roots == [str(root) for root in roots]
    assert status.files == 40


def test_waiting_for_a_writer(docs: Path, index: Path) -> None:
    """A build waits for somebody who is writing to the index at rest."""
    engine.build(str(docs), str(index))
    other = sqlite3.connect(index, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, other.execute, ["COMMIT"])
    release.start()
    assert engine.build(str(docs), str(index)).unchanged == 3
    release.join()
    other.close()


def test_reading_during_a_build(docs: Path, index: Path) -> None:
    """Readers see the previous index while a build is under way."""
    engine.build(str(docs), str(index))
    before = engine.status(str(index)).files
    lay_out(docs, {"new.txt": "novelty"})
    seen: list[tuple[int, int]] = []

    def look(stage: str, current: int, total: int, path: str) -> None:
        found = len(engine.query(str(index), "novelty", 5))
        seen.append((engine.status(str(index)).files, found))

    engine.build(str(docs), str(index), look)
    assert set(seen) == {(before, 0)}
    assert len(engine.query(str(index), "novelty", 5)) == 1


def test_busy_index(docs: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build and a deletion give up with IndexBusy when another build goes on for too long."""
    assert store.BUSY_SECONDS == 5
    monkeypatch.setattr(store, "BUSY_SECONDS", 0.1)
    engine.build(str(docs), str(index))

    def compete(stage: str, current: int, total: int, path: str) -> None:
        with pytest.raises(engine.IndexBusy):
            engine.build(str(docs), str(index))
        with pytest.raises(engine.IndexBusy):
            engine.delete(str(index))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.build(str(docs), str(index), compete)
    assert engine.status(str(index)).files == 3


OUT_OF_SPACE = """
import resource, sys
from riffle import engine
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, most))
try:
    engine.build(sys.argv[1], sys.argv[2])
except engine.IndexUnwritable as error:
    print(error.path)
"""


def test_out_of_space(docs: Path, index: Path) -> None:
    """A build that cannot write any further leaves the index as it was."""
    engine.build(str(docs), str(index))
    before = engine.status(str(index))
    lay_out(docs, {"long.txt": " ".join(f"word{n}" for n in range(50_000))})
    output, errors = run_python(OUT_OF_SPACE, docs, index).communicate()
    assert output == f"{index}\n", errors
    assert engine.status(str(index)) == before


def test_write_protected_index(own_folder: Path) -> None:
    """An index that may only be read can be queried, and says so when it is built."""
    docs = lay_out(own_folder / "docs", {"a.txt": "alpha"})
    index = own_folder / "home" / "index.db"
    engine.build(str(docs), str(index))
    index.chmod(0o400)
    index.parent.chmod(0o500)
    assert len(engine.query(str(index), "alpha", 5)) == 1
    for attempt in (lambda: engine.build(str(docs), str(index)), lambda: engine.delete(index)):
        with pytest.raises(engine.IndexUnwritable):
            attempt()
    index.parent.chmod(0o700)
    assert engine.status(str(index)).files == 1


def test_impossible_place(docs: Path) -> None:
    """An index that cannot be created where it is wanted is an IndexUnwritable."""
    with pytest.raises(engine.IndexUnwritable):
        engine.build(str(docs), str(docs / "a.txt" / "index.db"))
