"""Tracebacks are kept in private files: whole, bounded, few, and never at the answer's expense."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import environment
from murli.failures.tracebacks import LARGEST, MOST_FILES, keep


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, and a directory for temporary files beside it."""
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    for variable, name in (("HOME", "home"), ("TMPDIR", "tmp")):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / name))
    return tmp_path / "home"


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where files go when there is no home for them."""
    return tmp_path / "tmp" / f"murli-{os.geteuid()}"


def failed(words: str = "boom") -> BaseException:
    """Give an exception that was raised, and has a cause."""
    try:
        try:
            raise LookupError("the cause")
        except LookupError as error:
            raise ValueError(words) from error
    except ValueError as error:
        return error


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_whole_story_is_kept(home: Path) -> None:
    """The file holds the traceback with the causes, and its name the time and the process."""
    path = Path(keep(failed(), "riffle"))
    assert path.parent == home / ".local" / "state" / "murli" / "riffle"
    assert re.fullmatch(rf"\d{{8}}T\d{{6}}\.\d{{6}}Z-{os.getpid()}\.txt", path.name)
    text = path.read_text()
    assert "LookupError: the cause" in text
    assert 'raise LookupError("the cause")' in text
    assert text.endswith("ValueError: boom\n")


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_only_its_user_may_read_it(home: Path, umask: int) -> None:
    """Directories are 0700 and files 0600, whatever the umask is."""
    (home / ".local" / "state").mkdir(parents=True)
    before = os.umask(umask)
    try:
        path = Path(keep(failed(), "riffle"))
    finally:
        os.umask(before)
    assert [mode(path), mode(path.parent), mode(path.parent.parent)] == [0o600, 0o700, 0o700]


def test_a_lax_directory_is_made_private(home: Path) -> None:
    """A directory that others may read is closed to them before anything is in it."""
    folder = home / ".local" / "state" / "murli" / "riffle"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    keep(failed(), "riffle")
    assert mode(folder) == 0o700


def test_the_state_directory_may_be_elsewhere(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XDG_STATE_HOME says where, if it is absolute."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert keep(failed(), "riffle").startswith(f"{tmp_path}/state/murli/riffle/")
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    assert keep(failed(), "riffle").startswith(f"{home}/.local/state/murli/riffle/")


def _unset(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")


def _missing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.rmdir()


def _blocked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".local").write_text("a file")


def _linked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".local" / "state").mkdir(parents=True)
    (home / "elsewhere").mkdir()
    (home / ".local" / "state" / "murli").symlink_to(home / "elsewhere")


def _linked_tool(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".local" / "state" / "murli").mkdir(parents=True)
    (home / ".local" / "state" / "murli" / "riffle").symlink_to(home)


@pytest.mark.parametrize("spoil", [_unset, _missing, _blocked, _linked, _linked_tool])
def test_without_a_usable_home_there_is_a_private_place(
    home: Path,
    temporary: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path, pytest.MonkeyPatch], None],
) -> None:
    """A home that is missing, cannot be written or leads elsewhere is done without."""
    spoil(home, monkeypatch)
    path = Path(keep(failed(), "riffle"))
    assert path.parent == temporary / "riffle"
    assert [mode(path), mode(path.parent), mode(temporary)] == [0o600, 0o700, 0o700]
    assert not list(home.glob("elsewhere/*"))
    assert home.exists() is (spoil is not _missing)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_what_is_somebody_elses_is_left_alone(home: Path, temporary: Path) -> None:
    """Neither another user's home nor a directory another user prepared is written to."""
    os.chown(home, 12345, 12345)
    assert Path(keep(failed(), "riffle")).parent == temporary / "riffle"
    assert list(home.iterdir()) == []
    os.chown(temporary, 12345, 12345)
    assert keep(failed(), "riffle") == ""


def test_nowhere_to_write(home: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written there is no path, and no exception."""
    _blocked(home, monkeypatch)
    temporary.symlink_to(home)
    assert keep(failed(), "riffle") == ""
    assert list(home.iterdir()) == [home / ".local"]


def test_a_full_disk_leaves_nothing_behind(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that could not be written to its end is removed."""

    def full(*args: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    assert keep(failed(), "riffle") == ""
    assert [path for path in home.parent.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("tool", "folder"),
    [
        ("../../etc", "_.._etc"),
        ("..", "tool"),
        ("", "tool"),
        ("/abs", "_abs"),
        (".hidden", "hidden"),
        ("a/b\0c\n", "a_b_c_"),
        ("my-tool_2.py", "my-tool_2.py"),
        ("werkzeugß", "werkzeug_"),
        ("x" * 300, "x" * 64),
    ],
)
def test_a_name_leads_nowhere_else(home: Path, tool: str, folder: str) -> None:
    """The name of a tool is one directory, whatever is in it."""
    assert Path(keep(failed(), tool)).parent == home / ".local" / "state" / "murli" / folder


def test_the_oldest_go(home: Path) -> None:
    """Each tool keeps its twenty newest; other files and other tools are left alone."""
    other = Path(keep(failed(), "other"))
    paths = [Path(keep(failed(str(number)), "riffle")) for number in range(MOST_FILES + 5)]
    notes = paths[-1].parent / "notes.md"
    notes.write_text("mine")
    later = paths[-1].parent / "29990101T000000.000000Z-1.txt"
    later.write_text("from a clock that was wrong")
    paths.append(Path(keep(failed("last"), "riffle")))
    kept = set(paths[-1].parent.iterdir())
    assert kept == {notes, later, *paths[-MOST_FILES + 1 :]}
    assert other.exists()


def test_a_file_has_a_largest_size() -> None:
    """Of a long traceback the end is kept, in whole lines; of one long line, its end."""
    path = Path(keep(failed("\n".join(f"line {number} é" for number in range(99_999))), "riffle"))
    data = path.read_bytes()
    assert LARGEST - 20 < len(data) <= LARGEST
    assert re.match(r"line \d+ é\n", data.decode())
    assert data.endswith("line 99998 é\n".encode())
    path = Path(keep(failed("x" * (LARGEST + 1)), "riffle"))
    assert path.read_bytes() == b"x" * (LARGEST - 1) + b"\n"


def test_secrets_are_taken_out_first() -> None:
    """What is written went through scrub, as a whole; if that fails nothing is written."""
    path = keep(failed("token hunter2"), "riffle", lambda text: text.replace("hunter2", "[X]"))
    assert "token [X]" in Path(path).read_text()

    def broken(text: str) -> str:
        raise RuntimeError("no")

    assert keep(failed(), "riffle", broken) == ""


def _nasty() -> Iterator[BaseException]:
    class Mute(Exception):
        def __str__(self) -> str:
            raise SystemExit(3)

    yield Mute()
    yield failed("\udcff\0\x1b[31m")
    yield Exception()  # never raised: no traceback at all
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    yield first
    long: BaseException = ValueError("0")
    for number in range(3000):
        following = ValueError(str(number))
        following.__cause__ = long
        long = following
    yield long


def test_any_exception_can_be_kept() -> None:
    """Exceptions that cannot be shown, have no end or no traceback leave a file nevertheless."""
    for error in _nasty():
        path = Path(keep(error, "riffle"))
        assert type(error).__name__ in path.read_text(encoding="utf-8")


def test_many_processes_at_once(home: Path) -> None:
    """Tools that fail side by side each get their file, and the number stays bounded."""
    line = (
        "from murli.failures.tracebacks import keep\n"
        "for n in range(15):\n  assert keep(ValueError(n), 'riffle')\n"
    )
    env = environment(HOME=str(home), XDG_STATE_HOME=None)
    crowd = [subprocess.Popen([sys.executable, "-c", line], env=env) for _ in range(4)]
    assert [process.wait(30) for process in crowd] == [0] * 4
    keep(failed(), "riffle")
    folder = home / ".local" / "state" / "murli" / "riffle"
    assert len(list(folder.iterdir())) == MOST_FILES
