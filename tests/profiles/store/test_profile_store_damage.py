"""A store that is not as we left it: corrupt, no file at all, or open to others."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness import REPOSITORY, environment
from murli.profiles.store import (
    Profile,
    ProfileStore,
    StoreError,
    StoreFile,
)
from store_files import GARBAGE, PRIVATE, SECRET, mode, modes, save, set_aside, write

STAMP = r"\d{8}T\d{6}Z"


@contextmanager
def umask(bits: int) -> Iterator[None]:
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


DAMAGE = {
    "empty": (b"", "not JSON"),
    "cut off": (GARBAGE, "not JSON"),
    "zeros": (bytes(300), "not JSON"),
    "latin-1": ('{"profiles": {"ü": {}}}'.encode("latin-1"), "not UTF-8"),
    "utf-16": ("{}".encode("utf-16"), "not UTF-8"),
    "a list": (b"[]", "not an object"),
    "a word": (b'"x"', "not an object"),
    "a list of profiles": (b'{"profiles": ["a"]}', "not an object"),
    "NaN": (b'{"x": NaN}', "not JSON"),
    "large": (b'{"x": "' + b"x" * (1 << 20) + b'"}', "larger than 1 MiB"),
    "deep": (b'{"x": ' + b"[" * 500 + b"]" * 500 + b"}", "nested too deeply"),
    "bottomless": (b'{"x": ' + b"[" * 200_000, "nested too deeply"),
}

# -- corrupt stores -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("how", ["read", "update"])
def test_a_corrupt_store_is_set_aside(kind: str, how: str, home: Path) -> None:
    """A file that is no store is kept under another name, told, and counts as none."""
    data, why = DAMAGE[kind]
    path = write(home / ".tool/profiles.json", data, 0o644 if how == "read" else 0o400)
    file = StoreFile("tool")
    if how == "read":
        assert file.read().profiles == {}
        assert not path.exists()
    else:
        file.update(lambda store: store.set("new", Profile()))
        assert ProfileStore.load("tool").names() == ["new"]
    (kept,) = set_aside(home / ".tool")
    assert re.fullmatch(rf"profiles\.json\.corrupt-{STAMP}", kept.name)
    assert kept.read_bytes() == data
    assert mode(kept) == 0o600
    ((code, sentence),) = file.warnings
    assert code == "PROFILES_CORRUPT"
    for part in ("profiles.json ", why, kept.name, str(home / ".tool")):
        assert part in sentence
    assert SECRET not in sentence
    save("later")


def test_corrupt_stores_are_never_kept_over_each_other(home: Path) -> None:
    """However many are set aside in a second, each has a name of its own."""
    wanted = []
    for number in range(7):
        wanted.append(GARBAGE + b"%d" % number)
        write(home / ".tool/profiles.json", wanted[-1])
        StoreFile("tool").read()
    kept = set_aside(home / ".tool")
    assert sorted(path.read_bytes() for path in kept) == wanted
    assert any(re.search(rf"{STAMP}-\d$", path.name) for path in kept)


def test_a_file_just_within_the_limits_is_a_store(home: Path) -> None:
    """What is as large or as deep as we would write it ourselves is not taken for damage."""
    path = write(home / ".tool/profiles.json", json.dumps({"x": "x" * ((1 << 20) - 9)}))
    assert path.stat().st_size == 1 << 20
    assert StoreFile("tool").read().profiles == {}
    assert path.exists()
    path.write_text('{"x": ' + "[" * 99 + "]" * 99 + "}")
    save("a")
    assert set_aside(home / ".tool") == []
    assert ProfileStore.load("tool").names() == ["a"]
    path.write_text('{"x": ' + "[" * 101 + "]" * 101 + "}")
    StoreFile("tool").read()
    assert len(set_aside(home / ".tool")) == 1


MEET = """
import sys
sys.path.insert(0, sys.argv[1])
from murli.profiles.store import Profile, StoreFile
import fcntl, json, time
file = StoreFile("tool")
print("ready", flush=True)
sys.stdin.readline()
if sys.argv[2] == "read":
    file.read()
else:
    file.update(lambda store: store.set(sys.argv[2], Profile()))
print(json.dumps(file.warnings))
"""


@pytest.mark.parametrize("what", ["read", "update"])
def test_processes_that_meet_the_same_corrupt_store_set_it_aside_once(
    what: str, home: Path
) -> None:
    """Of many processes that find a store corrupt one keeps it, and all go on."""
    argv = [sys.executable, "-S", "-E", "-c", MEET, str(REPOSITORY / "src")]
    for round_ in range(3):
        write(home / ".tool/profiles.json", GARBAGE)
        processes = [
            subprocess.Popen(
                [*argv, "read" if what == "read" or number % 2 else f"p{number}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment(HOME=str(home), XDG_CONFIG_HOME=None),
            )
            for number in range(8)
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        answers = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
        assert [process.returncode for process in processes] == [0] * 8
        warnings = [each for answer in answers for each in answer]
        assert [code for code, _ in warnings] == ["PROFILES_CORRUPT"], warnings
        assert [path.read_bytes() for path in set_aside(home / ".tool")] == [GARBAGE] * (round_ + 1)
        names = [] if what == "read" else ["p0", "p2", "p4", "p6"]
        assert ProfileStore.load("tool").names() == names


# -- what is not a file ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["fifo", "directory", "device", "loop"])
@pytest.mark.parametrize("chosen", [False, True])
def test_something_that_is_not_a_file_is_not_read(
    kind: str, chosen: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe, a directory, a device or a circle of links is refused at once and left alone."""
    path = home / ".tool/profiles.json"
    path.parent.mkdir()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else path)
    if chosen:
        monkeypatch.setenv("MURLI_PROFILE_PATH", str(path))
    before = os.lstat(path)
    acts: list[tuple[str, Callable[[], object]]] = [
        ("load", lambda: StoreFile("tool").read()),
        ("save", lambda: save("new")),
    ]
    for doing, act in acts:
        with pytest.raises(StoreError, match=f"failed to {doing} profile store") as caught:
            act()
        assert caught.value.reason == ("unreadable" if doing == "load" else "unwritable")
        assert str(path) in caught.value.hint
    after = os.lstat(path)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert os.listdir(path.parent) == ["profiles.json"]
    assert not os.path.exists("/dev/zero.lock")


@pytest.mark.parametrize("where", ["beside", "elsewhere", "dangling"])
def test_a_link_stays_and_what_it_leads_to_is_replaced(
    where: str, home: Path, tmp_path: Path
) -> None:
    """Who keeps the store in another folder and links to it still does after a save."""
    folder = home / ".tool"
    folder.mkdir()
    target = (folder if where == "beside" else tmp_path / "dotfiles/deep") / "kept.json"
    (folder / "profiles.json").symlink_to(target)
    if where != "dangling":
        write(target, '{"profiles": {"old": {"flags": {}}}}', 0o644)
        target.parent.chmod(0o755)
    save("new")
    assert os.readlink(folder / "profiles.json") == str(target)
    assert not target.is_symlink()
    assert set(json.loads(target.read_text())["profiles"]) == (
        {"new"} if where == "dangling" else {"old", "new"}
    )
    assert mode(target) == 0o600
    assert mode(folder) == 0o700
    if where == "elsewhere":
        assert mode(target.parent) == 0o755, "that folder is not ours"
    if where == "dangling":
        assert mode(target.parent) == mode(target.parent.parent) == 0o700, "we made those"
    target.write_bytes(GARBAGE)
    StoreFile("tool").read()
    assert (folder / "profiles.json").is_symlink()
    assert [path.read_bytes() for path in set_aside(target.parent)] == [GARBAGE]
    save("again")
    assert ProfileStore.load("tool").names() == ["again"]


@pytest.mark.parametrize("left", ["file", "closed file", "link", "fifo"])
def test_what_a_killed_process_left_is_no_obstacle(left: str, home: Path, tmp_path: Path) -> None:
    """A new file that was never finished, or anything in its place, does not disturb a save."""
    save("old")
    new = home / ".tool/profiles.json.new"
    mine = write(tmp_path / "mine", "mine")
    if left == "link":
        new.symlink_to(mine)
    elif left == "fifo":
        os.mkfifo(new)
    else:
        write(new, b"x" * 10_000, 0o000 if left == "closed file" else 0o600)
    save("new")
    assert ProfileStore.load("tool").names() == ["new", "old"]
    assert not os.path.lexists(new)
    assert mine.read_text() == "mine"


def test_a_link_in_the_place_of_the_lock_is_not_followed(home: Path, tmp_path: Path) -> None:
    """A link where the lock should be is refused, and the file it leads to is left alone."""
    mine = write(tmp_path / "mine", "mine", 0o644)
    (home / ".tool").mkdir()
    (home / ".tool/profiles.json.lock").symlink_to(mine)
    with pytest.raises(StoreError, match="failed to save profile store"):
        save("new")
    assert (mine.read_text(), mode(mine)) == ("mine", 0o644)


# -- permissions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [0o000, 0o022, 0o077, 0o277, 0o777])
def test_everything_is_private_whatever_the_umask(bits: int, home: Path) -> None:
    """The folder is 0700 and every file in it 0600 after every operation, under any umask."""
    with umask(bits):
        ProfileStore("", {"a": Profile()}).save("tool")
        assert modes(home / ".tool") == PRIVATE
        for act in (lambda: save("b"), lambda: StoreFile("tool").read()):
            act()
            assert modes(home / ".tool") == PRIVATE
        write(home / ".tool/profiles.json", GARBAGE)
        StoreFile("tool").read()
        save("c")
        (kept,) = set_aside(home / ".tool")
        assert modes(home / ".tool") == {**PRIVATE, kept.name: 0o600}


@pytest.mark.parametrize(
    ("how", "found", "left"),
    [
        ("read", (0o755, 0o644), (0o700, 0o600)),
        ("update", (0o755, 0o644), (0o700, 0o600)),
        ("read", (0o2777, 0o666), (0o2700, 0o600)),
        ("update", (0o777, 0o666), (0o700, 0o600)),
        ("update", (0o711, 0o700), (0o700, 0o600)),
        ("read", (0o555, 0o604), (0o500, 0o600)),
        ("read", (0o500, 0o400), (0o500, 0o400)),
    ],
)
def test_what_others_may_do_is_taken_away(
    how: str, found: tuple[int, int], left: tuple[int, int], home: Path
) -> None:
    """Modes that are too lax are repaired in passing; stricter ones are somebody's wish."""
    path = write(home / ".tool/profiles.json", '{"profiles": {"a": {"flags": {}}}}', found[1])
    path.parent.chmod(found[0])
    if how == "read":
        assert StoreFile("tool").read().names() == ["a"]
    else:
        assert StoreFile("tool").update(lambda store: store.names()) == ["a"]
    assert (mode(path.parent), mode(path)) == left


@pytest.mark.parametrize("by", ["environment", "author"])
def test_a_folder_that_was_chosen_keeps_its_mode(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a chosen path is private when we make it, and left alone when we do not."""
    path = tmp_path / "some/where/profiles.json"
    if by == "environment":
        monkeypatch.setenv("MURLI_PROFILE_PATH", str(path))
    file = StoreFile("tool", "" if by == "environment" else str(path))
    with umask(0):
        file.update(lambda store: store.set("a", Profile()))
    assert mode(path.parent) == mode(path.parent.parent) == 0o700
    path.parent.chmod(0o755)
    path.chmod(0o644)
    assert file.read().names() == ["a"]
    assert (mode(path.parent), mode(path)) == (0o755, 0o600)
    path.chmod(0o644)
    file.update(lambda store: store.set("b", Profile()))
    assert modes(path.parent) == {
        "where": 0o755,
        "profiles.json": 0o600,
        "profiles.json.lock": 0o600,
    }
