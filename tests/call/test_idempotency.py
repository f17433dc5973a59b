"""A call that is repeated with its key is done once, and told again."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from harness import ADAPTERS, environment, run, script
from murli import AgentError
from murli.handlers.idempotency import KEPT_SECONDS, LONGEST_KEY, Replays, fingerprint_of, folder_of

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

CALL = ("riffle", "index build", "key-1", "print-1")
RESULT = {"effect": "created", "id": 7, "words": "é\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the replays are kept, once there are some."""
    return tmp_path / "state" / "riffle" / "replays"


@pytest.fixture
def replays(folder: Path) -> Replays:
    """A store with nothing in it."""
    return Replays(folder)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_was_kept_is_found(replays: Replays) -> None:
    """A result is found by tool, command, key and arguments, and by nothing less."""
    assert replays.lookup(*CALL) is None
    replays.keep(*CALL, RESULT)
    assert replays.lookup(*CALL) == RESULT
    for other in (
        ("other", *CALL[1:]),
        (CALL[0], "index drop", *CALL[2:]),
        (*CALL[:2], "key-2", CALL[3]),
    ):
        assert replays.lookup(*other) is None


def test_looking_makes_nothing(replays: Replays, folder: Path) -> None:
    """A store that holds nothing is not there."""
    replays.lookup(*CALL)
    assert not folder.exists()


def test_other_arguments_are_a_conflict(replays: Replays) -> None:
    """A key belongs to the call it was used for."""
    replays.keep(*CALL, RESULT)
    with pytest.raises(AgentError) as caught:
        replays.lookup(*CALL[:3], "print-2")
    assert (caught.value.kind, caught.value.error_type) == ("conflict", "idempotency_key_reused")
    with pytest.raises(AgentError), replays.claim(*CALL[:3], "print-2"):
        raise AssertionError("it must not run")
    with replays.claim(*CALL) as claim:
        assert claim.result == RESULT


def test_the_files_are_private(replays: Replays, folder: Path) -> None:
    """Nobody else can read what is kept, and names tell nothing of keys."""
    before = os.umask(0)
    try:
        with replays.claim("riffle", "c", "../../../key\n", "f") as claim:
            (lock,) = folder.iterdir()
            assert mode(lock) == 0o600
            claim.keep(RESULT)
    finally:
        os.umask(before)
    (entry,) = folder.iterdir()
    assert (mode(folder), mode(entry)) == (0o700, 0o600)
    assert len(entry.name) == 64 + len(".json")
    assert "key" not in entry.read_text()
    assert entry.parent == folder


def test_a_day_later_it_is_forgotten(replays: Replays, folder: Path) -> None:
    """An entry that is too old is removed when it is looked for."""
    replays.keep(*CALL, RESULT)
    (entry,) = folder.iterdir()
    os.utime(entry, (0, time.time() - KEPT_SECONDS + 60))
    assert replays.lookup(*CALL) == RESULT
    os.utime(entry, (0, time.time() - KEPT_SECONDS - 60))
    assert replays.lookup(*CALL) is None
    assert not list(folder.iterdir())


def test_old_entries_go_when_new_ones_come(replays: Replays, folder: Path) -> None:
    """What nobody asks for again does not stay for ever, nor the lock of a call that was killed."""
    replays.keep(*CALL, RESULT)
    (folder / "killed.lock").touch()
    (folder / "killed.new").touch()
    for entry in folder.iterdir():
        os.utime(entry, (0, 0))
    with replays.claim("riffle", "c", "held", "f") as held:
        for entry in folder.glob("*.lock"):
            os.utime(entry, (0, 0))
        replays.keep("riffle", "c", "new", "f", RESULT)
        assert len(list(folder.glob("*.lock"))) == 1
        held.keep(RESULT)
    assert len(list(folder.iterdir())) == 2
    assert replays.lookup("riffle", "c", "held", "f") == RESULT


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"fingerprint": 1}', '{"fingerprint": "", "result": 3}']
)
def test_an_entry_that_cannot_be_read(replays: Replays, folder: Path, text: str) -> None:
    """A damaged entry stops the call: what it was for has been done."""
    replays.keep(*CALL, RESULT)
    (entry,) = folder.iterdir()
    entry.write_text(text)
    with pytest.raises(AgentError) as caught:
        replays.lookup(*CALL)
    assert (caught.value.error_type, caught.value.recoverable) == ("replay_unreadable", False)


@pytest.mark.parametrize("key", ["", "x" * (LONGEST_KEY + 1)])
def test_keys_that_are_none(replays: Replays, key: str) -> None:
    """A key that is empty or endless is the caller's mistake."""
    with pytest.raises(AgentError) as caught:
        replays.lookup("riffle", "c", key, "f")
    assert (caught.value.kind, caught.value.field) == ("user_error", "idempotency-key")


@pytest.mark.parametrize("key", ["\udcff", "\0", "a/b", "日本", "x" * LONGEST_KEY])
def test_any_text_is_a_key(replays: Replays, key: str) -> None:
    """Keys are the caller's text, whatever is in it."""
    replays.keep("riffle", "c", key, "f", RESULT)
    assert replays.lookup("riffle", "c", key, "f") == RESULT


# -- claims ------------------------------------------------------------------------------------


def test_a_claim_keeps_what_succeeded(replays: Replays, folder: Path) -> None:
    """The first call runs and keeps, the second is told; no lock is left."""
    with replays.claim(*CALL) as claim:
        assert claim.result is None
        claim.keep(RESULT)
    with replays.claim(*CALL) as claim:
        assert claim.result == RESULT
    assert [each.suffix for each in folder.iterdir()] == [".json"]
    with pytest.raises(RuntimeError, match="while the claim is entered"):
        claim.keep(RESULT)


def test_a_call_that_fails_may_be_repeated(replays: Replays, folder: Path) -> None:
    """What raised has kept nothing, and holds nothing."""
    with pytest.raises(ZeroDivisionError), replays.claim(*CALL):
        _ = 1 / 0
    assert not list(folder.iterdir())
    with replays.claim(*CALL) as claim:
        assert claim.result is None


def test_a_call_that_runs_refuses_another(replays: Replays) -> None:
    """The second call with a key is told to try again; one with another key is not concerned."""
    with replays.claim(*CALL):
        with pytest.raises(AgentError) as caught, replays.claim(*CALL):
            raise AssertionError("it must not run")
        with replays.claim(*CALL[:2], "key-2", "f") as other:
            assert other.result is None
    found = caught.value
    assert (found.kind, found.error_type, found.recoverable) == ("precondition", "lock_held", True)
    assert found.retry_after_ms > 0


def test_a_call_may_wait_for_another(replays: Replays) -> None:
    """Who waits is told what the first call came to."""
    entered = threading.Event()

    def first() -> None:
        with replays.claim(*CALL) as claim:
            entered.set()
            time.sleep(0.2)
            claim.keep(RESULT)

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait(10)
    with replays.claim(*CALL, wait=10) as claim:
        assert claim.result == RESULT
    thread.join()


RACE = """
import sys, time
from murli.handlers.idempotency import Replays
replays = Replays(sys.argv[1])
for number in range(30):
    with replays.claim("tool", "c", f"key-{number}", "f", wait=30) as claim:
        if claim.result is None:
            with open(sys.argv[2], "a") as log:
                log.write(f"{number}\\n")
            claim.keep({"n": number})
        assert (claim.result or {"n": number}) == {"n": number}
"""


def test_of_many_processes_one_runs(tmp_path: Path, folder: Path) -> None:
    """However many calls come at once with a key, it is done once."""
    log = tmp_path / "log"
    argv = [sys.executable, "-c", RACE, str(folder), str(log)]
    racing = [subprocess.Popen(argv, env=environment()) for _ in range(4)]
    assert [each.wait(30) for each in racing] == [0] * 4
    assert sorted(map(int, log.read_text().split())) == list(range(30))


def test_a_call_that_was_killed_holds_nothing(folder: Path, replays: Replays) -> None:
    """The lock of a process that is gone is free."""
    source = (
        "import os, sys; from murli.handlers.idempotency import Replays\n"
        "Replays(sys.argv[1]).claim(*sys.argv[2:]).__enter__(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", source, str(folder), *CALL], check=False, timeout=30)
    assert list(folder.glob("*.lock"))
    with replays.claim(*CALL) as claim:
        assert claim.result is None


# -- where, and for what -----------------------------------------------------------------------


def test_where_replays_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the user's directory for state; a name leads nowhere else; without a home, nowhere."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert folder_of("riffle") == str(tmp_path / ".local" / "state" / "riffle" / "replays")
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    assert folder_of("../x y") == "/var/state/_x_y/replays"
    assert folder_of("..") == "/var/state/tool/replays"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME")
    with pytest.raises(AgentError) as caught:
        folder_of("riffle")
    assert caught.value.error_type == "state_unavailable"


def test_fingerprints() -> None:
    """The order of arguments does not matter, their values and types do; secrets do not show."""
    one = fingerprint_of({"a": 1, "b": Path("/x"), "token": "hush"})
    assert one == fingerprint_of({"token": "hush", "b": Path("/x"), "a": 1})
    others: list[dict[str, Any]] = [{"a": "1"}, {"a": 2}, {}, {"a": None}]
    prints = {fingerprint_of({"b": "/x", "token": "hush", **other}) for other in others}
    assert len(prints | {one}) == 5
    assert "hush" not in one
    assert json.dumps(one)


# -- what a key covers -------------------------------------------------------------------------

PUT = """
import os, sys
import murli
PUT = murli.Metadata(mutating=True, flag_annotations={
    "region": murli.FlagAnnotation(profileable=True, **REGION),
    "password": murli.FlagAnnotation(sensitive=True)})
def put(region, password, token):
    text = sys.stdin.read()
    with open("log", "a") as log:
        log.write(f"{region} {text}\\n")
    murli.get_writer().write_success(f"done with {token}", {"region": region, "text": text})
"""
FRONT = {
    "click": "REGION = {}"
    + PUT
    + """
import click
cli = click.Group()
one = click.Command("put", callback=put, params=[
    click.Option(["--region"], envvar="REGION", default="eu"),
    click.Option(["--password"]), click.Option(["--token"])])
murli.annotate(one, PUT)
cli.add_command(one)
murli.enable(cli, name="keyed")
cli()
""",
    "typer": "REGION = {}"
    + PUT
    + """
import typer
app = typer.Typer()
@app.callback()
def main(): pass
REGION = typer.Option("eu", envvar="REGION")
@app.command("put")
def of_typer(region: str = REGION, password: str = "", token: str = ""):
    put(region, password, token)
murli.annotate(of_typer, PUT)
murli.enable(app, name="keyed")
app()
""",
    "argparse": "REGION = {'env': 'REGION'}"
    + PUT
    + """
import argparse
parser = argparse.ArgumentParser(prog="keyed")
one = parser.add_subparsers(dest="command", required=True).add_parser("put")
one.add_argument("--region", default="eu")
one.add_argument("--password")
one.add_argument("--token")
murli.annotate(one, PUT)
murli.enable(parser)
args = parser.parse_args()
put(args.region, args.password, args.token)
""",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_key_covers_what_a_call_is_given(tmp_path: Path, adapter: str) -> None:
    """Another variable, stdin, input file, password or profile is another call with the key."""
    argv = script(tmp_path, FRONT[adapter])
    (tmp_path / "file").write_text("A")

    def call(*words: str, stdin: bytes | None = b"A", **changes: str) -> Any:
        env = environment(
            MURLI_CONTRACT="agent-spec-2",
            XDG_STATE_HOME=str(tmp_path / "state"),
            HOME=str(tmp_path),
            **changes,
        )
        words = ("put", "--yes", "--idempotency-key=k", *words)
        return run(argv, *words, cwd=tmp_path, env=env, stdin=stdin).document

    secret = "SECRET-token-1"
    first = call("--token", secret)
    assert first["data"] == {"region": "eu", "text": "A"}
    # Nothing of the call is kept in clear, and a token may be renewed.
    (entry,) = (tmp_path / "state" / "keyed" / "replays").iterdir()
    assert secret not in entry.read_text()
    assert call("--token", "another-token")["meta"]["replayed"] is True
    others = [
        call("--token", secret, stdin=b"B"),
        call("--token", secret, stdin=None),
        call("--token", secret, REGION="us"),
        call("--token", secret, "--password", "hush-hush"),
    ]
    assert [each["error"]["code"] for each in others] == ["IDEMPOTENCY_KEY_REUSED"] * 4
    entry.unlink()
    assert call("--input-file", "file", stdin=None)["ok"]
    assert call("--input-file", "file", stdin=None)["meta"]["replayed"] is True
    (tmp_path / "file").write_text("B")
    assert not call("--input-file", "file", stdin=None)["ok"]
    entry.unlink()
    # What is kept for a region that a profile gives is not for another one.
    save = environment(HOME=str(tmp_path))
    run(argv, "profile", "save", "p", "region=eu", env=save)
    assert call("--profile", "p", stdin=None)["ok"]
    run(argv, "profile", "save", "p", "region=ap", "--force", env=save)
    assert call("--profile", "p", stdin=None)["error"]["code"] == "IDEMPOTENCY_KEY_REUSED"
    assert (tmp_path / "log").read_text() == "eu A\neu A\neu \n"


READS = {
    "click": """
import click, murli
@click.command()
@click.argument("src", type=click.Path())
@click.option("--more", type=click.Path(), multiple=True)
@click.option("--name")
def cli(src, more, name):
    return [open(each).read() for each in (src, *more)]
""",
    "typer": """
import pathlib, typing, typer, murli
cli = typer.Typer()
@cli.command()
def put(src: pathlib.Path, more: typing.List[pathlib.Path] = [], name: str = ""):
    return [each.read_text() for each in (src, *more)]
""",
    "argparse": """
import argparse, pathlib, murli
cli = argparse.ArgumentParser()
cli.add_argument("src", type=pathlib.Path)
cli.add_argument("--more", type=pathlib.Path, action="append", default=[])
cli.add_argument("--name")
murli.enable(cli, name="reads")
given = cli.parse_args()
read = [each.read_text() for each in (given.src, *given.more)]
murli.get_writer().write_success("", read)
""",
}


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("adapter", READS)
def test_a_key_covers_what_is_in_a_file_that_is_given_by_its_path(
    tmp_path: Path, adapter: str
) -> None:
    """Other content behind a path is another call with the key; text is never opened."""
    runs = "" if adapter == "argparse" else 'murli.enable(cli, name="reads")\ncli()\n'
    argv = script(tmp_path, READS[adapter] + runs)
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("A")
    two.write_text("A")

    def call(key: str, *words: str) -> Any:
        env = environment(MURLI_CONTRACT="agent-spec-2", XDG_STATE_HOME=str(tmp_path / "state"))
        return run(argv, f"--idempotency-key={key}", *words, cwd=tmp_path, env=env).document

    many = ("many", "--more", "two", "one")
    text = ("text", "--name", "two", "one")
    first = call("key", "one")
    assert first["data"] == ["A"], first
    assert [call(*words)["ok"] for words in (many, text)] == [True, True]
    two.write_text("B")
    assert call("key", "one")["meta"]["replayed"] is True
    assert call(*text)["meta"]["replayed"] is True
    assert call(*many)["error"]["code"] == "IDEMPOTENCY_KEY_REUSED"
    one.write_text("B")
    assert call("key", "one")["error"]["code"] == "IDEMPOTENCY_KEY_REUSED"


def test_a_file_that_the_command_writes_is_no_other_input(tmp_path: Path) -> None:
    """A call that changed a file it was given is replayed; another content is another call."""
    argv = script(
        tmp_path,
        "import click, murli\n@click.command()\n@click.argument('out', type=click.Path())\n"
        "def cli(out): open(out, 'a').write('x')\n"
        "murli.enable(cli, name='writes')\ncli()\n",
    )
    env = environment(MURLI_CONTRACT="agent-spec-2", XDG_STATE_HOME=str(tmp_path / "state"))
    out, call = tmp_path / "out", ("--idempotency-key=key", "out")
    for replayed in (None, True):
        done = run(argv, *call, cwd=tmp_path, env=env)
        assert done.document["meta"].get("replayed") is replayed
        assert out.read_text() == "x"
    out.write_text("y")
    assert run(argv, *call, cwd=tmp_path, env=env).document["error"]["code"] == (
        "IDEMPOTENCY_KEY_REUSED"
    )


def test_input_that_comes_late_is_not_kept(tmp_path: Path) -> None:
    """Where input begins after the handler, the answer says that the key does not hold."""
    argv = script(tmp_path, FRONT["click"])
    env = environment(
        MURLI_CONTRACT="agent-spec-2",
        XDG_STATE_HOME=str(tmp_path / "state"),
        MURLI_STDIN_TIMEOUT="20",
    )
    with subprocess.Popen(
        [*argv, "put", "--yes", "--idempotency-key=k"],
        cwd=tmp_path,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        lock = tmp_path / "state" / "keyed" / "replays"
        while not (lock.exists() and any(lock.iterdir())):
            assert process.poll() is None
        out, _ = process.communicate(b"A")
    assert [each["code"] for each in json.loads(out)["warnings"]] == ["REPLAY_NOT_KEPT"]
    assert not list(lock.iterdir())
