"""A store is never half written and never lost: killed processes, full disks, many at once."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness import REPOSITORY, TESTS, Run, environment, run
from murli import files as module
from murli.profiles.store import (
    Profile,
    ProfileStore,
    StoreError,
    StoreFile,
)
from store_files import GARBAGE, PRIVATE, SECRET, modes, save, write

FAULTS = [sys.executable, str(TESTS / "profile_faults.py")]


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that a process without root's rights can reach: pytest's own are root's alone."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o700)
    for path, inside, _ in os.walk(folder):
        for each in inside:
            os.chmod(os.path.join(path, each), 0o700)
    shutil.rmtree(folder)


def interrupted(what: str, how: str, bits: str, folder: Path) -> list[str]:
    done = run(FAULTS, what, how, bits, str(folder))
    assert done.code == 0, done.err
    assert done.document["lost"] == []
    calls: list[str] = done.document["calls"]
    return calls


# -- processes that are killed, and calls that fail -----------------------------------------------


@pytest.mark.parametrize("bits", ["000", "022", "777"])
def test_a_save_that_is_killed_leaves_the_old_store_or_the_new_one(bits: str, public: Path) -> None:
    """Killed before, in or after any call that touches a file, a save has happened or has not."""
    calls = interrupted("save", "kill", bits, public)
    assert calls.count("write") == 1
    assert calls.index("write") < calls.index("fsync") < calls.index("replace")
    assert "fsync" in calls[calls.index("replace") :], "the folder is synchronised too"


@pytest.mark.parametrize("bits", ["000", "022", "777"])
def test_the_first_save_may_be_killed_as_well(bits: str, public: Path) -> None:
    """Where there was no folder, a killed save leaves nothing that stops or exposes the next."""
    calls = interrupted("first", "kill", bits, public)
    assert calls[0] == "mkdir"
    assert "replace" in calls


@pytest.mark.parametrize("what", ["aside", "over"])
@pytest.mark.parametrize("bits", ["000", "777"])
def test_a_corrupt_store_is_never_lost_by_being_killed(what: str, bits: str, public: Path) -> None:
    """Killed while it sets a corrupt store aside, a process leaves exactly one copy of it."""
    assert "rename" in interrupted(what, "kill", bits, public)


@pytest.mark.parametrize("what", ["save", "first", "aside", "over"])
@pytest.mark.parametrize("how", ["ENOSPC", "EIO", "EPERM", "EROFS"])
def test_a_call_that_fails_loses_nothing(what: str, how: str, public: Path) -> None:
    """Whichever call fails, the store stays whole, no scraps are left, and our error tells."""
    interrupted(what, how, "022", public)


def test_a_write_may_be_short(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that takes seven bytes at a time gets all of them."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:7]))
    save("new", value="ü" * 100)
    assert ProfileStore.load("tool").profiles == {"new": Profile({"value": "ü" * 100})}


def test_a_folder_that_cannot_be_synchronised_is_not_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some file systems refuse to synchronise a directory; others fail, which is told."""
    real = os.fsync
    number = errno.EINVAL

    def refuse(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
    save("new")
    assert ProfileStore.load("tool").names() == ["new"]
    number = errno.EIO
    with pytest.raises(StoreError, match="failed to save profile store: Input/output error"):
        save("newer")


@pytest.mark.parametrize(
    ("number", "advice", "retryable"),
    [
        (errno.ENOSPC, "Free some space", True),
        (errno.EDQUOT, "Free some space", True),
        (errno.EROFS, "writable, or set MURLI_PROFILE_PATH", False),
        (errno.EACCES, "writable, or set MURLI_PROFILE_PATH", False),
        (errno.EPERM, "writable, or set MURLI_PROFILE_PATH", False),
        (errno.EIO, "set MURLI_PROFILE_PATH", False),
    ],
)
def test_a_failed_save_says_what_to_do(
    number: int, advice: str, retryable: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names what happened, where, what to do about it, and whether to try again."""

    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(StoreError) as caught:
        save("new", token=SECRET)
    assert str(caught.value) == f"failed to save profile store: {os.strerror(number)}."
    assert advice in caught.value.hint
    assert str(home / ".tool") in caught.value.hint
    assert (caught.value.retryable, caught.value.reason) == (retryable, "unwritable")
    assert SECRET not in f"{caught.value!r} {caught.value.hint}"


IN_PRIVATE = ["unshare", "-rm", "sh", "-ec"]
LITTLE = 'mount -t tmpfs -o size=64k,mode=0755 none "$0"; exec "$@"'
FROZEN = 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"'


def can_mount(how: str, folder: Path) -> bool:
    """Tell whether this system lets us have mounts of our own."""
    if shutil.which("unshare") is None:
        return False
    return run([*IN_PRIVATE, how, str(folder), "true"]).code == 0


def scene(source: str, folder: Path, before: list[str], *args: str) -> Any:
    """Run a program that reports in JSON, with *folder* as its home."""
    done: Run = run(
        [*before, sys.executable, "-c", source, *args],
        env=environment(HOME=str(folder), PYTHONPATH=str(TESTS), XDG_CONFIG_HOME=None),
    )
    assert done.code == 0, done.err
    return done.document


FULL = """
import json, os, resource, sys
from murli.profiles.store import Profile, ProfileStore, StoreError, StoreFile

def save(name, size, tool="tool"):
    try:
        StoreFile(tool).update(lambda store: store.set(name, Profile({"value": "x" * size})))
    except StoreError as error:
        return [str(error), error.hint, error.retryable]

home = os.environ["HOME"]
told = [save("old", 10)]
before = open(home + "/.tool/profiles.json").read()
if sys.argv[1] == "mounted":
    filler = os.open(home + "/filler", os.O_CREAT | os.O_WRONLY)
    for size in (4096, 1):
        try:
            while True:
                os.write(filler, b"x" * size)
        except OSError:
            pass
else:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
told += [save("new", 20000), save("first", 20000, "other")]
same = open(home + "/.tool/profiles.json").read() == before
left = [sorted(os.listdir(f"{home}/.{tool}")) for tool in ("tool", "other")]
if sys.argv[1] == "mounted":
    os.close(filler)
    os.unlink(home + "/filler")
else:
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
told += [save("new", 20000)]
names = ProfileStore.load("tool").names()
print(json.dumps({"told": told, "same": same, "left": left, "names": names}))
"""

# -- disks that are full, and homes that cannot be written ----------------------------------------


def test_a_full_disk_costs_nothing_but_the_save(home: Path) -> None:
    """With no room for the new store the old one stays, and there is a save when there is room."""
    # The first way works for everybody.
    ways: list[tuple[str, list[str], str, bool]] = [("limited", [], "File too large", False)]
    if can_mount(LITTLE, home):
        ways.append(("mounted", [*IN_PRIVATE, LITTLE, str(home)], "No space left on device", True))
    for way, before, words, retryable in ways:
        shutil.rmtree(home)
        home.mkdir()
        found = scene(FULL, home, before, way)
        first, *failures, last = found["told"]
        assert first is last is None
        for message, hint, again in failures:
            assert message == f"failed to save profile store: {words}."
            assert again is retryable
            assert ("Free some space" in hint) is retryable
        assert found["same"]
        assert found["left"] == [["profiles.json", "profiles.json.lock"], ["profiles.json.lock"]]
        assert found["names"] == ["new", "old"]


READ_ONLY = """
import json, os, pathlib, sys
import fcntl, time
from murli.profiles.store import Profile, StoreError, StoreFile
from profile_faults import become_nobody

home = pathlib.Path(os.environ["HOME"])
if sys.argv[1] == "modes":
    become_nobody(home)
found = {}
for tool in ("tool", "none", "bad"):
    file = StoreFile(tool)
    names = file.read().names()
    try:
        file.update(lambda store: store.set("new", Profile()))
        told = None
    except StoreError as error:
        told = [str(error), error.hint, error.retryable, error.reason]
    found[tool] = [names, file.warnings, told]
print(json.dumps(found))
"""


def test_a_home_that_cannot_be_written_can_still_be_read(public: Path) -> None:
    """In a home that is read-only profiles apply; saving one is refused, and nothing is moved."""
    ways = ["mounted"] if can_mount(FROZEN, public) else []
    if "mounted" not in ways or os.geteuid() != 0 or _can_become_nobody():
        ways.append("modes")
    for way in ways:
        home = public / way
        write(home / ".tool/profiles.json", '{"profiles": {"old": {"flags": {}}}}', 0o644)
        write(home / ".bad/profiles.json", GARBAGE)
        for tool in ("tool", "bad"):
            write(home / f".{tool}/profiles.json.lock", "")
            (home / f".{tool}").chmod(0o555)
        home.chmod(0o555)
        before = [*IN_PRIVATE, FROZEN, str(home)] if way == "mounted" else []
        found = scene(READ_ONLY, home, before, way)
        words = "Read-only file system" if way == "mounted" else "Permission denied"
        names, warnings, told = found["tool"]
        assert (names, warnings) == (["old"], [])
        assert told[0] == f"failed to save profile store: {words}."
        assert told[1] == (
            f"Make {home / '.tool'} writable, or set MURLI_PROFILE_PATH to a file elsewhere."
        )
        assert told[2:] == [False, "unwritable"]
        names, warnings, told = found["none"]
        assert (names, warnings) == ([], [])
        assert told[0] == f"failed to save profile store: {words}."
        assert told[1].startswith(f"Make {home} writable"), "that is what would have to be"
        names, ((code, sentence),), told = found["bad"]
        assert names == []
        assert code == "PROFILES_CORRUPT"
        assert f"{home / '.bad/profiles.json'} is not JSON and is ignored" in sentence
        assert "setting it aside failed" in sentence
        assert words in told[0]
        assert told[3] == "unwritable"
        assert (home / ".bad/profiles.json").read_bytes() == GARBAGE
        for tool in (".tool", ".bad"):
            assert sorted(os.listdir(home / tool)) == ["profiles.json", "profiles.json.lock"]
        assert not (home / ".none").exists()


UNLISTED = """
import json, os, pathlib
import fcntl, time
from murli.profiles.store import Profile, ProfileStore
from profile_faults import become_nobody

home = pathlib.Path(os.environ["HOME"])
become_nobody(home)
ProfileStore("", {"a": Profile()}).save("tool")
(home / ".tool").chmod(0o300)
ProfileStore("", {"b": Profile()}).save("tool")
print(json.dumps(ProfileStore.load("tool").names()))
"""


def test_folders_need_not_be_readable(public: Path) -> None:
    """Where one may write but not list, a store can be saved."""
    public.chmod(0o311)
    assert scene(UNLISTED, public, []) == ["b"]


def _can_become_nobody() -> bool:
    """Tell whether root here may be somebody else: in some containers there is nobody else."""
    return run([sys.executable, "-c", "import os; os.setgroups([]); os.setuid(65534)"]).code == 0


SAVE_ONE = """
import sys
sys.path.insert(0, sys.argv[1])
from murli.profiles.store import Profile, StoreFile
StoreFile("tool").update(lambda store: store.set(sys.argv[2], Profile({"name": sys.argv[2]})))
"""

# -- many at once ---------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_processes_that_save_at_once_lose_nothing(home: Path, count: int) -> None:
    """Every one of the profiles that are saved at the same time is there in the end."""
    argv = [sys.executable, "-S", "-E", "-c", SAVE_ONE, str(REPOSITORY / "src")]
    names = [f"profile-{number:03}" for number in range(count)]
    env = environment(HOME=str(home), XDG_CONFIG_HOME=None)
    done = threading.Event()
    seen = [0]

    def watch() -> None:
        file = StoreFile("tool")
        while not done.is_set():
            seen.append(len(file.read().names()))
            assert not file.warnings
            time.sleep(0.002)

    with ThreadPoolExecutor(41) as pool:
        reader = pool.submit(watch)
        try:
            runs = list(pool.map(lambda name: run([*argv, name], env=env), names))
        finally:
            done.set()
        reader.result()
    assert [(each.code, each.err) for each in runs] == [(0, "")] * count
    found = ProfileStore.load("tool")
    assert found.profiles == {name: Profile({"name": name}) for name in names}
    assert seen == sorted(seen), "no reader ever sees a profile vanish"
    assert len(set(seen)) > count / 10, "the reader was there while it happened"
    assert modes(home / ".tool") == PRIVATE


def test_threads_of_one_process_keep_out_of_each_others_way() -> None:
    """The lock is between everybody, threads of the same process included."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: save(f"p{number}"), range(40)))
    assert len(ProfileStore.load("tool").names()) == 40


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Keep a store locked, as another process would."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def test_a_store_that_stays_locked_is_busy(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save waits for its turn, but not for ever; reading never waits."""
    assert module.LOCK_SECONDS == 30
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.3)
    save("old")
    with held(home / ".tool/profiles.json.lock"):
        started = time.monotonic()
        with pytest.raises(StoreError, match="failed to save profile store") as caught:
            save("new")
        assert 0.3 <= time.monotonic() - started < 5
        assert (caught.value.reason, caught.value.retryable) == ("busy", True)
        assert caught.value.hint
        assert ProfileStore.load("tool").names() == ["old"]
        write(home / ".tool/profiles.json", GARBAGE)
        file = StoreFile("tool")
        assert file.read().names() == []
        assert "setting it aside failed" in file.warnings[0][1]
        assert (home / ".tool/profiles.json").read_bytes() == GARBAGE
    save("new")


def test_a_save_gets_its_turn_when_the_lock_is_free(home: Path) -> None:
    """Who waits goes on as soon as the other one is done, or dead."""
    program = (
        "import fcntl, sys; lock = open(sys.argv[1], 'w'); fcntl.flock(lock, fcntl.LOCK_EX);"
        "print('held', flush=True); sys.stdin.read()"
    )
    save("old")
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(home / ".tool/profiles.json.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    threading.Timer(0.3, holder.kill).start()
    started = time.monotonic()
    save("new")
    assert 0.2 < time.monotonic() - started < 10
    holder.communicate()


def test_a_child_does_not_inherit_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is started during an update and stays does not keep the store locked."""
    monkeypatch.setattr(module, "LOCK_SECONDS", 2.0)

    def start(store: ProfileStore) -> subprocess.Popen[bytes]:
        store.set("old", Profile())
        return subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False
        )

    child = StoreFile("tool").update(start)
    save("new")
    assert child.poll() is None
    child.communicate(b"\n")
    assert ProfileStore.load("tool").names() == ["new", "old"]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told(
    number: int, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be locked nothing is saved, and the error says what is the matter."""

    def refuse(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match="its file system cannot lock files") as caught:
        save("new")
    assert (caught.value.reason, caught.value.retryable) == ("unwritable", False)
    assert "MURLI_PROFILE_PATH" in caught.value.hint
    assert not (home / ".tool/profiles.json").exists()


def test_no_descriptor_is_left_open(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens, every descriptor is closed again."""
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.0)
    before = len(os.listdir("/dev/fd"))

    def fail(_: ProfileStore) -> None:
        raise KeyboardInterrupt

    acts: list[Callable[[], object]] = [
        lambda: save("a"),
        lambda: StoreFile("tool").read(),
        lambda: StoreFile("tool").update(fail),
        lambda: save("b", value="x" * (1 << 20)),
        lambda: write(home / ".tool/profiles.json", GARBAGE) and StoreFile("tool").read(),
    ]
    for act in acts:
        try:
            act()
        except (StoreError, KeyboardInterrupt):
            pass
    with held(home / ".tool/profiles.json.lock"), pytest.raises(StoreError):
        save("c")
    os.mkfifo(home / ".tool/profiles.json")
    with pytest.raises(StoreError):
        StoreFile("tool").read()
    assert len(os.listdir("/dev/fd")) == before
