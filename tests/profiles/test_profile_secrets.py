"""A sensitive value lies where it is safe, comes back as it was, and is in no error."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import keyring.core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import KEYRING, Run, environment, lay_out, run, script
from murli.profiles.secrets import (
    IN_KEYRING,
    Keeper,
    SecretError,
    check_reference,
    is_reference,
    resolve,
    shown,
)
from properties import examples

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

SECRET = "s3cr3t-välue"

# Backends as others write them, and as they fail: whatever they say quotes the password.
RINGS = (
    KEYRING
    + """
class RaisesOnSet(FileRing):
    def set_password(self, service, username, password):
        try:
            raise OSError(f"no room for {password}")
        except OSError as error:
            raise RuntimeError(f"cannot keep {password}") from error

class ExitsOnSet(FileRing):
    def set_password(self, service, username, password):
        raise SystemExit(password)

class RaisesOnGet(FileRing):
    def get_password(self, service, username):
        raise RuntimeError(f"cannot give {super().get_password(service, username)}")

class RaisesOnDelete(FileRing):
    def delete_password(self, service, username):
        raise RuntimeError(f"cannot delete {super().get_password(service, username)}")

class GivesAnother(FileRing):
    def get_password(self, service, username):
        return "another"

class GivesNumbers(FileRing):
    def get_password(self, service, username):
        return 7

class CannotBeUsed(FileRing):
    def __init__(self):
        raise OSError("no bus")

class Logs(FileRing):
    def set_password(self, service, username, password):
        logging.getLogger("keyring").warning("keeping %s", password)
        logging.getLogger("keyring.backends.rings").critical("keeping %s", password)
        raise OSError(password)

class BlocksOnGet(FileRing):
    def get_password(self, service, username):
        self.path.with_name("blocked").touch()
        time.sleep(20)

class BlocksOnSet(FileRing):
    def set_password(self, service, username, password):
        time.sleep(20)

class BlocksAtOnce(FileRing):
    def __init__(self):
        time.sleep(20)
"""
)

# Calls in a process of their own, at its most talkative: every log record and every traceback.
DRIVER = """
import json, logging, sys, traceback
from murli.profiles.secrets import Keeper, SecretError, resolve

logging.basicConfig(level=logging.DEBUG)
keeper = Keeper("riffle")

def call(what, text, *permission):
    if what == "keep":
        return keeper.keep("prod", "token", text, allow_plaintext=bool(permission))
    if what == "resolve":
        return resolve("riffle", "prod", "token", text)
    return keeper.forget("prod", "token", text)

answers = []
for words in json.loads(sys.argv[1]):
    try:
        answers.append(call(*words))
    except SecretError as error:
        traceback.print_exc()
        print(repr(error), error.__context__, error.__cause__, file=sys.stderr)
        answers.append(vars(error))
print(json.dumps(answers))
"""

UNABLE = ["keyring.backends.fail.Keyring", "keyring.backends.null.Keyring"]
UNABLE += ["keyring.backends.chainer.ChainerBackend"]
MALFORMED = ["env:", "env:1A", "env:A B", "env:A=B", "env:Ä", "env:A\0", "env:A\n", "env: A"]
MALFORMED += ["file:", "file:token", "file:./token", "file:../token", "file:~", "file:~root/token"]
MALFORMED += ["file:/a\0b", "file:$HOME/token", "file: /token"]

Call = tuple[str, ...]
KEEP = ("keep", SECRET)
KEEP_ANYHOW = ("keep", SECRET, "allow_plaintext")
RESOLVE = ("resolve", IN_KEYRING)
FORGET = ("forget", IN_KEYRING)


class Machine:
    """A place with a keyring of its own, and processes that use it."""

    def __init__(self, folder: Path) -> None:
        self.folder = lay_out(folder, {"rings.py": RINGS})
        self.argv = script(folder, DRIVER, "drive.py")

    def environment(self, backend: str | None, **changes: str) -> dict[str, str]:
        return environment(
            PYTHONPATH=str(self.folder),
            PYTHON_KEYRING_BACKEND=backend,
            # Nothing of the person who runs the tests: neither their choice nor their keyring.
            XDG_CONFIG_HOME=str(self.folder),
            DBUS_SESSION_BUS_ADDRESS=f"unix:path={self.folder}/none",
            **changes,
        )

    def run(self, *calls: Call, backend: str | None = "rings.FileRing", **changes: str) -> Run:
        """Make *calls* in one process; give all that it wrote."""
        done = run(self.argv, json.dumps(calls), env=self.environment(backend, **changes))
        assert done.code == 0, done.err
        assert SECRET not in done.err
        return done

    def do(self, *calls: Call, backend: str = "rings.FileRing", **changes: str) -> Any:
        """Make *calls* in one process; give each one's answer, or what its error holds."""
        if "Blocks" in backend:
            changes["MURLI_KEYRING_TIMEOUT"] = "0.2"
        answers = self.run(*calls, backend=backend, **changes).document
        assert not any(SECRET in str(told) for told in answers if isinstance(told, dict))
        return answers

    @property
    def entries(self) -> Any:
        path = self.folder / "ring.json"
        return json.loads(path.read_text()) if path.exists() else {}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def refused(text: str) -> SecretError:
    """Resolve what cannot be resolved; give the error, behind which there is no other."""
    with pytest.raises(SecretError) as caught:
        resolve("riffle", "prod", "token", text)
    assert caught.value.__context__ is None
    return caught.value


# References


@pytest.mark.adapters("argparse")
@pytest.mark.parametrize("text", ["env:TOKEN", "env:_t0", "file:/run/token", "file:~/.token"])
def test_a_reference_is_kept_and_shown_as_it_is(text: str) -> None:
    """A well-formed reference is what the store holds and what is shown; no keyring is asked."""
    assert is_reference(text)
    check_reference("token", text)
    assert Keeper("riffle").keep("prod", "token", text, allow_plaintext=False) == text
    assert shown(text) == text


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_reference_is_refused_and_not_repeated(text: str) -> None:
    """What only begins like a reference is an error that does not quote it: it may be a secret."""
    assert is_reference(text)
    told = []
    for attempt in (
        lambda: check_reference("token", text),
        lambda: Keeper("riffle").keep("prod", "token", text, allow_plaintext=True),
        lambda: resolve("riffle", "prod", "token", text),
    ):
        with pytest.raises(SecretError) as caught:
            attempt()
        told.append((str(caught.value), caught.value.hint, caught.value.flag))
    message = "The reference for --token is not a well-formed env:NAME or file:PATH."
    hint = "NAME is letters, digits and _, no digit first; PATH is absolute or begins with ~/."
    assert told == [(message, hint, "token")] * 3
    assert shown(text) == "[REDACTED]"


@pytest.mark.parametrize("text", ["", "hunter2", "keyring:", "keyring:x", "ENV:A", "http://x"])
def test_what_is_no_reference_is_not_shown(text: str) -> None:
    """Everything in the store that is no reference is redacted."""
    assert not is_reference(text)
    assert shown(text) == "[REDACTED]"
    with pytest.raises(SecretError):
        check_reference("token", text)


def test_plain_text_is_itself() -> None:
    """Plain text in the store is the value, also where it looks like a place that is none."""
    for text in ("hunter2", "", "keyring:x", "ENV:TOKEN", "a:b"):
        assert resolve("riffle", "prod", "token", text) == text


def test_a_variable_gives_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """env:NAME is the value of the variable NAME, untouched."""
    monkeypatch.setenv("A_TOKEN", f" {SECRET}\n")
    assert resolve("riffle", "prod", "token", "env:A_TOKEN") == f" {SECRET}\n"


@pytest.mark.parametrize("value", [None, ""])
def test_a_variable_that_is_not_set(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is missing or empty is an error that names it and tells what to do."""
    monkeypatch.delenv("A_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("A_TOKEN", value)
    error = refused("env:A_TOKEN")
    assert vars(error) == {
        "message": 'Profile "prod" takes --token from the environment variable A_TOKEN, '
        "which is not set.",
        "hint": "Set it, or give --token itself.",
        "flag": "token",
        "retryable": False,
    }
    assert str(error) == error.message


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"abc", "abc"),
        (b"abc\n", "abc"),
        (b"abc\r\n", "abc"),
        (b"abc\n\n", "abc\n"),
        (b"abc\r", "abc\r"),
        (b" a\nb \n", " a\nb "),
        ("ä€".encode(), "ä€"),
        (b"x" * 65536, "x" * 65536),
    ],
)
def test_a_file_gives_its_text(content: bytes, value: str, tmp_path: Path) -> None:
    """file:PATH is the text of that file without one line end."""
    (tmp_path / "token").write_bytes(content)
    assert resolve("riffle", "prod", "token", f"file:{tmp_path}/token") == value


def test_a_file_may_be_reached_by_a_link(tmp_path: Path) -> None:
    """A link to a regular file will do: that is how orchestrators mount secrets."""
    (tmp_path / "token").write_text(SECRET)
    (tmp_path / "link").symlink_to("token")
    assert resolve("riffle", "prod", "token", f"file:{tmp_path}/link") == SECRET


def test_a_home_is_what_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path below ~/ is below $HOME, which must be absolute; nobody else is asked."""
    (tmp_path / "token").write_text(SECRET)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve("riffle", "prod", "token", "file:~/token") == SECRET
    for home in ("", "."):
        monkeypatch.setenv("HOME", home)
        assert "HOME is not an absolute path" in str(refused("file:~/token"))
    monkeypatch.delenv("HOME")
    assert "the file ~/token, which cannot be read: HOME" in str(refused("file:~/token"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"\r\n", "is empty"),
        (SECRET.encode("latin-1"), "is not UTF-8 text"),
        (SECRET.encode() * 6000, "cannot be read: larger than 64 KiB"),
        (None, "cannot be read: No such file or directory"),
    ],
)
def test_a_file_of_no_use(content: bytes | None, reason: str, tmp_path: Path) -> None:
    """A file that gives no value is an error that names it and the reason, not the content."""
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    error = refused(f"file:{path}")
    assert str(error) == f'Profile "prod" takes --token from the file {path}, which {reason}.'
    assert error.hint == "Put the value alone into that file, or give --token itself."
    assert (error.flag, error.retryable) == ("token", False)


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    """A file that the caller may not read says so."""
    (tmp_path / "token").write_text(SECRET)
    (tmp_path / "token").chmod(0)
    source = (
        "import os, sys\n"
        "from murli.profiles.secrets import SecretError, resolve\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"  # root may read everything
        "try: resolve('tool', 'prod', 'token', sys.argv[1])\n"
        "except SecretError as error: print(error)\n"
    )
    done = run([sys.executable, "-c", source], f"file:{tmp_path}/token")
    assert "Permission denied" in done.out


def test_what_is_no_regular_file_is_refused_at_once(machine: Machine) -> None:
    """A fifo that nobody writes to, an endless device, a folder: refused, not waited for."""
    folder = machine.folder
    os.mkfifo(folder / "fifo")
    names = (f"{folder}/fifo", "/dev/zero", f"{folder}")
    told = machine.do(*(("resolve", f"file:{name}") for name in names))
    assert [each["message"].partition("which ")[2] for each in told] == [
        "cannot be read: not a regular file.",
        "cannot be read: not a regular file.",
        "cannot be read: Is a directory.",
    ]


def test_a_path_that_has_no_bytes() -> None:
    """A path that cannot be encoded is an error like any other."""
    assert "which cannot be read" in str(refused("file:/\ud800"))


# The keyring


@pytest.mark.parametrize("keep", [KEEP, KEEP_ANYHOW])
def test_the_keyring_has_it(machine: Machine, keep: Call) -> None:
    """A keyring that works is used, permission for plain text or not, and gives the value back."""
    assert machine.do(keep) == [IN_KEYRING]
    assert machine.entries == {"murli:riffle prod/token": SECRET}
    assert machine.do(RESOLVE) == [SECRET]


def test_forgetting(machine: Machine) -> None:
    """Forgetting removes the entry when the store says there is one, and may be done again."""
    machine.do(KEEP, *(("forget", stored) for stored in ("env:TOKEN", "plain", "keyring:x")))
    assert list(machine.entries.values()) == [SECRET]
    *forgotten, told = machine.do(FORGET, FORGET, RESOLVE)
    assert forgotten == [None, None]
    assert machine.entries == {}
    assert told == {
        "message": 'Profile "prod" takes --token from the keyring, which does not have it.',
        "hint": "Save it again, or give --token itself.",
        "flag": "token",
        "retryable": False,
    }


@pytest.mark.parametrize("backend", ["rings.RaisesOnDelete", "rings.BlocksAtOnce", *UNABLE])
def test_forgetting_never_fails(machine: Machine, backend: str) -> None:
    """Forgetting does what it can, whatever the keyring does."""
    assert machine.do(FORGET, backend=backend) == [None]


@pytest.mark.parametrize(
    ("backend", "reason", "retryable"),
    [
        ("rings.RaisesOnSet", "failed (RuntimeError)", True),
        ("rings.ExitsOnSet", "failed (SystemExit)", True),
        ("rings.RaisesOnGet", "failed (RuntimeError)", True),
        ("rings.GivesAnother", "does not give back what it got", False),
        ("rings.GivesNumbers", "does not give back what it got", False),
        ("rings.CannotBeUsed", "failed (OSError)", True),
        ("rings.Absent", "failed (AttributeError)", True),
        ("rings.BlocksOnSet", "did not answer in 0.2 s", True),
        ("rings.BlocksOnGet", "did not answer in 0.2 s", True),
        ("rings.BlocksAtOnce", "did not answer in 0.2 s", True),
        *((backend, "has no backend here", False) for backend in UNABLE),
    ],
)
def test_a_keyring_that_does_not_work(
    machine: Machine, backend: str, reason: str, retryable: bool
) -> None:
    """Without a keyring that works a value is refused, with every way out, or kept in plain."""
    told, kept = machine.do(KEEP, KEEP_ANYHOW, backend=backend)
    assert told == {
        "message": f"--token is secret and belongs in the keyring, which {reason}.",
        "hint": "Give env:NAME, file:PATH or --allow-plaintext, "
        "or run `pip install murli[keyring]`.",
        "flag": "token",
        "retryable": retryable,
    }
    assert kept == SECRET


def test_what_comes_back_wrong_is_not_left_behind(machine: Machine) -> None:
    """A keyring that gives back something else does not keep what it was given."""
    machine.do(KEEP, backend="rings.GivesAnother")
    assert machine.entries == {}


@pytest.mark.parametrize(
    ("backend", "reason", "advice"),
    [
        ("rings.RaisesOnGet", "failed (RuntimeError)", "Unlock it and try again"),
        ("rings.GivesNumbers", "does not have it", "Save it again"),
        ("nowhere.Ring", "failed (ModuleNotFoundError)", "Unlock it and try again"),
        ("rings.BlocksOnGet", "did not answer in 0.2 s", "Unlock it and try again"),
        ("rings.BlocksAtOnce", "did not answer in 0.2 s", "Unlock it and try again"),
        *((backend, "has no backend here", "Set one up") for backend in UNABLE),
    ],
)
def test_a_keyring_that_does_not_give_it(
    machine: Machine, backend: str, reason: str, advice: str
) -> None:
    """A value that the keyring does not give is an error with the reason and a way on."""
    machine.do(KEEP)
    assert machine.do(RESOLVE, backend=backend) == [
        {
            "message": f'Profile "prod" takes --token from the keyring, which {reason}.',
            "hint": f"{advice}, or give --token itself.",
            "flag": "token",
            "retryable": advice == "Unlock it and try again",
        }
    ]


def test_nobody_waits_for_a_keyring_that_blocks(machine: Machine) -> None:
    """The process ends at its own time, with a backend still waiting for an answer."""
    started = time.monotonic()
    machine.do(KEEP_ANYHOW, RESOLVE, FORGET, backend="rings.BlocksAtOnce")
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("given", ["soon", "-1", "inf", "9" * 400])
def test_a_patience_that_is_none(machine: Machine, given: str) -> None:
    """A timeout that is no sensible number of seconds does no harm."""
    assert machine.do(KEEP, MURLI_KEYRING_TIMEOUT=given) == [IN_KEYRING]


def test_an_interrupt_ends_the_wait(machine: Machine) -> None:
    """Ctrl-C is heard while a keyring does not answer."""
    env = machine.environment("rings.BlocksOnGet", MURLI_KEYRING_TIMEOUT="30")
    argv = [*machine.argv, json.dumps([RESOLVE])]
    waiting = subprocess.Popen(argv, env=env, stderr=subprocess.DEVNULL)
    started = time.monotonic()
    while not (machine.folder / "blocked").exists():
        assert time.monotonic() - started < 20
        time.sleep(0.02)
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(timeout=10) != 0


def test_without_the_package(machine: Machine) -> None:
    """Without the package keyring a value is refused or kept in plain, and the rest works."""
    lay_out(machine.folder, {"sitecustomize.py": "import sys; sys.modules['keyring'] = None"})
    refusal, plain, missing, forgotten, value = machine.do(
        KEEP, KEEP_ANYHOW, RESOLVE, FORGET, ("resolve", "env:A_TOKEN"), A_TOKEN="abc"
    )
    assert refusal["message"].endswith("the keyring, which is not installed.")
    assert missing["message"].endswith("takes --token from the keyring, which is not installed.")
    assert missing["hint"] == "Run `pip install murli[keyring]`, or give --token itself."
    assert (plain, forgotten, value) == (SECRET, None, "abc")


def test_without_a_thread(machine: Machine) -> None:
    """Where no thread can be started the keyring does not work, and that is all."""
    lay_out(machine.folder, {"sitecustomize.py": "import _thread; _thread.stack_size(1 << 46)"})
    refusal, plain, forgotten = machine.do(KEEP, KEEP_ANYHOW, FORGET)
    assert refusal["message"].endswith("the keyring, which no thread can ask.")
    assert refusal["retryable"]
    assert (plain, forgotten) == (SECRET, None)


def plugin(module: str) -> dict[str, str]:
    """What makes *module* a backend that keyring finds by itself."""
    return {
        f"{module}-1.dist-info/METADATA": f"Name: {module}\nVersion: 1\n",
        f"{module}-1.dist-info/entry_points.txt": f"[keyring.backends]\nit = {module}\n",
    }


def test_a_chain_of_backends(machine: Machine) -> None:
    """A chain with a backend in it is a keyring that works."""
    only = RINGS.partition("class RaisesOnSet")[0].replace("priority = -1", "priority = 5")
    lay_out(machine.folder, {"chained.py": only, **plugin("chained")})
    chain = "keyring.backends.chainer.ChainerBackend"
    assert machine.do(KEEP, RESOLVE, backend=chain) == [IN_KEYRING, SECRET]
    assert machine.entries


def test_keyring_logs_nothing(machine: Machine) -> None:
    """Neither what a backend logs nor what keyring says of a broken one gets into the log."""
    assert "keeping" not in machine.run(KEEP, backend="rings.Logs").err
    lay_out(machine.folder, plugin("nowhere"))
    assert machine.run(FORGET, backend=None).err == ""


def test_the_mark_of_the_keyring_is_never_plain_text(machine: Machine) -> None:
    """A secret that reads like our mark goes into a keyring, or nowhere."""
    keep = ("keep", IN_KEYRING, "allow_plaintext")
    assert machine.do(keep, RESOLVE) == [IN_KEYRING, IN_KEYRING]
    assert machine.do(keep, backend=UNABLE[0])[0]["flag"] == "token"


@pytest.mark.fresh
def test_nothing_is_loaded_before_it_is_needed(tmp_path: Path) -> None:
    """Importing the module, and resolving what is not in the keyring, loads no keyring."""
    source = (
        "import sys; from murli.profiles.secrets import resolve\n"
        "resolve('riffle', 'prod', 'token', 'plain'), resolve('riffle', 'p', 't', 'env:PATH')\n"
        "print(sorted({'keyring', 'logging', 'threading'} & set(sys.modules)))"
    )
    assert run(script(tmp_path, source)).out == "[]\n"


# Whatever the value


@pytest.fixture(scope="module")
def rings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The backends in this process, where a thousand values are kept in no time."""
    before = keyring.core._keyring_backend
    folder = lay_out(tmp_path_factory.mktemp("rings"), {"rings.py": RINGS})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("rings")
    del sys.modules["rings"]
    keyring.core._keyring_backend = before


@given(value=st.text(st.characters(exclude_characters="\0", codec="utf-8")))
@examples(60)
def test_any_value_comes_back(rings: Any, value: str) -> None:
    """What was kept in a keyring comes back as it was."""
    keyring.set_keyring(rings.FileRing())
    stored = Keeper("riffle").keep("prod", "token", f"_{value}", allow_plaintext=False)
    assert stored == IN_KEYRING
    assert resolve("riffle", "prod", "token", stored) == f"_{value}"


def _told(rings: Any, backend: str, value: str) -> Any:
    keyring.set_keyring(getattr(rings, backend)())
    with pytest.raises(SecretError) as caught:
        Keeper("riffle").keep("prod", "token", value, allow_plaintext=False)
    assert caught.value.__context__ is caught.value.__cause__ is None
    return repr(caught.value), vars(caught.value)


@given(value=st.text(), backend=st.sampled_from(["RaisesOnSet", "ExitsOnSet", "RaisesOnGet"]))
@examples(60)
def test_no_error_depends_on_the_value(rings: Any, value: str, backend: str) -> None:
    """The refusal of one value is that of any other: nothing of it can be in there."""
    assert _told(rings, backend, f"_{value}") == _told(rings, backend, "_")


@given(junk=st.text().filter(lambda text: not (text.isascii() and text.isidentifier())))
def test_no_malformed_reference_is_repeated(junk: str) -> None:
    """A malformed reference is refused in the same words whatever it holds."""
    told = []
    for text in (f"env:{junk}", f"file:./{junk}", "env:"):
        with pytest.raises(SecretError) as caught:
            check_reference("token", text)
        told.append((repr(caught.value), vars(caught.value)))
    assert told[0] == told[1] == told[2]


@given(content=st.binary(max_size=200))
def test_no_file_is_repeated(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    """A file's text comes back, or one of two reasons that do not depend on the content."""
    path = tmp_path_factory.getbasetemp() / "any-content"
    path.write_bytes(content)
    try:
        assert content.startswith(resolve("riffle", "prod", "token", f"file:{path}").encode())
    except SecretError as error:
        assert str(error).partition(f"{path}, which ")[2] in ("is empty.", "is not UTF-8 text.")
        assert error.__context__ is None
