"""Building an index: what goes in, what stays out and what changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness import lay_out

from riffle import engine


def indexed(index: Path, root: Path) -> list[str]:
    return [os.path.relpath(path, root) for path in engine.show(str(index), str(root)).files]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return lay_out(
        tmp_path / "docs",
        {"a.txt": "alpha\n", "deep/b.txt": "beta\nbeta", "deep/er/c.txt": "gamma\n"},
    )


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "home" / ".riffle" / "index.db"


def test_first_build_counts(docs: Path, index: Path) -> None:
    """A first build adds every text file and reports their bytes."""
    report = engine.build(str(docs), str(index))
    assert (report.files, report.added, report.bytes) == (3, 3, 6 + 9 + 6)
    assert (report.changed, report.removed, report.unchanged, report.skipped) == (0, 0, 0, 0)
    assert report.root == str(docs)
    assert report.seconds >= 0


def test_incremental_counts(docs: Path, index: Path) -> None:
    """A second build tells added, changed, removed and unchanged files apart."""
    engine.build(str(docs), str(index))
    (docs / "a.txt").write_text("alpha, longer\n")
    (docs / "deep/b.txt").unlink()
    (docs / "new.txt").write_text("delta\n")
    plan = engine.plan_build(str(docs), str(index))
    report = engine.build(str(docs), str(index))
    assert (report.added, report.changed, report.removed, report.unchanged) == (1, 1, 1, 1)
    assert plan.as_dict() == {k: v for k, v in report.as_dict().items() if k != "seconds"}
    assert engine.show(str(index), str(docs / "a.txt")).text == "alpha, longer\n"
    assert engine.query(str(index), "beta", 5) == []


def test_change_of_time_only(docs: Path, index: Path) -> None:
    """A file of the same size but another modification time is read again."""
    engine.build(str(docs), str(index))
    (docs / "a.txt").write_text("omega\n")
    os.utime(docs / "a.txt", ns=(1, 1))
    assert engine.build(str(docs), str(index)).changed == 1
    assert engine.show(str(index), str(docs / "a.txt")).text == "omega\n"


def test_unchanged_files_are_not_read(docs: Path, index: Path) -> None:
    """A file of the same size and modification time is taken to be the same."""
    engine.build(str(docs), str(index))
    before = (docs / "a.txt").stat().st_mtime_ns
    (docs / "a.txt").write_text("omega\n")
    os.utime(docs / "a.txt", ns=(before, before))
    assert engine.build(str(docs), str(index)).unchanged == 3


@pytest.mark.parametrize("nanoseconds", [-(10**18), 9 * 10**18, 15 * 10**18])
def test_extreme_times(docs: Path, index: Path, nanoseconds: int) -> None:
    """Modification times far away in the past or future do not break a build."""
    try:
        os.utime(docs / "a.txt", ns=(nanoseconds, nanoseconds))
    except (OSError, OverflowError):
        pytest.skip("the file system refuses this time")
    engine.build(str(docs), str(index))
    assert engine.build(str(docs), str(index)).unchanged == 3


def test_plan_has_no_side_effects(docs: Path, index: Path, tmp_path: Path) -> None:
    """A plan creates no file and no folder, whether or not there is an index."""
    plan = engine.plan_build(str(docs), str(index))
    assert (plan.files, plan.added, plan.bytes) == (3, 3, 21)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["docs"]
    engine.build(str(docs), str(index))
    before = index.read_bytes(), index.stat().st_mtime_ns
    assert engine.plan_build(str(docs), str(index)).unchanged == 3
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    assert [p.name for p in index.parent.iterdir()] == ["index.db"]


def test_private_modes(docs: Path, index: Path) -> None:
    """The index and the folders created for it belong to their owner alone."""
    modes: set[int] = set()

    def look(stage: str, current: int, total: int, path: str) -> None:
        modes.update(p.stat().st_mode & 0o777 for p in index.parent.iterdir())

    before = os.umask(0)
    try:
        engine.build(str(docs), str(index), look)
    finally:
        os.umask(before)
    assert modes == {0o600}
    assert index.stat().st_mode & 0o777 == 0o600
    assert index.parent.stat().st_mode & 0o777 == 0o700
    assert index.parent.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("name", "error"), [("nowhere", FileNotFoundError), ("a.txt", NotADirectoryError)]
)
def test_bad_root(docs: Path, index: Path, name: str, error: type[OSError]) -> None:
    """A root that is missing or not a folder raises the ordinary error and creates nothing."""
    for attempt in (engine.build, engine.plan_build):
        with pytest.raises(error) as caught:
            attempt(str(docs / name), str(index))
        assert caught.value.filename == str(docs / name)
    assert not index.parent.exists()


@pytest.mark.parametrize("root", ["", "a\0b", "\ud800"])
def test_impossible_root(index: Path, root: str) -> None:
    """A root that no file system could hold is a missing one."""
    with pytest.raises(FileNotFoundError):
        engine.build(root, str(index))


def test_what_is_left_out(docs: Path, index: Path) -> None:
    """Hidden names, tool folders, binary, oversized and special files stay out of the index."""
    lay_out(
        docs,
        {
            ".hidden": "no", ".git/config": "no", "__pycache__/x.txt": "no",
            "node_modules/x.txt": "no", "venv/x.txt": "no", ".venv/x.txt": "no",
            "build/x.txt": "yes", "dist/x.txt": "yes", "notes/venv": "yes",
        },
    )  # fmt: skip
    (docs / "binary").write_bytes(b"text\0text")
    (docs / "large.txt").write_bytes(b"x" * (2 * 1024 * 1024 + 1))
    (docs / "full.txt").write_bytes(b"x" * (2 * 1024 * 1024))
    os.mkfifo(docs / "pipe")
    report = engine.build(str(docs), str(index))
    assert report.skipped == 2
    assert indexed(index, docs) == [
        "a.txt", "build/x.txt", "deep/b.txt", "deep/er/c.txt", "dist/x.txt", "full.txt",
        "notes/venv",
    ]  # fmt: skip


def test_file_turning_binary(docs: Path, index: Path) -> None:
    """An indexed file that became binary is removed and counted as skipped."""
    engine.build(str(docs), str(index))
    (docs / "a.txt").write_bytes(b"\0\0")
    report = engine.build(str(docs), str(index))
    assert (report.removed, report.skipped, report.files) == (1, 1, 2)


def test_file_vanishing_during_build(docs: Path, index: Path) -> None:
    """A file that cannot be read when its turn comes is skipped, new or known."""
    engine.build(str(docs), str(index))
    (docs / "a.txt").write_text("changed now")
    (docs / "z.txt").write_text("short-lived")

    def vanish(stage: str, current: int, total: int, path: str) -> None:
        if stage == "scan" and current == total:
            (docs / "a.txt").unlink()
            (docs / "z.txt").unlink()

    report = engine.build(str(docs), str(index), vanish)
    assert (report.added, report.changed, report.removed, report.skipped) == (0, 0, 1, 2)
    assert (report.files, report.bytes) == (2, 15)
    assert indexed(index, docs) == ["deep/b.txt", "deep/er/c.txt"]


def test_file_replaced_during_build(docs: Path, index: Path, tmp_path: Path) -> None:
    """A file swapped for a link or a pipe since the scan is neither followed nor waited for."""
    (tmp_path / "secret").write_text("secret")

    def swap(stage: str, current: int, total: int, path: str) -> None:
        if stage == "scan" and current == total:
            (docs / "a.txt").unlink()
            (docs / "a.txt").symlink_to(tmp_path / "secret")
            (docs / "deep/b.txt").unlink()
            os.mkfifo(docs / "deep/b.txt")

    report = engine.build(str(docs), str(index), swap)
    assert (report.files, report.skipped) == (1, 2)
    assert engine.query(str(index), "secret", 5) == []


def test_unreadable_files(own_folder: Path) -> None:
    """Files and folders without permission are skipped, not fatal."""
    docs = lay_out(own_folder / "docs", {"a.txt": "a", "deep/b.txt": "b", "deep/er/c.txt": "c"})
    (docs / "a.txt").chmod(0)
    (docs / "deep/er").chmod(0)
    report = engine.build(str(docs), str(own_folder / "index.db"))
    (docs / "deep/er").chmod(0o700)
    assert (report.files, report.skipped) == (1, 2)


def test_symlinks_are_not_followed(docs: Path, index: Path, tmp_path: Path) -> None:
    """Links in a folder lead nowhere: not out of it, not in circles, not to a second copy."""
    lay_out(tmp_path / "outside", {"secret.txt": "secret"})
    (docs / "loop").symlink_to(docs)
    (docs / "deep/up").symlink_to("..")
    (docs / "out").symlink_to(tmp_path / "outside")
    (docs / "out.txt").symlink_to(tmp_path / "outside/secret.txt")
    (docs / "copy.txt").symlink_to(docs / "a.txt")
    (docs / "dangling").symlink_to("nowhere")
    assert engine.build(str(docs), str(index)).files == 3
    assert engine.query(str(index), "secret", 5) == []


def test_linked_root(docs: Path, index: Path, tmp_path: Path) -> None:
    """A root reached through a link is the folder it points to."""
    engine.build(str(docs), str(index))
    (tmp_path / "alias").symlink_to(docs)
    assert engine.build(str(tmp_path / "alias"), str(index)).unchanged == 3
    assert engine.status(str(index)).roots == [str(docs)]
    assert engine.show(str(index), str(tmp_path / "alias/a.txt")).path == str(docs / "a.txt")


def test_index_inside_root(docs: Path) -> None:
    """An index that lies below the root does not index itself."""
    index = docs / "index.db"
    engine.build(str(docs), str(index))
    report = engine.build(str(docs), str(index))
    assert (report.files, report.skipped, report.unchanged) == (3, 0, 3)


def test_undecodable_names(docs: Path, index: Path) -> None:
    """Names that are not UTF-8 are indexed, shown with U+FFFD and found by that form."""
    raw = os.fsencode(docs)
    os.mkdir(raw + b"/f\xfflder")
    for name in (b"/f\xfflder/caf\xe9-menu.txt", b"/f\xfflder/caf\xe8-menu.txt"):
        with open(raw + name, "wb") as file:
            file.write(b"espresso \xff\xfe")
    seen: list[str] = []
    engine.build(str(docs), str(index), lambda stage, current, total, path: seen.append(path))
    assert engine.build(str(docs), str(index)).unchanged == 5
    matches = engine.query(str(index), "espresso", 5)
    assert [match.kind for match in matches] == ["folder", "file", "file"]
    "".join([*seen, *(match.path + match.snippet for match in matches)]).encode("utf-8")
    folder = engine.show(str(index), matches[0].path)
    assert len(folder.files) == 2
    exact = engine.show(str(index), os.fsdecode(raw + b"/f\xfflder/caf\xe9-menu.txt"))
    assert exact.text == "espresso \ufffd\ufffd"
    with pytest.raises(engine.NotIndexed) as caught:
        engine.show(str(index), matches[1].path)
    assert len(caught.value.near) == 2


def test_decoding(docs: Path, index: Path) -> None:
    """Bytes that are not UTF-8 are replaced, and a byte order mark is no part of the text."""
    (docs / "a.txt").write_bytes(b"\xef\xbb\xbfna\xefve")
    engine.build(str(docs), str(index))
    assert engine.show(str(index), str(docs / "a.txt")).text == "na\ufffdve"


def test_progress(docs: Path, index: Path) -> None:
    """Progress names every file, first as it is scanned and then as it is indexed."""
    seen: list[tuple[str, int, int, str]] = []
    engine.build(str(docs), str(index), lambda *call: seen.append(call))
    paths = [str(docs / name) for name in ("a.txt", "deep/b.txt", "deep/er/c.txt")]
    assert seen == [
        (stage, number, 3, path)
        for stage in ("scan", "index")
        for number, path in enumerate(paths, 1)
    ]


def test_two_roots(docs: Path, index: Path, tmp_path: Path) -> None:
    """A second root is added, and rebuilding one root leaves the other alone."""
    other = lay_out(tmp_path / "other", {"o.txt": "omicron"})
    engine.build(str(docs), str(index))
    engine.build(str(other), str(index))
    (docs / "a.txt").unlink()
    (other / "o.txt").unlink()
    assert engine.build(str(docs), str(index)).removed == 1
    assert engine.status(str(index)).roots == [str(docs), str(other)]
    assert engine.query(str(index), "omicron", 5) != []
    assert engine.build(str(other), str(index)).removed == 1
    assert engine.status(str(index)).files == 2


def test_nested_roots(docs: Path, index: Path, tmp_path: Path) -> None:
    """Overlapping roots never index a file twice."""
    engine.build(str(docs / "deep"), str(index))
    report = engine.build(str(docs), str(index))
    assert (report.added, report.unchanged) == (1, 2)
    assert engine.status(str(index)).roots == [str(docs)]
    (docs / "a.txt").unlink()
    (docs / "deep/er/c.txt").unlink()
    report = engine.build(str(docs / "deep"), str(index))
    assert (report.files, report.removed, report.unchanged) == (1, 1, 1)
    assert engine.status(str(index)).roots == [str(docs)]
    assert indexed(index, docs) == ["a.txt", "deep/b.txt"]
    assert engine.status(str(index)).folders == 2


def test_hidden_root_inside_root(docs: Path, index: Path) -> None:
    """A hidden folder indexed by name stays when the folder around it is rebuilt."""
    hidden = lay_out(docs / ".notes", {"n.txt": "nu"})
    engine.build(str(hidden), str(index))
    engine.build(str(docs), str(index))
    assert engine.status(str(index)).roots == [str(docs), str(hidden)]
    assert engine.status(str(index)).files == 4
    assert indexed(index, docs) == ["a.txt", "deep/b.txt", "deep/er/c.txt"]


@pytest.mark.parametrize("content", [b"hello\n" * 50, b"SQLite format 3\0" + bytes(100)])
def test_foreign_file_is_not_overwritten(docs: Path, index: Path, content: bytes) -> None:
    """A build never touches a file that is not a riffle index."""
    index.parent.mkdir(parents=True)
    index.write_bytes(content)
    for attempt in (engine.build, engine.plan_build):
        with pytest.raises(engine.IndexUnreadable):
            attempt(str(docs), str(index))
    assert index.read_bytes() == content


def test_empty_root(tmp_path: Path, index: Path) -> None:
    """A folder without text files makes a valid index that holds nothing."""
    (tmp_path / "empty").mkdir()
    assert engine.build(str(tmp_path / "empty"), str(index)).files == 0
    assert engine.status(str(index)).files == 0
    assert engine.query(str(index), "anything", 5) == []
