"""Redaction within one process: any text, any document, any stream, and what a host gets back."""

from __future__ import annotations

import copy
import csv
import html
import io
import json
import re
import shlex
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import murli
from harness import environment, run, run_at_terminal, script
from murli.contracts import CONTRACT_NAMES, Facts, respond_in
from murli.contracts.checks import check
from murli.formats.text import clean
from murli.outcome import Failure, Partial, Plan, Success
from murli.secrets.redaction import MASK, Secrets
from murli.secrets.streams import Flow, StreamGuard
from readable import (
    LETTERS,
    SECRET,
    is_read,
    secrets_of_any_kind,
    strings,
)

pytestmark = pytest.mark.adapters("argparse", "click")

MANY = settings(deadline=None, max_examples=400)
secret_lists = st.lists(secrets_of_any_kind, min_size=1, max_size=3)
# Few letters, so that secrets, their spellings and what is around them run into one another.
TIGHT = st.text("ab\"\\'\n %é", max_size=12)
tight_secrets = st.lists(st.text("ab\"\\'\n %é", min_size=4, max_size=8), min_size=1, max_size=3)
SPELLINGS = [str, repr, json.dumps, partial(json.dumps, ensure_ascii=False), clean]


def knowing(*secrets: str) -> Secrets:
    known = Secrets()
    known.add(list(secrets))
    return known


# -- in one process -------------------------------------------------------------------------------


@given(known=st.one_of(secret_lists, tight_secrets), around=st.lists(TIGHT), data=st.data())
@MANY
def test_no_text_holds_a_secret(known: list[str], around: list[str], data: st.DataObject) -> None:
    """Scrubbed text has no secret in it, in no usual spelling, and stays as it is."""
    spelled = st.builds(lambda spell, text: spell(text), st.sampled_from(SPELLINGS),
                        st.sampled_from(known))  # fmt: skip
    text = "".join(data.draw(st.lists(st.one_of(spelled, TIGHT), max_size=6))) + "".join(around)
    secrets = knowing(*known)
    scrubbed = secrets.scrub(text)
    for secret in known:
        for spelling in {secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]}:
            assert len(spelling) < 4 or spelling not in scrubbed
    assert secrets.scrub(scrubbed) == scrubbed
    if not any(each in text for each in secrets.texts):
        assert scrubbed == text


@given(secret=st.text(min_size=1, max_size=20))
@example(secret="\ud800abcd")
@example(secret="ab\udce9cd")
@MANY
def test_any_text_can_be_a_secret(secret: str) -> None:
    """Whatever Python takes for a text can be learnt, and is gone where it stands alone."""
    assert knowing(secret).scrub(secret) == MASK


@pytest.mark.parametrize("secret", ["four\x7f", "hünter2", 'it\'s "so"', "a\\b\nc\td", "😀secret"])
@pytest.mark.parametrize(
    "spell", [repr, ascii, json.dumps, partial(json.dumps, ensure_ascii=False), quote, quote_plus]
)
def test_the_usual_spellings_are_known(secret: str, spell: Any) -> None:
    """However Python or a URL spells a secret, it is known by it."""
    spelled = spell(secret)
    inside = spelled[1:-1] if spelled[0] in "\"'" else spelled
    assert knowing(secret).scrub(f"<{inside}>") == f"<{MASK}>"


def in_csv(text: str) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(["", text])
    return out.getvalue()


@pytest.mark.parametrize(
    "secret", ["wJa/K7+bPx=c", "a'b\"c&<d>", "tab\there", "C:\\pass", "naïve-99"]
)
@pytest.mark.parametrize(
    "spell",
    [
        *(quote, quote_plus, html.escape, partial(html.escape, quote=False), shlex.quote, in_csv),
        lambda text: re.sub("%..", lambda found: found[0].lower(), quote(text, safe="")),
        lambda text: quote(quote(text, safe="")),
        *(lambda text: quote(text, safe="!#$&'()*+,/:;=?@[]"), lambda text: repr(text.encode())),
        *(lambda text: json.dumps(json.dumps([text])), lambda text: json.dumps(repr([text]))),
        *(lambda text: repr(json.dumps(text)), lambda text: repr(repr(text))),
        lambda text: json.dumps(text, ensure_ascii=False).replace("/", "\\/"),
    ],
)
def test_no_other_notation_shows_a_secret(secret: str, spell: Any) -> None:
    """Nor does what puts a secret in a path, a page, a table, a shell's words, or a text in one."""
    scrubbed = knowing(secret).scrub(f"before {spell(secret)} behind")
    assert MASK in scrubbed
    assert set(scrubbed.replace(MASK, "")) <= set("before behind,[]'\"\\\r\n")


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False,
              allow_infinity=False), TIGHT, st.text(LETTERS, max_size=10)),
    lambda inner: st.one_of(st.lists(inner, max_size=4),
                            st.dictionaries(st.text(LETTERS, max_size=8), inner, max_size=4)),
    max_leaves=12,
)  # fmt: skip


def with_secret(value: Any, secret: str, draw: Any) -> Any:
    """Put *secret* somewhere into *value*."""
    if isinstance(value, dict):
        return {**{key: with_secret(each, secret, draw) for key, each in value.items()}, secret: 1}
    if isinstance(value, list):
        return [with_secret(each, secret, draw) for each in value]
    return draw(st.sampled_from([value, secret, f"<{secret}>", [secret], {"k": {secret: secret}}]))


OUTCOMES = st.sampled_from(["success", "plan", "partial", "failure"])


def outcome(kind: str, message: str, payload: Any) -> Any:
    if kind == "failure":
        error = murli.AgentError.not_found(message, message, field=message, valid_values=[message])
        return Failure(error, "execution", payload)
    return {"success": Success, "plan": Plan, "partial": Partial}[kind](message, payload)


@given(
    secret=secrets_of_any_kind,
    payload=json_values,
    kind=OUTCOMES,
    contract=st.sampled_from(CONTRACT_NAMES),
    data=st.data(),
)
@MANY
def test_no_document_holds_a_secret(
    secret: str, payload: Any, kind: str, contract: str, data: st.DataObject
) -> None:
    """A scrubbed answer has no secret in it, is what its contract asks for, and stays as it is."""
    payload = {"list": with_secret(payload, secret, data.draw)}
    facts = Facts("1.0", 7, ())
    answer = respond_in(contract)(outcome(kind, secret, payload), facts)
    harmless = respond_in(contract)(outcome(kind, "", {"list": 1}), facts)
    assume(not any(secret in text for text in strings(harmless.document)))
    before = copy.deepcopy(answer.document)
    secrets = knowing(secret)
    scrubbed = secrets.scrub_document(answer.document)
    assert answer.document == before
    assert not any(secret in text for text in strings(scrubbed))
    assert json.loads(json.dumps(scrubbed)) == scrubbed
    check(contract, answer.replace(document=scrubbed))
    assert secrets.scrub_document(scrubbed) == scrubbed


@given(
    secret=st.one_of(
        st.sampled_from(["status", "error", "true", "null", "1234", "ok", "not_found", "meta"]),
        st.sampled_from(["NOT_FOUND", "execution", "duration_ms", "schema_version", "1.0.0"]),
    ),
    kind=OUTCOMES,
    contract=st.sampled_from(CONTRACT_NAMES),
)
@MANY
def test_a_secret_like_a_word_of_a_contract(secret: str, kind: str, contract: str) -> None:
    """A secret that is spelled like a word or number of the envelope does not break it."""
    answer = respond_in(contract)(outcome(kind, secret, {"x": secret}), Facts("1.0.0", 1234, ()))
    scrubbed = knowing(secret).scrub_document(answer.document)
    check(contract, answer.replace(document=scrubbed))
    assert scrubbed.keys() == answer.document.keys()


@given(known=secret_lists, document=json_values)
@MANY
def test_a_document_without_secrets_is_left_alone(known: list[str], document: Any) -> None:
    """Nothing is changed in a document that no secret is in."""
    secrets = knowing(*known)
    texts = list(strings(document))
    assume(not any(each in text for each in secrets.texts for text in texts))
    assert secrets.scrub_document({"result": document}) == {"result": document}


@given(
    secret=secrets_of_any_kind,
    before=st.binary(max_size=20),
    behind=st.binary(max_size=20),
    encoding=st.sampled_from(["utf-8", "latin-1"]),
)
@MANY
def test_no_bytes_hold_a_secret(secret: str, before: bytes, behind: bytes, encoding: str) -> None:
    """Scrubbed bytes have no secret in them, and what is around it is untouched."""
    try:
        middle = secret.encode(encoding)
    except UnicodeEncodeError:
        assume(False)
    secrets = knowing(secret)
    scrubbed = secrets.scrub_bytes(before + middle + behind, encoding)
    assert middle not in scrubbed or middle in MASK.encode()
    if middle not in (before + middle)[:-1] and middle not in (middle + behind)[1:]:
        assert scrubbed.startswith(before[:-1]) or MASK.encode() in scrubbed
    assert secrets.scrub_bytes(before, encoding) == before or middle in before


@given(short=st.text(min_size=1, max_size=3), text=st.text(max_size=10))
@MANY
def test_a_short_secret_is_hidden_as_a_whole(short: str, text: str) -> None:
    """A short secret is masked where it is the whole text, and leaves every other text alone."""
    secrets = knowing(short)
    assert secrets.scrub(short) == MASK
    assert secrets.scrub(text) == (MASK if text == short else text)
    document = secrets.scrub_document({"result": {short: [short, f"{short}."]}})
    assert document == {"result": {MASK: [MASK, f"{short}."]}}


def test_what_is_no_text_can_be_a_secret() -> None:
    """Numbers and lists of secrets are learnt; nothing, true and false are not secrets."""
    secrets = Secrets()
    secrets.add([None, True, "", 12345678, ("abcd", ["efgh"])])
    payload = {"n": 12345678, "t": True, "l": [None, "abcdefgh", 0.12345678], "none": ""}
    assert secrets.scrub_document({"result": payload}) == {
        "result": {"n": MASK, "t": True, "l": [None, MASK * 2, MASK], "none": ""}
    }


@given(secret=secrets_of_any_kind, words=st.lists(TIGHT, max_size=4))
@MANY
def test_a_watched_stream_lets_no_secret_through(secret: str, words: list[str]) -> None:
    """What is printed to a watched stream is scrubbed, and after that it is as it was."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, "utf-8", errors="surrogateescape", newline="")
    secrets = knowing(secret)
    watch = StreamGuard(stream, secrets, Flow(secrets, 0, answers=True))
    print(*words, secret, *words, file=stream, flush=True)
    assert secret.encode() not in raw.getvalue() or any(secret in word for word in words)
    watch.remove()
    print(secret, end="", file=stream, flush=True)
    assert raw.getvalue().endswith(secret.encode())


HOST = """
import click, murli, sys
@click.command()
@click.option("--key")
def t(key):
    click.echo(f"key {key}")
    return key
murli.annotate(t, murli.Metadata(flag_annotations={"key": murli.FlagAnnotation(sensitive=True)}))
murli.enable(t, name="t")
"""

# -- the process goes on --------------------------------------------------------------------------


def test_a_host_gets_its_streams_back(tmp_path: Path) -> None:
    """After a call with standalone_mode=False what the host prints is its own business."""
    source = f"{HOST}value = t.main(['--key', {SECRET!r}], standalone_mode=False)\nprint(value)\n"
    assert run(script(tmp_path, source)).out == f"key {MASK}\n{SECRET}\n"


def test_a_test_runner_gets_its_streams_back(tmp_path: Path) -> None:
    """Under CliRunner the output has no secret, and the streams are nobody's afterwards."""
    source = f"""{HOST}
from click.testing import CliRunner
done = CliRunner().invoke(t, ["--key", {SECRET!r}])
assert done.exit_code == 0 and {SECRET!r} not in done.output, done.output
print({SECRET!r})
"""
    done = run(script(tmp_path, source))
    assert (done.out, done.err) == (f"{SECRET}\n", "")


def test_a_session_gives_the_streams_back(tmp_path: Path) -> None:
    """After a session the program prints what it likes."""
    source = f"""
import argparse, sys, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--key")
notes = {{"key": murli.FlagAnnotation(sensitive=True)}}
murli.annotate(parser, murli.Metadata(flag_annotations=notes))
with murli.session(parser, ["--key", {SECRET!r}]) as (args, writer):
    print("inside", args.key)
print("outside", {SECRET!r}, file=sys.stderr)
"""
    done = run(script(tmp_path, source))
    assert done.document["result"] == f"inside {MASK}"
    assert done.err == f"outside {SECRET}\n"


PLAIN = """
import argparse, json, os, sys, murli
parser = argparse.ArgumentParser(prog="t")
parser.add_argument("--key")
notes = {"key": murli.FlagAnnotation(sensitive=True)}
murli.annotate(parser, murli.Metadata(flag_annotations=notes))
murli.enable(parser)
key = parser.parse_args().key
"""


def test_printed_json_stays_json(tmp_path: Path) -> None:
    """A secret of digits inside a printed number does not turn the object into a text."""
    argv = script(tmp_path, PLAIN + 'print(json.dumps({"id": 5123456789, "name": "x"}))\n')
    result = run(argv, "--key", "12345678").document["result"]
    assert result == {"id": MASK, "name": "x"}


@pytest.mark.parametrize("encoding", ["ascii:backslashreplace", "latin-1", "utf-8", "utf-16"])
def test_other_encodings_let_no_secret_out(tmp_path: Path, encoding: str) -> None:
    """A stream that cannot show a letter escapes it, which does not let the secret out."""
    secret = "hünter2é"
    source = f"sys.stderr.reconfigure(encoding={encoding.partition(':')[0]!r}, errors='replace')\n"
    source += 'print("x", key, file=sys.stderr)\nprint("x", key)\n'
    source += f"print(key, file=open(2, 'w', encoding={encoding.partition(':')[0]!r}, closefd=False"
    source += ", errors='replace'))\n"
    argv = script(tmp_path, PLAIN + source)
    for do in (run, run_at_terminal):
        done = do(argv, "--key", secret, env=environment(PYTHONIOENCODING=encoding))
        assert done.code == 0
        for data in (done.stdout, done.stderr):
            assert "nter2" not in data.replace(b"\0", b"").decode("latin-1")


def test_late_words_are_scrubbed_as_well(tmp_path: Path) -> None:
    """What is printed when the process ends has no secret in it either."""
    source = """
import atexit
atexit.register(lambda: print("late", key))
atexit.register(lambda: print("late", key, file=sys.stderr))
murli.get_writer().write_success("done")
"""
    argv = script(tmp_path, PLAIN + source)
    for do in (run, run_at_terminal):
        done = do(argv, "--key", SECRET)
        assert (done.code, is_read(SECRET, done)) == (0, False)
        assert (done.out + done.err).count(f"late {MASK}") == 2


@pytest.mark.parametrize("end", ["os._exit(3)", "os.execvp('true', ['true'])"])
def test_a_cut_off_program_lets_no_secret_out(tmp_path: Path, end: str) -> None:
    """What was printed before a program is cut off or replaced is scrubbed too."""
    argv = script(tmp_path, PLAIN + f"print('the key is', key)\n{end}\n")
    done = run(argv, "--key", SECRET)
    assert not is_read(SECRET, done)
    assert f"the key is {MASK}" in done.out + done.err


@pytest.mark.parametrize("variable", ["PYTHONUNBUFFERED", "PYTHONDEVMODE"])
def test_unbuffered_streams_are_watched(tmp_path: Path, variable: str) -> None:
    """Streams without a buffer let no secret through either."""
    source = 'print("a", key)\nprint("b", key, file=sys.stderr)\n'
    source += "sys.stdout.buffer.write(key.encode())\n"
    argv = script(tmp_path, PLAIN + source)
    for words in ([], ["--output", "text"]):
        done = run(argv, "--key", SECRET, *words, env=environment(**{variable: "1"}))
        assert (done.code, is_read(SECRET, done)) == (0, False)


def test_two_commands_with_one_flag(tmp_path: Path) -> None:
    """A flag that is secret on one command is stored as a secret, and stays one on the other."""
    source = """
import click, murli
@click.group()
def t(): pass
@t.command()
@click.option("--key")
def a(key): murli.get_writer().write_success("", [key])
@t.command()
@click.option("--key")
def b(key): murli.get_writer().write_success("", [key])
murli.annotate(a, murli.Metadata(
    flag_annotations={"key": murli.FlagAnnotation(profileable=True, sensitive=True)}))
murli.annotate(b, murli.Metadata(
    flag_annotations={"key": murli.FlagAnnotation(profileable=True)}))
murli.enable(t, name="t")
t()
"""
    argv = script(tmp_path, source)
    env = environment(HOME=str(tmp_path), A_KEY=SECRET)
    assert run(argv, "profile", "save", "p", "key=env:A_KEY", env=env).code == 0
    for command in ("a", "b"):
        assert run(argv, command, "--profile", "p", env=env).document["result"] == [MASK]


def test_what_is_printed_behind_the_answer(tmp_path: Path) -> None:
    """A secret of the environment is redacted in what is printed while the program ends, too."""
    argv = script(
        tmp_path,
        "import atexit, click, os, murli\n"
        "@click.command()\n"
        "def cli(): atexit.register(lambda: print('bye', os.environ['LAB_API_TOKEN']))\n"
        "murli.enable(cli); cli()\n",
    )
    done = run(argv, env=environment(LAB_API_TOKEN="abcdef-1234567-xyz"))
    assert (done.code, done.err) == (0, "bye [REDACTED]\n")


@pytest.mark.parametrize("count", [4, 150])
def test_what_frames_every_key_is_no_secret(count: int) -> None:
    """The first and the last line of a key stay alone; its other lines, and the key, are hidden."""
    lines = [f"{number:03}+/{number:03}abcdefghijklmnop" for number in range(count)]
    frame = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"]
    secrets = Secrets()
    secrets.add("\n".join((frame[0], *lines, frame[1])), named=True)
    for line in (*frame, "-----BEGIN PUBLIC KEY-----"):
        assert secrets.scrub(f"expected {line!r}") == f"expected {line!r}"
    for line in lines:
        for spelled in (line, quote(line, safe="")):
            assert secrets.scrub(f"x{spelled}y") == f"x{MASK}y"
    whole = "\n".join((frame[0], *lines, frame[1]))
    assert secrets.scrub(f"x{whole}y") == f"x{MASK}y"
