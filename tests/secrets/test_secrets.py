"""Which values are secret though nobody declared them, and that they stay so until the end."""

from __future__ import annotations

import base64
import json
import os
import signal
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import ADAPTERS, Run, environment, run, run_at_terminal, script
from murli.contracts import CONTRACT_NAMES
from murli.secrets.matching import Matcher
from murli.secrets.names import is_distinct, is_secret_name
from murli.secrets.redaction import MASK, Secrets

pytestmark = [pytest.mark.adapters("argparse", "click"), pytest.mark.warm]

SECRET = "hunter2-Zq_9x"
KEY = "/abc+def/0123456789xyzXYZ"
PEM = "\n".join(
    [
        "-----BEGIN PRIVATE KEY-----",
        *(base64.b64encode(bytes([n]) * 8 + os.urandom(40)).decode() for n in range(50)),
        "-----END PRIVATE KEY-----\n",
    ]
)

# What a handler does with all that it knows; `given` is what the options gave it.
CARELESS = """
import atexit, base64, os, pathlib, sys, threading
over, answered = [], threading.Event()
atexit.register(lambda: print("over", *over))
atexit.register(lambda: print("over", *over, file=sys.stderr))

def late(told):
    answered.wait()
    print("late", told)
    print("late", told, file=sys.stderr)

def leak(given):
    writer = murli.get_writer()
    values = [each for each in (*given.values(), *map(os.environ.get, SHOWN)) if each is not None]
    told = " ".join(map(str, values))
    print("log", told, file=sys.stderr)
    os.write(2, f"written {told}\\n".encode())
    os.write(os.dup(2), f"copied {told}\\n".encode())
    with os.fdopen(os.dup(2), "w") as copy:
        copy.write(f"opened {told}\\n")
    for letter in f"split {told}\\n":
        sys.stderr.write(letter)
        sys.stderr.flush()
    for letter in f"single {told}\\n".encode():
        os.write(2, bytes([letter]))
    for each in map(str, values):
        os.write(2, f"torn {each[:4]}".encode())
        os.writev(os.dup(2), [each[4:6].encode(), each[6:8].encode()])
        print(each[8:], file=sys.stderr)
    pathlib.Path("/dev/stderr").open("w").write(f"dropped {told}\\n")
    with open(__file__ + ".told", "w+") as file:
        file.write(f"sent {told}\\n")
        file.flush()
        os.sendfile(2, file.fileno(), 0, 10_000)
    sys.stderr.write(f"end {told[:3]}")
    over.append(told)
    if "click" in sys.modules or "typer" in sys.modules:
        thread = threading.Thread(target=late, args=(told,), daemon=True)
        thread.start()
        atexit.register(thread.join)  # one that prints for ever may abort Python as it ends
        atexit.register(answered.set)
    writer.log(f"told {told}")
    writer.write_success(f"It is {told}.", {
        "values": values, "name": "x", "json": True, "n": 1,
        "bytes": [str(each).encode() for each in values],
        "inside": f"user:{told}".encode(),
        "base64": [base64.b64encode(str(each).encode()).decode() for each in values],
        "hex": [str(each).encode().hex() for each in values],
    })
"""
FRONTS = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("-v", action="store_true")
parser.add_argument("-p", "--password")
parser.add_argument("--auth-token", nargs=2)
parser.add_argument("--pin", type=int)
parser.add_argument("--token-count")
parser.add_argument("--secret", action="store_true")
parser.add_argument("word", nargs="?")
murli.annotate(parser, NOTES)
murli.enable(parser)
leak(vars(parser.parse_args()))
""",
    "click": """
import click, murli
@click.command()
@click.option("-v", is_flag=True)
@click.option("-p", "--password")
@click.option("--auth-token", nargs=2)
@click.option("--pin", type=int)
@click.option("--token-count")
@click.option("--secret", is_flag=True)
@click.argument("word", required=False)
def t(**given):
    leak(given)
murli.annotate(t, NOTES)
murli.enable(t, name="t")
t()
""",
    "typer": """
import typer, murli
from typing import Tuple
app = typer.Typer()
@app.command()
def t(v: bool = typer.Option(False, "-v"), password: str = typer.Option(None, "-p", "--password"),
      auth_token: Tuple[str, str] = ("-", "-"), pin: int = None, token_count: str = None,
      secret: bool = typer.Option(False, "--secret"), word: str = typer.Argument(None)):
    leak(dict(v=v, password=password, auth_token=auth_token, pin=pin, token_count=token_count,
              secret=secret, word=word))
murli.annotate(t, NOTES)
murli.enable(app, name="t")
app()
""",
}
HEAD = f"""
import murli
SHOWN = ("A_TOKEN", "db_password", "PATH_TOKEN")
NOTES = murli.Metadata(flag_annotations={{"pin": murli.FlagAnnotation(sensitive=True)}})
{CARELESS}
"""


@pytest.fixture(params=ADAPTERS)
def careless(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    return script(tmp_path, HEAD + FRONTS[request.param])


def assert_hidden(done: Run, *secrets: str) -> None:
    """Fail if one of *secrets* can be read, as it is or in what is base64 or hex."""
    assert done.code == 0, done
    everything = (done.stdout + done.stderr).replace(b"\0", b"").decode(errors="replace")
    for secret in secrets:
        assert secret not in everything, done
        assert secret.encode().hex() not in everything, done
        for start in range(3):  # wherever it stands in what was encoded
            encoded = base64.b64encode(b"x" * start + secret.encode() + b"xxx").decode()
            assert encoded[4 : (start + len(secret)) * 8 // 6] not in everything, done


# -- names -----------------------------------------------------------------------------------------

SECRET_NAMES = """
--password --passwd --passphrase --token --api-key --secret --client-secret --access-key --pass
--private-key --auth-token --db-password --secret-access-key --apiKey --clientSecret --api_key
--privateKey --pass-phrase --passcode --db-pw --token2 BACKEND_TOKEN DEVELOPER_TOKEN API_KEY1
TOKEN PASSWORD PGPASSWORD API_KEY SECRET_KEY STRIPE_SECRET_KEY AWS_SECRET_ACCESS_KEY github_token
MYSQL_PWD DB_PASS SSHPASS TOKEN_2 SECRET_KEY_BASE SIGNING_KEY AZURE_CLIENT_SECRET password
"""
OTHER_NAMES = """
--token-count --secret-name --password-file --key --page-token --next-page-token --pageToken
--max-tokens --tokens --public-key --sort-key --auth --author --compass --token-url --secrets
--idempotency-key PWD OLDPWD AWS_ACCESS_KEY_ID TOKEN_TTL SSH_AUTH_SOCK TOKENIZERS_PARALLELISM
GNOME_KEYRING_CONTROL SSH_ASKPASS PASSWORD_STORE_DIR BYPASS KEYTIMEOUT PATH KEYBOARD MAX_TOKENS
--pass-through --pass-rate --first-pass --token-cost --eos-token --secret-arn --token-bucket
SECRET_MANAGER_PROJECT PASSWORD_HASHERS ACCESS_TOKEN_EXPIRE
"""


def test_a_name_says_what_is_secret() -> None:
    """Names are read word by word, in any case, and their last word may say it is no secret."""
    assert [name for name in SECRET_NAMES.split() if not is_secret_name(name)] == []
    assert [name for name in OTHER_NAMES.split() if is_secret_name(name)] == []


def test_a_value_must_be_one_that_can_be_recognised() -> None:
    """Long or mixed values are hidden wherever they stand; usual words and short ones are not."""
    assert all(map(is_distinct, ["hunter2", "swordfish", "123456", "s3cret", "Tr0ub4dor&3"]))
    assert not any(map(is_distinct, ["a", "true", "json", "name", "postgres", "customer", "12345"]))
    secrets = Secrets()
    secrets.add(["swordfish", "8080", "s3cret-1", "s3cret-2", "1234567"], named=True)
    secrets.add(["0123", "1.50", "-777"])
    result = {"swordfish": 8080, "s3cret-1": "8080", "s3cret-2": "a swordfish", "customer": 1234567}
    assert secrets.scrub_value(result) == {
        # A word may be the name of a field, a short number any; no field takes another's place.
        "swordfish": 8080, MASK: MASK, f"{MASK} 2": f"a {MASK}", "customer": MASK,
    }  # fmt: skip
    assert secrets.scrub_value([123, "0123", 1.5, -777, 777, 12]) == [MASK] * 4 + [777, 12]
    assert secrets.scrub_value(["1,234,567 of 1_234_567"]) == [f"{MASK} of {MASK}"]


def test_an_encoded_secret_leaves_no_tail() -> None:
    """What base64 makes of a secret is hidden to its last character, whatever stands before it."""
    for secret in ("abcdefg-123", "abcdefg-1234", "abcdefg-12345"):
        secrets = Secrets()
        secrets.add(secret)
        for before in (b"", b"x", b"xx"):
            encoded = base64.b64encode(before + secret.encode()).decode()
            kept = encoded[: (len(before) * 8 + 5) // 6]
            assert secrets.scrub(encoded) == kept + MASK
            assert secrets.scrub(encoded.rstrip("=")) == kept + MASK


def test_a_variable_of_an_access_token(tmp_path: Path) -> None:
    """A value that looks generated is hidden in a variable whose name ends in PAT."""
    source = (
        "import click, murli, os\n@click.command()\ndef x(): return os.environ['GH_PAT']\n"
        "murli.enable(x)\nx()\n"
    )
    env = environment(GH_PAT="ghp0A1b2C3d4E5f6G7h8")
    assert run(script(tmp_path, source), env=env).document["result"] == MASK
    assert (
        run(script(tmp_path, source), env=environment(GH_PAT="*.py")).document["result"] == "*.py"
    )


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize(
    ("address", "secret"),
    [
        ("postgres://app:hunter2-Zq_9x@db.example/orders?sslmode=require", SECRET),
        ("redis://:hunter2-Zq_9x@cache:6379/0", SECRET),
        ("amqp://app:hunter2%2DZq%5F9x@queue", SECRET),
        ("https://ghp0A1b2C3d4E5f6G7h8@example.org/x.git", "ghp0A1b2C3d4E5f6G7h8"),
    ],
)
def test_a_password_in_an_address_is_hidden(careless: list[str], address: str, secret: str) -> None:
    """Whatever the variable is called; the rest of the address is shown."""
    done = run(careless, secret, env=environment(PATH_TOKEN="true", DATABASE_URL=address))
    assert_hidden(done, secret)
    env = environment(DATABASE_URL=address)
    shown = run(script(Path(careless[-1]).parent, SHOWING), env=env).document["result"]
    assert (secret in shown, MASK in shown) == (False, True)
    assert shown.startswith(address.partition("://")[0])


@pytest.mark.adapters("argparse", "click", "typer")
def test_a_password_in_a_typed_address_is_hidden(careless: list[str]) -> None:
    """On the command line as in a variable, as an argument or the value of an option."""
    address = f"postgres://app:{SECRET}@db.example/orders"
    for words in ([address], ["--token-count", address], [f"--token-count={address}", SECRET]):
        done = run(careless, *words, env=environment())
        assert_hidden(done, SECRET)
        assert "db.example" in done.out


def test_settings_that_a_group_reads_hold_secrets(tmp_path: Path) -> None:
    """A variable that the function of a group sets is like one that was there before."""
    done = run(script(tmp_path, READING_SETTINGS), "show")
    assert done.document["result"] == f"{MASK} and {MASK}"


READING_SETTINGS = f"""
import click, murli, os
@click.group()
def cli():
    os.environ["API_TOKEN"] = "{SECRET}"
    os.environ["DATABASE_URL"] = "postgres://app:other-Zq_9x@db/orders"
@cli.command()
def show(): return "{SECRET} and other-Zq_9x"
murli.enable(cli)
cli()
"""


def test_an_address_that_keeps_no_secret_destroys_nothing(tmp_path: Path) -> None:
    """A password that everybody knows, or that is the user's name too, is shown."""
    for login in ("riffle:riffle", "app:postgres", "app:orders", "app:$PASSWORD", "app", "a:b"):
        env = environment(DATABASE_URL=f"postgres://{login}@db/orders")
        done = run(script(tmp_path, SHOWING), env=env)
        assert done.document["result"] == f"postgres://{login}@db/orders"


SHOWING = """
import click, murli, os
@click.command()
def show(): return os.environ["DATABASE_URL"]
murli.enable(show)
show()
"""


# -- one rule under all contracts ------------------------------------------------------------------


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("contract", CONTRACT_NAMES)
def test_what_nobody_declared_is_hidden_to_the_end(careless: list[str], contract: str) -> None:
    """Under every contract, until the process is gone and whichever way out is taken."""
    env = environment(MURLI_CONTRACT=contract, A_TOKEN=KEY, db_password="s3cr3t-pass")
    words = ["-vphunter2222", "--auth-token", "first-9876", "second-9876", "--pin", "123"]
    done = run(careless, *words, "--token-count", "4711", "--secret", "visible-word", env=env)
    assert_hidden(done, KEY, "s3cr3t-pass", "hunter2222", "first-9876", "second-9876")
    result = done.document["result" if contract == "murli" else "data"]
    assert 123 not in result["values"]
    assert {"4711", "visible-word"} <= {str(each) for each in result["values"]}
    assert done.err.count("over") == 2
    assert "late" in done.err or "argparse" in Path(careless[-1]).read_text()
    assert MASK in done.err
    assert not {"log", "written", "copied", "opened", "split", "single", "torn", "dropped", "sent",
                "end"} - set(done.stderr.decode(errors="replace").split())  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["--output", "text"],
        ["--output", "ndjson"],
        ["--contract", "agent-spec-2", "--format", "plain"],
        ["--contract", "agent-spec-2", "--format", "tsv"],
    ],
    ids=" ".join,
)
def test_no_format_switches_redaction_off(careless: list[str], words: list[str]) -> None:
    """On a pipe an environment's secrets are hidden in text as in documents."""
    env = environment(A_TOKEN=KEY, db_password="s3cr3t-pass")
    assert_hidden(run(careless, *words, env=env), KEY, "s3cr3t-pass")
    assert_hidden(run(careless, env={**env, "MURLI_MODE": "human"}), KEY, "s3cr3t-pass")


RETURNING = """
import click, murli, os, sys
@click.command()
@click.argument("how")
@click.option("--password")
def t(how, password):
    row = {"name": password, "data": password.encode(), "env": os.environ["A_TOKEN"]}
    if how == "rows":
        return [row, row]
    if how == "stream":
        return iter([row])
    if how == "show":
        return murli.get_writer().write_success("It is", [row], show=True)
    return row
murli.enable(t, name="t")
"""


@pytest.mark.parametrize("how", ["one", "rows", "stream", "show"])
def test_what_is_drawn_as_text_holds_no_part_of_a_secret(tmp_path: Path, how: str) -> None:
    """A value is scrubbed before it is laid out: no column shows its beginning, or its length."""
    argv = script(tmp_path, f"{RETURNING}t()\n")
    env = environment(A_TOKEN=KEY, COLUMNS="44")
    for words in (["--output", "text"], ["--contract", "agent-spec-2", "--format", "plain"]):
        done = run(argv, how, "--password", SECRET, *words, env=env)
        assert_hidden(done, SECRET, KEY, SECRET[:5], KEY[:5])
        assert MASK[:5] in done.out


@pytest.mark.adapters("argparse", "click", "typer")
def test_a_person_sees_their_own_environment(careless: list[str]) -> None:
    """At a terminal variables are shown as before, unless the reader says that it is an agent."""
    env = environment(A_TOKEN=KEY)
    assert KEY in run_at_terminal(careless, env=env).out
    for words in (["--agent"], ["--agent", "--output", "text"]):
        assert KEY not in run_at_terminal(careless, *words, env=env).out
    assert "hunter2222" not in run_at_terminal(careless, "--password", "hunter2222", env=env).out


def test_a_path_that_exists_is_no_secret(careless: list[str], tmp_path: Path) -> None:
    """A value that begins like a path is hidden unless something is there."""
    env = environment(PATH_TOKEN=str(tmp_path), A_TOKEN="/none/such/place", HOME=str(tmp_path))
    done = run(careless, env=env)
    assert str(tmp_path) in done.document["result"]["values"]
    assert_hidden(done, "/none/such/place")
    assert_hidden(run(careless, env={**env, "A_TOKEN": "~abc/9876543"}), "~abc/9876543")


@pytest.mark.parametrize("value", ["1", "true", "name"])
def test_a_usual_value_destroys_nothing(careless: list[str], value: str) -> None:
    """A value that every output has changes no result, be it typed or in the environment."""
    plain = run(careless, value, env=environment()).document
    for words, variables in (([], {"A_TOKEN": value}), (["--password", value], {})):
        done = run(careless, value, *words, env=environment(**variables)).document
        assert done["result"]["name"] == "x"
        assert done["result"].keys() == plain["result"].keys()
        assert done["result"]["values"].count(value) == 2
        assert MASK not in json.dumps(done)


def test_a_short_value_is_hidden_where_it_is_all(careless: list[str]) -> None:
    """Four or five characters are hidden as a whole value, and no other word is torn apart."""
    done = run(careless, "opened", "--password", "open", env=environment())
    values = done.document["result"]["values"]
    assert (values.count(MASK), values.count("opened")) == (1, 1)


def test_a_number_is_hidden_as_a_number(careless: list[str]) -> None:
    """A declared secret of three digits is not a number of the result; one of two may be any."""
    for pin, hidden in (("123", True), ("12345", True), ("12", False)):
        values = run(careless, "--pin", pin).document["result"]["values"]
        assert (int(pin) not in values) == hidden
        assert (MASK in values) == hidden


INSIDE = """
import os, sys
import click, murli
@click.command()
@click.option("--password")
def t(password):
    print(password, file=sys.stderr)
    if password:
        raise SystemExit(3)
murli.enable(t, name="t")
before = os.write, open
try:
    t.main(sys.argv[1:])
except SystemExit:
    pass
left = [name for name in ("stdout", "stderr") if "write" in getattr(sys, name).buffer.__dict__]
print("left", left, before == (os.write, open))
"""


@pytest.mark.parametrize("contract", CONTRACT_NAMES)
@pytest.mark.parametrize("words", [["--help"], [], ["--password", SECRET]], ids=len)
@pytest.mark.parametrize("known", [{}, {"T_TOKEN": KEY}], ids=["later", "before"])
def test_a_program_that_goes_on_has_its_streams(
    tmp_path: Path, contract: str, words: list[str], known: dict[str, str]
) -> None:
    """Behind a call inside a program nothing is watched, whatever was known when it began."""
    argv = script(tmp_path, INSIDE)
    done = run(argv, *words, env=environment(MURLI_CONTRACT=contract, **known))
    assert done.stdout.decode().splitlines()[-1] == "left [] True", done
    assert SECRET.encode() not in done.stdout + done.stderr


LEFT_BEHIND = {
    "session": """
import argparse
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--password")
with murli.session(parser) as (given, writer):
    leave_behind(given.password)
""",
    "main": """
import click
@click.command()
@click.option("--password")
def t(password):
    leave_behind(password)
murli.enable(t, name="t")
t.main(sys.argv[1:])
""",
}
LEAVE_BEHIND = """
import atexit, murli, sys, threading
begun = threading.Event()
@atexit.register
def first():
    print("first", *told)
    sys.stderr.write(told[0][:5])
    sys.stderr.flush()
    sys.stderr.write(told[0][5:] + " last " + told[0][:4])
told = []
def on(secret):
    for _ in range(5000):
        print("on", secret)
        begun.set()
def leave_behind(secret):
    told.append(secret)
    print("in", secret)
    atexit.register(lambda: print("at exit", secret))
    if "thread" in sys.argv[0]:
        thread = threading.Thread(target=on, args=(secret,), daemon=True)
        thread.start()
        atexit.register(thread.join)  # one that prints for ever may abort Python as it ends
        begun.wait()
"""


@pytest.mark.parametrize("how", LEFT_BEHIND)
@pytest.mark.parametrize("name", ["alone.py", "thread.py"])
def test_what_a_call_leaves_behind_is_hidden(tmp_path: Path, how: str, name: str) -> None:
    """Threads and functions at exit tell no secret of a call that ended before its program."""
    argv = script(tmp_path, LEAVE_BEHIND + LEFT_BEHIND[how], name)
    for words in ([], ["--output", "text"]):
        done = run(argv, "--password", SECRET, *words)
        assert_hidden(done, SECRET)
        assert f"first {MASK}" in done.out + done.err
        assert f"at exit {MASK}" in done.out + done.err
        assert done.err.endswith(f"{MASK} last {SECRET[:4]}") or "thread" in name


def test_a_program_may_parse_often(tmp_path: Path) -> None:
    """A dialogue that parses each line has as many guards at its end as at its beginning."""
    source = f"""
import argparse, murli, os, sys
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--password")
murli.enable(parser)
for number in range(2000):
    given = parser.parse_args(["--password", f"{SECRET}-{{number}}"])
os.write(2, f"written {{given.password}} {{os.environ['A_TOKEN']}}\\n".encode())
print("printed", given.password, "{SECRET}-0", file=sys.stderr)
murli.get_writer().write_success("done")
"""
    done = run(script(tmp_path, source), env=environment(A_TOKEN=KEY))
    assert (done.code, done.document["message"]) == (0, "done")
    assert done.err == f"written {MASK} {MASK}\nprinted {MASK} {MASK}\n"


# -- calls that are told ---------------------------------------------------------------------------

MOVED = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
commands = parser.add_subparsers(dest="command", required=True)
new = commands.add_parser("fresh")
new.add_argument("-v", action="store_true")
new.add_argument("-t", "--token")
new.add_argument("--pair", nargs=2)
new.add_argument("--pin")
new.add_argument("--password")
murli.annotate(new, NOTES)
murli.redirect(parser, "stale", "fresh")
murli.enable(parser)
parser.parse_args()
""",
    "click": """
import click, murli
@click.group()
def t(): pass
@t.command()
@click.option("-v", is_flag=True)
@click.option("-t", "--token")
@click.option("--pair", nargs=2)
@click.option("--pin")
@click.option("--password")
def fresh(**given): pass
murli.annotate(fresh, NOTES)
murli.redirect(t, "stale", "fresh")
murli.enable(t, name="t")
t()
""",
}
MOVED_HEAD = """
import murli
NOTES = murli.Metadata(flag_annotations={
    name: murli.FlagAnnotation(sensitive=True) for name in ("token", "pair", "pin")})
"""


@pytest.mark.parametrize("adapter", MOVED)
def test_no_call_to_make_holds_a_secret(tmp_path: Path, adapter: str) -> None:
    """Redirects and corrections mask a secret however its option is spelled."""
    argv = script(tmp_path, MOVED_HEAD + MOVED[adapter])
    spellings = [
        [f"-vt{SECRET}"],
        ["-vt", SECRET],
        [f"-t{SECRET}"],
        [f"-t={SECRET}"],
        ["--pair", "first", SECRET],
        ["--tok", SECRET],
        [f"--tok={SECRET}"],
        [f"--token={SECRET}"],
        ["--password", SECRET],
        [f"--password={SECRET}"],
        ["--pasword", SECRET],
        [f"--api-key={SECRET}"],
    ]
    for words in spellings:
        moved = run(argv, "stale", *words)
        mistyped = run(argv, "frsh", *words, env=environment(MURLI_CONTRACT="agent-spec-2"))
        assert MASK in moved.error["suggestion"]
        assert mistyped.code != 0
        for done in (moved, mistyped):
            assert SECRET not in done.out + done.err, words
    for words in (["--pin", "12"], ["--pin=12"], ["-vt12"]):
        told = run(argv, "stale", *words).error["suggestion"]
        assert "12" not in told
        assert MASK in told


def test_an_option_that_nobody_knows_does_not_tell(tmp_path: Path) -> None:
    """Argparse quotes words it does not understand, without what follows a name of a secret."""
    argv = script(tmp_path, MOVED_HEAD + MOVED["argparse"])
    done = run(argv, "fresh", "--api-key", SECRET)
    assert done.code == 1
    assert SECRET not in done.out + done.err


def test_a_test_runner_is_told_no_secret(tmp_path: Path) -> None:
    """What is secret in the environment of a process is so for a call inside it, too."""
    source = f"""{RETURNING}
from click.testing import CliRunner
for words in ([], ["--output", "text"]):
    done = CliRunner().invoke(t, ["one", "--password", {SECRET!r}, *words])
    sys.stdout.write(done.output)
"""
    done = run(script(tmp_path, source), env=environment(A_TOKEN=KEY))
    assert_hidden(done, SECRET, KEY)
    assert done.out.count(MASK) == 4


def test_a_profile_shows_no_secret(tmp_path: Path) -> None:
    """A value is hidden in what is told about a profile also where only its name says so."""
    source = """
import click, murli
@click.command()
@click.option("--token")
@click.option("--region")
def t(token, region): pass
murli.annotate(t, murli.Metadata(flag_annotations={
    name: murli.FlagAnnotation(profileable=True) for name in ("token", "region")}))
murli.enable(t, name="t")
t()
"""
    argv, env = script(tmp_path, source), environment(HOME=str(tmp_path))
    for words in (["save", "p", f"token={SECRET}", "region=eu-1"], ["show", "p"]):
        done = run(argv, "profile", *words, env=env)
        assert_hidden(done, SECRET)
        assert done.document["result"]["flags"] == {"token": MASK, "region": "eu-1"}
    shown = run_at_terminal(argv, "profile", "show", "p", "--reveal", env=env)
    assert SECRET in shown.out


def test_a_kept_traceback_holds_no_secret(tmp_path: Path) -> None:
    """A traceback that outlives the call has neither typed secrets nor those of variables."""
    source = HEAD.replace("    writer.log(", "    raise ValueError(told)\n    writer.log(")
    argv = script(tmp_path, source + FRONTS["click"])
    for do in (run, run_at_terminal):
        state = tmp_path / do.__name__
        env = environment(A_TOKEN=KEY, XDG_STATE_HOME=str(state), HOME=str(tmp_path))
        do(argv, "--password", "hunter2222", env=env)
        (file,) = state.rglob("*.txt")
        text = file.read_text()
        assert "ValueError" in text
        assert not [secret for secret in (KEY, "hunter2222") if secret in text]


# -- cost ------------------------------------------------------------------------------------------

FEW = st.binary(max_size=60).map(lambda data: bytes(b"ab\n "[each % 4] for each in data))


@given(
    needles=st.lists(FEW.filter(bool), min_size=1, max_size=8),
    parts=st.lists(st.one_of(FEW, st.integers(0, 7)), max_size=12),
    much=st.booleans(),
)
@settings(deadline=None, max_examples=300)
def test_every_needle_is_found(needles: list[bytes], parts: list[Any], much: bool) -> None:
    """However many there are and wherever they stand, nothing of them is left, and all else is."""
    matcher = Matcher(needles)
    if much:
        matcher._choose()
    data = b"".join(
        each if isinstance(each, bytes) else needles[each % len(needles)] for each in parts
    )
    covered = {
        place
        for needle in needles
        for start in range(len(data))
        if data.startswith(needle, start)
        for place in range(start, start + len(needle))
    }
    found = {place for start, end in matcher.spans(data) for place in range(start, end)}
    replaced = matcher.replace(data, b"_")
    assert found <= covered
    assert not [needle for needle in needles if needle in replaced]
    assert matcher.replace(replaced, b"_") == replaced
    # What is held back for the next write is the longest end that begins a needle of one line.
    lines = [needle for needle in needles if b"\n" not in needle]
    ends = [n for n in range(1, len(replaced) + 1) for each in lines
            if len(each) > n and each.startswith(replaced[-n:])]  # fmt: skip
    assert matcher.begun(replaced) == (0 if replaced.endswith(b"\n") else max(ends, default=0))


def test_what_repeats_itself_is_held_from_its_beginning() -> None:
    """Of a long needle that begins like its own middle, the whole beginning is held."""
    needle = b"a" * 100 + b"b" * 20
    for size in (90, 100, 101, 131, 150, 1000):
        assert Matcher([needle]).begun(b"x" + b"a" * size) == min(size, 100)
    assert Matcher([needle]).begun(b"a" * 150 + b"bb") == 102


@pytest.mark.parametrize("count", [1, 3, 40])
def test_needles_are_found_by_sampling_too(count: int) -> None:
    """Needles of every length are found at every offset, by tables as one by one."""
    needles = [os.urandom(size).hex().encode() for size in (3, 4, 5, 7, 8, 11, 19, 40)] * 1
    needles += [os.urandom(12).hex().encode() for _ in range(count * 20)]
    matcher = Matcher(needles)
    matcher._choose()
    for needle in needles[:40]:
        for offset in range(40):
            data = b"." * offset + needle + b"."
            assert matcher.spans(data) == [(offset, offset + len(needle))]


def cpu_seconds(secrets: Secrets, text: str) -> float:
    secrets.scrub(text[: 1 << 20])  # tables are made once
    start = time.process_time()
    assert secrets.scrub(text) == text
    return time.process_time() - start


def test_the_cost_is_that_of_the_text() -> None:
    """Many lines and many secrets cost little more than few, and none much."""
    text = (
        "2026-01-01 12:00:00 INFO request handled in 17 ms by worker-3 path=/api/items\n" * 200_000
    )
    many = Secrets()
    many.add([base64.b64encode(os.urandom(24)).decode() for _ in range(100)], named=True)
    lines = [base64.b64encode(os.urandom(48)).decode() for _ in range(1500)]
    keys = [Secrets(), Secrets()]
    for secrets, secret in zip(keys, (PEM, "\n".join(lines)), strict=True):
        secrets.add(secret, named=True)
    start = time.process_time()
    for _ in range(2):
        json.loads(json.dumps(text))
    work = time.process_time() - start
    for secrets in (*keys, many):
        assert min(cpu_seconds(secrets, text) for _ in range(3)) < work


def test_signals_get_through(tmp_path: Path) -> None:
    """Taking secrets out of much text, many of them there, lets signals and threads have a turn."""
    secrets = Secrets()
    secrets.add(PEM, named=True)
    line = PEM.splitlines()[5]
    text = ("nothing to see here, and here is " + line + " in between\n") * 150_000
    moments: list[float] = []
    before = signal.signal(signal.SIGVTALRM, lambda *_: moments.append(time.process_time()))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.01, 0.01)
    try:
        scrubbed = secrets.scrub(text)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert line not in scrubbed
    assert scrubbed.count(MASK) == 150_000
    assert max(b - a for a, b in pairwise(moments)) < 0.5


MISPLACED = {
    "argparse": """
import argparse, murli
parser = argparse.ArgumentParser(prog="t")
login = parser.add_subparsers().add_parser("login")
login.add_argument("-t", "--token")
login.add_argument("--pair-secret", nargs=2)
murli.redirect(parser, "signin", "login")
murli.enable(parser)
parser.parse_args()
""",
    "click": """
import click, murli
@click.group()
def cli(): pass
@cli.command()
@click.option("-t", "--token")
@click.option("--pair-secret", nargs=2)
def login(token, pair_secret): pass
murli.redirect(cli, "signin", "login")
murli.enable(cli, name="t")
cli()
""",
}


@pytest.mark.parametrize("adapter", MISPLACED)
def test_a_secret_in_the_wrong_place_is_not_told(tmp_path: Path, adapter: str) -> None:
    """Options before the command they belong to, unknown letters and second values tell nothing."""
    argv = script(tmp_path, MISPLACED[adapter])
    for words in (
        ["--token", SECRET, "login"],
        ["-t", SECRET, "login"],
        [f"-t{SECRET}", "login"],
        ["login", f"-T{SECRET}"],
        ["signin", "--pair-secret=a", SECRET],
    ):
        done = run(argv, *words)
        assert done.code == 1, words
        assert SECRET not in done.out + done.err, words
