"""Files are whole at every moment, and what a call needs for itself goes with it."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import environment, run, script
from murli import files
from murli.failures.exceptions import as_agent_error
from starting import Starter

pytestmark = pytest.mark.warm


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask() -> Iterator[None]:
    """The umask most people have."""
    before = os.umask(0o022)
    yield
    os.umask(before)


# -- write_file --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "written"),
    [
        ("é\nb\r\n", b"\xc3\xa9\nb\r\n"),
        (b"\x00\xff\n", b"\x00\xff\n"),
        ("", b""),
        ("x" * 3_000_000, b"x" * 3_000_000),
    ],
)
def test_data_is_written_as_it_is(tmp_path: Path, data: Any, written: bytes) -> None:
    """Text is UTF-8 with its own line ends, bytes are bytes, and nothing else is left there."""
    path = tmp_path / "file"
    assert murli.write_file(path, data) == path
    assert path.read_bytes() == written
    assert os.listdir(tmp_path) == ["file"]


def test_the_path_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is given back says where the file is, wherever the caller stands."""
    monkeypatch.chdir(tmp_path)
    assert murli.write_file("file", "x") == tmp_path / "file"


def test_the_mode_is_kept(tmp_path: Path, umask: None) -> None:
    """A new file has the mode any other would have; an old one keeps its own, unless told."""
    path = tmp_path / "file"
    murli.write_file(path, "1")
    assert mode(path) == 0o644
    path.chmod(0o755)
    murli.write_file(path, "2")
    assert mode(path) == 0o755
    murli.write_file(path, "3", mode=0o666)
    assert mode(path) == 0o666
    murli.write_file(tmp_path / "secret", "4", mode=0o600)
    assert mode(tmp_path / "secret") == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes files of others")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    """A file that root rewrites is still its owner's."""
    path = tmp_path / "file"
    path.write_text("1")
    os.chown(path, 65534, 65534)
    murli.write_file(path, "2")
    assert (path.stat().st_uid, path.read_text()) == (65534, "2")


def test_a_link_stays_one(tmp_path: Path) -> None:
    """What a link leads to is replaced, also when it is not there yet."""
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to("folder/file")
    for text in ("1", "2"):
        murli.write_file(link, text)
        assert (tmp_path / "folder" / "file").read_text() == text
    assert link.is_symlink()


def test_a_reader_never_sees_a_part(tmp_path: Path) -> None:
    """Whoever reads while the file is written finds the old text or the new one, whole."""
    path = tmp_path / "file"
    texts = ["a" * 500_000, "b" * 400_000]
    murli.write_file(path, texts[0])
    seen = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(30):
        murli.write_file(path, texts[turn % 2])
    done.set()
    reader.join()
    assert seen <= set(texts)


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_failure_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """A full disk leaves the old file and nothing beside it; the error names the file itself."""
    path = tmp_path / "file"
    path.write_text("old")

    def fail(*args: Any) -> Any:
        raise OSError(28, "No space left on device", *args[:0])

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail)
        with pytest.raises(OSError, match="No space") as caught:
            murli.write_file(path, "new")
    assert caught.value.filename == str(path)
    assert as_agent_error(caught.value).error_type == "disk_full"
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["file"])


def test_what_cannot_be_written_is_told_as_open_would(tmp_path: Path) -> None:
    """A missing folder, a folder itself and a file for a folder are the errors one expects."""
    (tmp_path / "file").touch()
    for path, kind in (
        (tmp_path / "gone" / "file", FileNotFoundError),
        (tmp_path, IsADirectoryError),
        (tmp_path / "file" / "x", NotADirectoryError),
    ):
        with pytest.raises(kind) as caught:
            murli.write_file(path, "x")
        assert caught.value.filename == str(path)
    assert os.listdir(tmp_path) == ["file"]


def test_a_device_is_written_to(tmp_path: Path) -> None:
    """What is not a file is not replaced by one."""
    murli.write_file("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE, text=True)
    murli.write_file(tmp_path / "pipe", "through")
    assert reader.communicate(timeout=10)[0] == "through"


def test_stdout_by_its_name(tmp_path: Path) -> None:
    """A tool told to write to /dev/stdout does, into a pipe, a file, or its own answer."""
    argv = script(
        tmp_path, "import murli\nprint('a', flush=True)\nmurli.write_file('/dev/stdout', 'b')\n"
    )
    assert run(argv).out == "a\nb"
    with open(tmp_path / "out", "w") as file:
        subprocess.run(argv, stdout=file, check=True, timeout=10)
    assert (tmp_path / "out").read_text() == "a\nb"
    source = (
        "import argparse, murli\np = argparse.ArgumentParser()\nmurli.enable(p)\np.parse_args()\n"
    )
    argv = script(tmp_path, f"{source}murli.write_file('/dev/stdout', 'b')\n")
    assert run(argv).document["result"] == "b"


# -- scratch_dir -------------------------------------------------------------------------------

TOOL = """
import argparse, os, sys, time
import murli
parser = argparse.ArgumentParser(prog="some tool")
parser.add_argument("what")
murli.enable(parser, name="riffle")
what = parser.parse_args().what
folder = murli.scratch_dir()
assert folder == murli.scratch_dir()
os.write(2, f"folder {folder} {oct(os.stat(folder).st_mode & 0o777)}\\n".encode())
(folder / "below").mkdir()
(folder / "below" / "file").write_text("x")
if what == "raise":
    raise ValueError("x")
if what == "exit":
    sys.exit(3)
if what == "read-only":
    (folder / "below").chmod(0o500)
if what == "gone":
    import shutil
    shutil.rmtree(folder)
if what == "sleep":
    time.sleep(30)
"""


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where temporary files of a tool go."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("what", ["return", "raise", "exit", "read-only", "gone"])
def test_a_scratch_directory_goes_with_the_call(tmp_path: Path, temporary: Path, what: str) -> None:
    """It is private, has tool and process in its name, is one per call, and is removed."""
    done = run(script(tmp_path, TOOL), what, env=environment(TMPDIR=str(temporary)))
    words = done.err.splitlines()[0].split()
    assert re.fullmatch(r"riffle-\d{8}T\d{6}Z-\d+-\w+", Path(words[1]).name)
    assert (Path(words[1]).parent, words[2]) == (temporary, "0o700")
    assert os.listdir(temporary) == []
    assert "CLEANUP" not in done.err


@pytest.mark.skipif(os.geteuid() != 0, reason="without root's rights the test above tells")
def test_rights_that_were_taken_away_are_taken_back() -> None:
    """What a program made read-only is removed all the same."""
    source = (
        "import murli.handlers.cleanup, murli.files, murli.call, os, shutil, tempfile\n"
        "import pathlib, random, time; tempfile.gettempdir(); os.setuid(65534)\n"
        "below = murli.scratch_dir() / 'a' / 'b'; "
        "below.mkdir(parents=True); (below / 'file').touch(); below.chmod(0); "
        "below.parent.chmod(0o500); os.symlink('/', below.parent.parent / 'root')"
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        done = run([sys.executable, "-c", source], env=environment(TMPDIR=folder))
        assert (done.code, done.err, os.listdir(folder)) == (0, "", [])


@pytest.mark.parametrize("human", [False, True])
def test_a_signal_removes_it(tmp_path: Path, temporary: Path, human: bool) -> None:
    """A signal that ends the tool leaves nothing behind, whoever is reading."""
    starter = Starter()
    mode = "human" if human else "agent"
    env = environment(TMPDIR=str(temporary), MURLI_MODE=mode)
    running = starter(script(tmp_path, TOOL), "sleep", env=env)
    try:
        running.wait_for(b"folder")
        time.sleep(0.05)
        running.send(signal.SIGTERM)
        running.end()
    finally:
        starter.stop()
    assert os.listdir(temporary) == []


def test_a_timeout_removes_it(tmp_path: Path, temporary: Path) -> None:
    """A deadline leaves nothing behind."""
    env = environment(TMPDIR=str(temporary))
    assert run(script(tmp_path, TOOL), "sleep", "--timeout", "0.5", env=env).code == 4
    assert os.listdir(temporary) == []


def test_outside_of_a_call(tmp_path: Path, temporary: Path) -> None:
    """Without an invocation it lasts as long as the process."""
    argv = script(tmp_path, "import murli\nprint(murli.scratch_dir(), murli.scratch_dir())\n")
    done = run(argv, env=environment(TMPDIR=str(temporary)))
    first, second = done.out.split()
    assert first == second
    assert Path(first).name.startswith("murli-")
    assert os.listdir(temporary) == []


def test_each_call_has_its_own(tmp_path: Path) -> None:
    """Calls inside one process share nothing, and clean up after themselves."""
    source = (
        "import click, murli\n"
        "@click.command()\n"
        "def tool():\n"
        "    return {'folder': str(murli.scratch_dir())}\n"
        "murli.enable(tool)\n"
        "from click.testing import CliRunner\n"
        "import json, os\n"
        "made = [json.loads(CliRunner().invoke(tool, []).stdout)['result']['folder'] "
        "for _ in range(2)]\n"
        "print(len(set(made)), [os.path.exists(each) for each in made])\n"
    )
    assert run(script(tmp_path, source)).out == "2 [False, False]\n"


def test_private_files_are_private(tmp_path: Path) -> None:
    """What murli keeps is its user's alone, under any umask."""
    before = os.umask(0)
    try:
        os.close(files.open_private(str(tmp_path / "a"), os.O_WRONLY))
        files.make_folders(str(tmp_path / "b" / "c"))
        files.replace_with(str(tmp_path / "d"), str(tmp_path / "d.new"), b"x")
    finally:
        os.umask(before)
    found = {name: mode(tmp_path / name) for name in ("a", "b", "b/c", "d")}
    assert found == {"a": 0o600, "b": 0o700, "b/c": 0o700, "d": 0o600}
