"""A secret of a call is in nothing that the call writes, whatever the secret and the way out."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st

from harness import ADAPTERS, KEYRING, Run, environment, lay_out, run, run_at_terminal, script, tool
from murli.contracts import CONTRACT_NAMES
from murli.formats.text import clean
from murli.secrets.redaction import MASK
from readable import (
    SECRET,
    is_read,
    readings,
    secrets_of_any_kind,
)

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

KNOWN_HARMLESS = "wqxj-0wqxj"
ENDING = ["raise", "error", "chain", "exit", "partial", "plan"]
WAYS = ["all", "all", "all", "words", "json", "binary", "child", *ENDING]
FORMS = ["", "json", "ndjson", "text"]
SOURCES = ["flag", "flag=", "variable", "profile", "env:", "file:"]

# -- what a caller could read ---------------------------------------------------------------------


class Place:
    """A home of its own for one call, and the secret where the call takes it from."""

    def __init__(self, folder: str, adapter: str) -> None:
        self.folder = Path(folder)
        self.argv = tool(f"deploy_{adapter}")

    def call(
        self, source: str, secret: str, *words: str, terminal: bool = False, **variables: str
    ) -> Run:
        given, variables = self.give(source, secret, variables)
        env = environment(HOME=str(self.folder), **variables)
        do = run_at_terminal if terminal else run
        return do(self.argv, *given, *words, env=env)

    def give(
        self, source: str, secret: str, variables: dict[str, str]
    ) -> tuple[list[str], dict[str, str]]:
        if source == "flag":
            return ["--token", secret], variables
        if source == "flag=":
            return [f"--token={secret}"], variables
        if source == "variable":
            return [], {**variables, "DEPLOY_TOKEN": secret}
        stored = {
            "profile": secret,
            "env:": "env:A_SECRET",
            "file:": f"file:{self.folder}/secret",
        }[source]
        (self.folder / "secret").write_bytes(secret.encode("utf-8", "surrogateescape") + b"\n")
        lay_out(
            self.folder,
            {
                ".deploy/profiles.json": json.dumps(
                    {"profiles": {"p": {"flags": {"token": stored}}}}
                )
            },
        )
        return ["--profile", "p"], {**variables, "A_SECRET": secret}


def usable(source: str, adapter: str, secret: str) -> bool:
    """Tell whether *source* can give exactly that value."""
    if source == "file:":
        return not secret.endswith(("\r", "\n"))
    if source == "profile":
        return not secret.startswith(("env:", "file:", "keyring:"))
    # A word that begins with a dash is an option to argparse, and no value.
    return not (source == "flag" and adapter == "argparse" and secret.startswith("-"))


def assert_hidden(
    adapter: str,
    source: str,
    secret: str,
    words: list[str],
    variables: dict[str, str],
    terminal: bool = False,
) -> None:
    """Fail if a call lets *secret* be read, unless it would be there without being the secret."""
    assume(usable(source, adapter, secret))
    with tempfile.TemporaryDirectory() as folder:
        place = Place(folder, adapter)
        done = place.call(source, secret, *words, terminal=terminal, **variables)
        assert done.code in (0, 1, 2, 3, 5)
        if not is_read(secret, done):
            return
        variables = {**variables, "SHOWN": KNOWN_HARMLESS}
        other = place.call(source, KNOWN_HARMLESS, *words, terminal=terminal, **variables)
    assume(not is_read(secret, other))
    raise AssertionError(f"{secret!r} is in {done}")


# Every example is a process: few of them, and none to find a shorter secret that gets out too.
# `make test-real` tries more of them.
FACTOR = max(int(os.environ.get("MURLI_EXAMPLES", "0")), 1)
ANY_PROCESS = settings(
    deadline=None,
    max_examples=16 * FACTOR,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
ENOUGH = settings(ANY_PROCESS, max_examples=8 * FACTOR)


@pytest.mark.parametrize("adapter", ADAPTERS)
@given(
    secret=secrets_of_any_kind,
    how=st.sampled_from(WAYS),
    source=st.sampled_from(SOURCES),
    contract=st.sampled_from(CONTRACT_NAMES),
    form=st.sampled_from(FORMS),
    debug=st.booleans(),
)
@settings(ANY_PROCESS)
@pytest.mark.properties
def test_no_secret_gets_out(
    adapter: str, secret: str, how: str, source: str, contract: str, form: str, debug: bool
) -> None:
    """Whatever a handler does with a secret, an agent cannot read it."""
    assume(not (how == "child" and form == "text"))  # see below
    words = ["leak", how, *(["--output", form] if form else [])]
    variables = {"MURLI_CONTRACT": contract, "SHOWN": secret, "MURLI_DEBUG": str(int(debug))}
    assert_hidden(adapter, source, secret, words, variables)


@pytest.mark.parametrize("adapter", ADAPTERS)
@given(
    secret=secrets_of_any_kind,
    how=st.sampled_from([way for way in WAYS if way != "child"]),
    source=st.sampled_from(SOURCES),
    debug=st.booleans(),
)
@example(secret="ring\x07the\x08bell", how="raise", source="variable", debug=False)
@settings(ENOUGH)
@pytest.mark.properties
def test_no_secret_gets_to_a_terminal(
    adapter: str, secret: str, how: str, source: str, debug: bool
) -> None:
    """Whatever a handler does with a secret, a person does not see it."""
    variables = {"MURLI_DEBUG": str(int(debug))}
    assert_hidden(adapter, source, secret, ["leak", how], variables, terminal=True)


@pytest.mark.adapters("argparse")
@pytest.mark.parametrize("adapter", ADAPTERS)
@given(secret=secrets_of_any_kind, contract=st.sampled_from(CONTRACT_NAMES))
@settings(ENOUGH, max_examples=4 * FACTOR)
@pytest.mark.properties
def test_no_profile_command_shows_a_secret(adapter: str, secret: str, contract: str) -> None:
    """Saving, showing, listing, using, describing and deleting never tell a stored secret."""
    assume(usable("profile", adapter, secret))
    calls = [
        ["profile", "save", "p", f"token={secret}", "--allow-plaintext"],
        ["profile", "show", "p"],
        ["profile", "use", "p", "--agent"],
        ["profile", "save", "p", "--merge", "region=us"],
        ["purge", "--yes"],
        ["profile", "delete", "p", "--yes"],
    ]
    with tempfile.TemporaryDirectory() as folder:
        env = environment(HOME=folder, MURLI_CONTRACT=contract, MURLI_DEBUG="1")
        told = [run(tool(f"deploy_{adapter}"), *words, env=env) for words in calls]
        assert [done.code for done in told] == [0] * len(calls)
        if not any(is_read(secret, done) for done in told):
            return
        calls[0][3] = f"token={KNOWN_HARMLESS}"
        other = [run(tool(f"deploy_{adapter}"), *words, env=env) for words in calls]
    for done, harmless in zip(told, other, strict=True):
        assert not is_read(secret, done) or is_read(secret, harmless)


# -- every way, one by one ------------------------------------------------------------------------


@pytest.fixture
def place(request: pytest.FixtureRequest, deploy: list[str], tmp_path: Path) -> Place:
    place = Place(str(tmp_path), "argparse")
    place.argv = deploy
    return place


@pytest.mark.parametrize("how", ["print", "json", "binary", "child", "all", *ENDING[:4]])
def test_what_is_said_is_still_said(place: Place, how: str) -> None:
    """Only the secret is taken out: the words around it, and the mask in its place, are there."""
    done = place.call("variable", SECRET, "leak", how, SHOWN=SECRET)
    assert not is_read(SECRET, done)
    texts = [*readings(done.stdout), *readings(done.stderr)]
    assert any(MASK in text for text in texts)
    kept = {"print": "the token is ", "raise": "no good: ", "exit": "gone with ", "all": "still "}
    assert any(f"{kept.get(how, '')}{MASK}" in text for text in texts)


def test_an_event_may_be_named_as_a_contract_names_things(place: Place) -> None:
    """An event's own keys are hidden from, though a contract has keys of the same names."""
    for contract in ("murli", "response"):
        done = place.call("flag", SECRET, "leak", "words", MURLI_CONTRACT=contract)
        first = done.lines[0]
        assert first == {"status": MASK, "code": MASK, "error": {"phase": MASK}}


@pytest.mark.parametrize("secret", ["false", "status", "error", "2026", '": "'])
def test_a_secret_like_a_word_of_the_contract_breaks_nothing(place: Place, secret: str) -> None:
    """A secret that is spelled like part of an answer leaves every document readable."""
    failed = place.call("variable", secret, "leak", "raise")
    assert (failed.error["status"], failed.error["recoverable"]) == ("error", False)
    assert failed.error["message"] == f"no good: {MASK}"
    done = place.call("variable", secret, "leak", "log")
    assert done.document["status"] == "ok"
    entries = [json.loads(line) for line in done.err.splitlines()]
    assert [entry["level"] for entry in entries] == ["info", "progress"]
    assert [entry["msg"] for entry in entries] == [f"the token is {MASK}", f"still {MASK}"]


def test_a_short_secret_is_hidden_where_it_is_all_there_is(place: Place) -> None:
    """Fewer than four characters are hidden as a whole value, and do not tear other words."""
    done = place.call("flag", "ok", "leak", "warn")
    assert (done.code, done.document["status"]) == (0, "ok")
    assert done.document["message"] == "It is ok"
    assert done.document["result"] == {"token": MASK, "n": [MASK], MASK: 1}


def test_a_command_whose_purpose_it_is_shows_the_secret(place: Place) -> None:
    """A command that declares it reveals secrets answers with it, to agents and people."""
    assert place.call("flag", SECRET, "reveal").document["result"] == {"token": SECRET}
    assert place.call("profile", SECRET, "reveal", "--output", "text").out == f"Token: {SECRET}\n"
    told = place.call("file:", SECRET, "reveal", "--output", "ndjson", MURLI_CONTRACT="response")
    assert told.document["data"] == {"token": SECRET}
    assert place.call("variable", SECRET, "reveal", terminal=True).out == f"Token: {SECRET}\n"


def test_a_revealing_command_reveals_in_its_answer_alone(place: Place) -> None:
    """What is wrong with a call of such a command is told without the secret."""
    done = place.call("flag", SECRET, "reveal", SECRET)
    assert (done.code, is_read(SECRET, done)) == (1, False)


# -- what is wrong with a call --------------------------------------------------------------------

STRICT = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--pin", type=int)
parser.add_argument("--kind", choices=["aaaa", "bbbb"])
parser.add_argument("--key")
parser.add_argument("--other", type=int)
parser.add_argument("word", nargs="?")
murli.annotate(parser, NOTES)
murli.enable(parser)
given = vars(parser.parse_args())
murli.get_writer().write_success("", given)
""",
    "click": """
import click, murli
@click.command()
@click.option("--pin", type=int)
@click.option("--kind", type=click.Choice(["aaaa", "bbbb"]))
@click.option("--key")
@click.option("--other", type=int)
@click.argument("word", required=False)
def t(**given):
    murli.get_writer().write_success("", given)
murli.annotate(t, NOTES)
murli.enable(t, name="t")
t()
""",
    "typer": """
import enum, typer, murli
class Kind(str, enum.Enum):
    a = "aaaa"
    b = "bbbb"
app = typer.Typer()
@app.command()
def t(pin: int = None, kind: Kind = None, key: str = None, other: int = None,
      word: str = typer.Argument(None)):
    murli.get_writer().write_success("", dict(pin=pin, kind=kind, key=key, other=other, word=word))
murli.annotate(t, NOTES)
murli.enable(app, name="t")
app()
""",
}
STRICT_HEAD = """
import murli
KEY = murli.FlagAnnotation(sensitive=True, profileable=True, env="T_KEY", pattern="^k")
KEY_NOTES = murli.Metadata(flag_annotations={"key": KEY})
NOTES = murli.Metadata(flag_annotations={
    "pin": murli.FlagAnnotation(sensitive=True, profileable=True, env="T_PIN"),
    "kind": murli.FlagAnnotation(sensitive=True, profileable=True, env="T_KIND"),
    "key": KEY,
})
"""
LONG = "-".join(f"part{number:03}" for number in range(60))


@pytest.fixture(params=ADAPTERS)
def strict(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    return script(tmp_path, STRICT_HEAD + STRICT[request.param])


@pytest.mark.parametrize("secret", [f'it\'s "so"\\n {SECRET}\té', LONG], ids=["odd", "long"])
def test_a_usage_error_does_not_quote_a_secret(strict: list[str], secret: str) -> None:
    """A bad, repeated or misplaced secret is refused without a part of it."""
    calls = [
        ["--pin", secret],
        [f"--pin={secret}"],
        ["--kind", secret],
        ["--key", secret],
        ["--key", secret, "--bogus"],
        [f"--key={secret}", f"--bogus={secret}"],
        ["--key", secret, "--key", f"{secret}2"],
        ["--key", secret, "--other", secret],
        ["--key", secret, "word", secret],
        ["--key", secret, "--output", "yaml"],
    ]
    pieces = [secret[start : start + 12] for start in range(0, max(len(secret) - 11, 1), 12)]
    for words in calls:
        done = run(strict, *words)
        assert done.code == 1, (words, done)
        assert not [piece for piece in pieces if is_read(piece, done)], (words, done)


def test_a_bad_secret_from_elsewhere_is_not_quoted(strict: list[str], tmp_path: Path) -> None:
    """A bad secret from a variable or a profile is refused without a part of it."""
    secret = LONG
    lay_out(
        tmp_path,
        {
            ".t/profiles.json": json.dumps(
                {"profiles": {name: {"flags": {name: secret}} for name in ("pin", "kind", "key")}}
            )
        },
    )
    for name in ("pin", "kind", "key"):
        env = environment(HOME=str(tmp_path), **{f"T_{name.upper()}": secret})
        told = run(strict, env=env)
        assert (told.code, told.error["field"]) == (1, name)
        stored = run(strict, "--profile", name, env=environment(HOME=str(tmp_path)))
        assert f'profile "{name}"' in stored.error["message"]
        saved = run(
            strict, "profile", "save", "q", f"{name}={secret}", "--allow-plaintext", env=env
        )
        assert saved.code == 1
        for done in (told, stored, saved):
            assert not is_read(secret[:12], done), done


@pytest.mark.parametrize(
    "words",
    [
        ["--token", SECRET, SECRET],
        [SECRET, "--token", SECRET],
        ["run", "--replicas", SECRET, "--token", SECRET],
        ["--token", SECRET, "describe", SECRET],
        ["profile", "save", "p", "token", SECRET],
    ],
    ids=lambda words: " ".join(words).replace(SECRET, "S"),
)
def test_a_misplaced_secret_is_not_quoted(place: Place, words: list[str]) -> None:
    """A secret that also stands where it does not belong is refused without being quoted."""
    done = run(place.argv, *words, env=environment(HOME=str(place.folder)))
    assert (done.code, is_read(SECRET, done)) == (1, False)


def test_what_a_secret_is_converted_to_is_hidden(strict: list[str]) -> None:
    """The value that a secret becomes is as secret as its spelling."""
    done = run(strict, "--pin", "0012345678")
    assert (done.code, done.document["result"]["pin"]) == (0, MASK)


DEFAULTS = {
    "argparse": """
import argparse, os, murli
formatter = argparse.ArgumentDefaultsHelpFormatter
parser = argparse.ArgumentParser(prog="t", formatter_class=formatter)
parser.add_argument("--key", default=os.environ["SHOWN"], help="a key like %(default)s")
murli.annotate(parser, KEY_NOTES)
murli.enable(parser)
key = parser.parse_args().key
murli.get_writer().write_success(f"{key}", [key])
""",
    "click": """
import click, os, murli
@click.command()
@click.option("--key", default=os.environ["SHOWN"], show_default=True)
def t(key):
    murli.get_writer().write_success(f"{key}", [key])
murli.annotate(t, KEY_NOTES)
murli.enable(t, name="t")
t()
""",
    "typer": """
import os, typer, murli
app = typer.Typer()
@app.command()
def t(key: str = typer.Option(os.environ["SHOWN"], show_default=True)):
    murli.get_writer().write_success(f"{key}", [key])
murli.annotate(t, KEY_NOTES)
murli.enable(app, name="t")
app()
""",
}


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("words", ["", "--schema", "describe", "--help", "--bogus"])
def test_a_secret_default_is_never_told(tmp_path: Path, adapter: str, words: str) -> None:
    """The default of a secret flag is in no answer, schema, help or error."""
    argv = script(tmp_path, STRICT_HEAD + DEFAULTS[adapter])
    for do in (run, run_at_terminal):
        done = do(argv, *words.split(), env=environment(SHOWN=SECRET))
        assert (done.code == 0) == (words != "--bogus")
        assert not is_read(SECRET, done), done


@pytest.mark.adapters("argparse")
@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ("env:NOT_SET_HERE", "the environment variable NOT_SET_HERE, which is not set"),
        ("file:/none/such", "the file /none/such, which cannot be read"),
        ("file:relative", "not a well-formed"),
        ("env:1", "not a well-formed"),
        ("keyring:", "the keyring, which has no backend here"),
    ],
)
def test_a_secret_that_cannot_be_had_is_an_error(place: Place, stored: str, reason: str) -> None:
    """A reference that leads nowhere ends the call with the flag and the reason."""
    place.call("profile", stored, "purge")
    backend = "keyring.backends.fail.Keyring"
    env = environment(HOME=str(place.folder), PYTHON_KEYRING_BACKEND=backend)
    done = run(place.argv, "reveal", "--profile", "p", env=env)
    assert (done.code, done.out) == (1, "")
    assert done.error["field"] == "token"
    assert reason in done.error["message"]
    given = run(place.argv, "--token", SECRET, "reveal", "--profile", "p", env=env)
    assert given.document["result"] == {"token": SECRET}


# -- what the profile commands say ----------------------------------------------------------------


@pytest.mark.adapters("argparse")
def test_revealing_is_for_a_person_at_a_terminal(place: Place) -> None:
    """In a pipe, or for an agent, show --reveal is refused and shows nothing."""
    place.call("profile", SECRET, "purge")
    env = environment(HOME=str(place.folder))
    show = ["profile", "show", "p", "--reveal"]
    told = [run(place.argv, *show, *more, env=env) for more in ([], ["--output", "text"])]
    told += [
        run_at_terminal(place.argv, *show, *more, env=env)
        for more in (["--agent"], ["--output", "json"])
    ]
    assert [(done.code, done.out, is_read(SECRET, done)) for done in told] == [(6, "", False)] * 4
    done = run_at_terminal(place.argv, *show, env=env)
    assert (done.code, done.out) == (0, f"p\n  token = {SECRET}\n")


@pytest.mark.adapters("argparse")
def test_a_secret_is_kept_only_with_permission(place: Place) -> None:
    """Without a keyring a secret is refused with the ways out, and kept with --allow-plaintext."""
    backend = "keyring.backends.fail.Keyring"
    env = environment(HOME=str(place.folder), PYTHON_KEYRING_BACKEND=backend)
    store = place.folder / ".deploy" / "profiles.json"
    for words in (["profile", "save", "p", f"token={SECRET}"],
                  ["--token", SECRET, "profile", "save", "p"],
                  ["profile", "save", "p", "--token", SECRET]):  # fmt: skip
        done = run(place.argv, *words, env=env)
        assert (done.code, done.error["field"], is_read(SECRET, done)) == (1, "token", False)
        for way in ("env:NAME", "file:PATH", "murli[keyring]", "--allow-plaintext"):
            assert way in done.error["suggestion"]
        assert not store.exists()
        done = run(place.argv, *words, "--allow-plaintext", env=env)
        assert done.document["result"]["flags"] == {"token": MASK}
        assert json.loads(store.read_text())["profiles"]["p"]["flags"] == {"token": SECRET}
        store.unlink()


@pytest.mark.adapters("argparse")
@pytest.mark.parametrize("reference", ["env:A_TOKEN", "file:/some/token", "file:~/token"])
def test_a_reference_is_kept_and_shown_as_it_is(place: Place, reference: str) -> None:
    """Saying where a secret is needs no permission, and is no secret."""
    env = environment(HOME=str(place.folder), A_TOKEN=SECRET)
    saved = run(place.argv, "profile", "save", "p", f"token={reference}", env=env)
    assert saved.document["result"]["flags"] == {"token": reference}
    shown = run(place.argv, "profile", "show", "p", env=env)
    assert shown.document["result"]["flags"] == {"token": reference}
    assert not is_read(SECRET, shown)
    person = run_at_terminal(place.argv, "profile", "show", "p", env=env)
    assert person.out == f"p\n  token = {reference}\n"


@pytest.mark.adapters("argparse")
@pytest.mark.parametrize("reference", ["env:", "env:1A", "env:A B", "file:token", "file:~root/x"])
def test_a_malformed_reference_is_refused_without_it(place: Place, reference: str) -> None:
    """What only begins like a reference may be a secret, and is not repeated."""
    env = environment(HOME=str(place.folder))
    words = ["profile", "save", "p", f"token={reference}", "--allow-plaintext"]
    done = run(place.argv, *words, env=env)
    assert (done.code, done.error["field"]) == (1, "token")
    where = reference.partition(":")[2]
    assert not where or f"{reference}" not in done.err.replace("env:NAME", "")


# -- the keyring ----------------------------------------------------------------------------------


class Ring:
    """A tool on a machine with a keyring."""

    def __init__(self, argv: list[str], folder: Path) -> None:
        self.argv = argv
        self.folder = lay_out(folder, {"ring.py": KEYRING})
        self.env = environment(
            HOME=str(folder),
            PYTHONPATH=str(folder),
            PYTHON_KEYRING_BACKEND="ring.FileRing",
            XDG_CONFIG_HOME=str(folder),
        )

    def run(self, *words: str) -> Any:
        done = run(self.argv, *words, env=self.env)
        assert done.code == 0, done
        assert not is_read(SECRET, done) or "reveal" in words
        return done.document["result"]

    @property
    def entries(self) -> Any:
        path = self.folder / "ring.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def written(self) -> bytes:
        """Give all that is in the tool's folder."""
        return b"".join(path.read_bytes() for path in (self.folder / ".deploy").iterdir())


@pytest.fixture
def ring(deploy: list[str], tmp_path: Path) -> Ring:
    return Ring(deploy, tmp_path)


@pytest.mark.adapters("argparse")
def test_the_keyring_keeps_a_secret(ring: Ring) -> None:
    """A secret is kept in the keyring, used, never shown, and deleted with its profile."""
    saved = ring.run("profile", "save", "p", f"token={SECRET}", "region=us")
    assert saved["flags"] == {"token": MASK, "region": "us"}
    assert ring.entries == {"murli:deploy p/token": SECRET}
    assert SECRET.encode() not in ring.written()
    assert ring.run("reveal", "--profile", "p") == {"token": SECRET}
    ring.run("profile", "use", "p")
    used = ring.run("purge", "--yes")
    assert (used["token"], used["region"]) == (MASK, "us")
    assert ring.run("profile", "show", "p")["flags"] == {"token": MASK, "region": "us"}
    shown = run_at_terminal(ring.argv, "profile", "show", "p", "--reveal", env=ring.env)
    assert shown.out == f"p\n  region = us\n  token = {SECRET}\n"
    ring.run("profile", "delete", "p", "--yes")
    assert ring.entries == {}
    assert SECRET.encode() not in ring.written()


@pytest.mark.adapters("argparse")
def test_the_keyring_is_kept_in_step(ring: Ring) -> None:
    """Merging keeps an entry, replacing changes it, and leaving the secret out removes it."""
    ring.run("profile", "save", "p", f"token={SECRET}", "--allow-plaintext")
    assert SECRET.encode() not in ring.written()  # a permission, no wish
    ring.run("profile", "save", "p", "--merge", "region=us")
    assert ring.entries == {"murli:deploy p/token": SECRET}
    ring.run("--token", f"{SECRET}-new", "profile", "save", "p")
    assert ring.entries == {"murli:deploy p/token": f"{SECRET}-new"}
    ring.run("profile", "save", "q", f"token={SECRET}")
    ring.run("profile", "save", "p", "token=env:A_TOKEN")
    assert ring.entries == {"murli:deploy q/token": SECRET}
    ring.run("profile", "save", "q", "region=us")
    assert ring.entries == {}


@given(secret=secrets_of_any_kind)
@settings(ENOUGH, max_examples=6 * FACTOR)
@pytest.mark.properties
def test_the_keyring_keeps_any_secret(secret: str) -> None:
    """Any secret comes back from the keyring as it was, and is in no file of the tool's."""
    assume(usable("profile", "argparse", secret))
    with tempfile.TemporaryDirectory() as folder:
        ring = Ring(tool("deploy_argparse"), Path(folder))
        ring.run("profile", "save", "p", f"token={secret}")
        assert list(ring.entries.values()) == [secret]
        assert json.loads(ring.written()) == {"profiles": {"p": {"flags": {"token": "keyring:"}}}}
        assert ring.run("reveal", "--profile", "p") == {"token": clean(secret)}
