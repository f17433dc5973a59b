"""`murli run` on programs that are not Python's: supervised, described by their help, guarded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness import Run, environment, run, run_at_terminal
from retrofit_tools import MURLI

BOOKS = r"""#!/bin/sh
log="$BOOKS_LOG"
[ -n "$log" ] && echo "$HOME|$PWD|$*" >> "$log"
case "$1" in
  show)
    [ "$2" = --help ] && { printf 'Show one book.\n\nUsage:\n  books show NAME [flags]\n\n'
      printf 'Flags:\n  -o, --output string   format (default "text")\n'
      printf '      --limit int       how many\n'; exit 0; }
    shift; echo "book $*" ;;
  delete)
    [ "$2" = --help ] && { printf 'Delete a book.\n\nUsage:\n  books delete NAME\n\n'
      printf 'Flags:\n      --now   at once\n'; exit 0; }
    echo "deleted $2" ;;
  data) echo '{"a": [1, 2]}' ;;
  lines) echo '{"a": 1}'; echo '{"a": 2}' ;;
  find) exit 1 ;;
  fail) echo "no such host" >&2; exit 7 ;;
  wrong) echo "unknown option: --deep" >&2; exit 2 ;;
  die) kill -SEGV $$ ;;
  ask) printf 'Name? '; read name; echo "hello $name" ;;
  wait) sleep 60 & echo $! > "$BOOKS_PID"; wait ;;
  env) echo "$PAGER|$NO_COLOR|$GIT_TERMINAL_PROMPT" ;;
  native) echo '{"status": "ok", "schema_version": "1.0", "tool_version": "9", "message": "",'
          echo ' "result": 1}' ;;
  --version) echo "books version 4.5.6" ;;
  --help) printf 'Keep books.\n\nUsage:\n  books [command]\n\nAvailable Commands:\n'
    printf '  show        Show one book\n  delete      Delete a book\n  find        Find\n\n'
    printf 'Flags:\n  -v, --verbose   say more\n' ;;
  *) echo "unknown command $1" >&2; exit 64 ;;
esac
"""


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program in another language."""
    path = tmp_path_factory.mktemp("programs") / "books"
    path.write_text(BOOKS)
    path.chmod(0o755)
    return path


def served(books: Path, *words: str, options: tuple[str, ...] = (), **more: str | None) -> Run:
    return run([*MURLI, *options, str(books)], *words, env=environment(**more))


def test_what_it_prints_is_the_result(books: Path) -> None:
    """JSON and JSON lines as data, text as text, in the contract that is asked for."""
    assert served(books, "show", "emma").document["result"] == "book emma"
    assert served(books, "data").document["result"] == {"a": [1, 2]}
    assert served(books, "lines").document["result"] == [{"a": 1}, {"a": 2}]
    for contract in ("response", "agent-spec-1.6", "agent-spec-2"):
        answer = served(books, "data", options=("--contract", contract)).document
        assert (answer["ok"], answer["data"]) == (True, {"a": [1, 2]})
    assert served(books, "env").document["result"] == "cat|1|0"


def test_how_it_ends_is_the_failure(books: Path) -> None:
    """The words are those of its stderr, and what a status means is only said where it is known."""
    failed = served(books, "fail")
    assert (failed.code, failed.error["message"]) == (7, "no such host")
    wrong = served(books, "wrong")
    assert (wrong.code, wrong.error["error"]) == (1, "flag_error")
    assert "By convention this is a wrong call (exit status 2)" in wrong.error["suggestion"]
    assert "SIGSEGV" in served(books, "die").error["message"]
    assert served(books, "find").error["message"] == "The command ended with exit status 1."


def test_an_option_of_its_own_is_its_own(books: Path) -> None:
    """Words of ours are taken where its help does not have them, and only there."""
    done = served(books, "show", "emma", "--output", "json", "--limit", "2")
    assert done.document["result"] == "book emma --output json --limit 2"
    done = served(books, "delete", "emma", "--output", "ndjson", "--yes")
    assert len(done.out.splitlines()) == 1
    assert done.lines[0]["result"] == "deleted emma"


def test_names_guard_what_destroys(books: Path) -> None:
    """A command of its help that is named so has to be confirmed; a word of its data has not."""
    refused = served(books, "delete", "emma")
    assert (refused.stdout, refused.error["error"]) == (b"", "confirmation_required")
    assert served(books, "show", "delete").document["result"] == "book delete"
    trusted = served(books, "delete", "emma", options=("--trust",))
    assert trusted.document["result"] == "deleted emma"


def test_it_is_described_by_its_help(books: Path) -> None:
    """Commands, options, defaults and versions, marked as what they are: read from a help text."""
    described = served(books, "describe").document
    assert (described["source"], described["tool_version"]) == ("help", "4.5.6")
    show, delete, _ = described["commands"]
    assert (show["name"], show["summary"]) == ("show", "Show one book")
    output = next(flag for flag in show["flags"] if flag["name"] == "output")
    assert (output["short"], output["default"], output["type"]) == ("o", "text", "string")
    assert show["arguments"][0]["name"] == "NAME"
    assert delete["safety"]["inferred"] == "destructive" or "destructive" in str(delete["safety"])
    murli = MURLI[:-1]
    by_command = run([*murli, "schema", str(books), "show"]).document
    assert by_command["source"] == "help"
    card = run([*murli, "card", str(books)])
    assert "show" in card.out and card.code == 0
    assert run([*murli, "describe", str(books)]).document["commands"] == described["commands"]


def test_learning_finds_nothing_of_the_users_and_runs_only_help(
    books: Path, tmp_path: Path
) -> None:
    """Only forms of help are run, in an empty home and folder, and once for each version."""
    log, home = tmp_path / "log", tmp_path / "home"
    home.mkdir()
    # A variable of the caller's is not seen either, so the log is in the program.
    copy = tmp_path / "books"
    copy.write_text(BOOKS.replace('log="$BOOKS_LOG"', f"log={log}"))
    copy.chmod(0o755)
    assert served(copy, "describe", HOME=str(home)).code == 0
    calls = [line.split("|") for line in log.read_text().splitlines()]
    for _, _, words in calls:
        assert words == "--version" or words.startswith("help") or words.endswith("--help"), words
    assert all(place != str(home) and place == folder for place, folder, _ in calls)
    log.unlink()
    assert served(copy, "describe", HOME=str(home)).code == 0
    assert not log.exists()
    kept = list((home / ".cache" / "murli" / "learnt").iterdir())
    assert [each.stat().st_mode & 0o777 for each in kept] == [0o600]
    assert kept[0].parent.stat().st_mode & 0o777 == 0o700
    copy.write_text(copy.read_text() + "\n# another version\n")
    assert served(copy, "describe", HOME=str(home)).code == 0
    assert log.exists()


CARELESS = """#!/bin/sh
case "$1" in
  --help) printf 'Commands:\\n  drop  Drop\\n  sell  Sell\\n  frob  Frob\\n  list  List\\n' ;;
  list) printf 'tea 3\\n' ;;
  *) echo "$*" >> DONE ;;
esac
"""


def test_learning_runs_no_command_that_may_not_know_of_help(tmp_path: Path) -> None:
    """Where no help says that commands have one, and none that reads shows one, none is asked."""
    path, done = tmp_path / "careless", tmp_path / "done"
    path.write_text(CARELESS.replace("DONE", str(done)))
    path.chmod(0o755)
    described = served(path, "describe", HOME=str(tmp_path)).document
    assert [each["name"] for each in described["commands"]] == ["drop", "sell", "frob", "list"]
    assert served(path, "drop", "x", HOME=str(tmp_path)).error["error"] == "confirmation_required"
    asked = done.read_text().split("\n") if done.exists() else []
    assert {line.split()[0] for line in asked if line} <= {"--version", "help"}


def test_a_help_form_is_found_for_a_program_in_the_folder_of_the_call(
    books: Path, tmp_path: Path
) -> None:
    """It is asked in another folder, and by its whole name."""
    (tmp_path / "here").symlink_to(books)
    done = run([*MURLI, "./here"], "describe", env=environment(), cwd=tmp_path)
    assert [each["name"] for each in done.document["commands"]] == ["show", "delete", "find"]


def test_a_kept_text_that_somebody_else_may_write_is_not_believed(
    books: Path, tmp_path: Path
) -> None:
    """Nor one that is no JSON; the program is asked again."""
    home = str(tmp_path)
    assert served(books, "describe", HOME=home).code == 0
    kept = next((tmp_path / ".cache" / "murli" / "learnt").iterdir())
    for text, mode in (("{", 0o600), ('{"": {"commands": 3}}', 0o600), ("{}", 0o666)):
        kept.write_text(text)
        kept.chmod(mode)
        assert len(served(books, "describe", HOME=home).document["commands"]) == 3


HOSTILE = {
    "escapes": r"printf '\033[2J\033]0;title\007Commands:\n  sh\033[31mow  \033[1mShow\033[0m\n'",
    "megabytes": "yes '  --flag-x  text' | head -c 5000000",
    "endless": "yes '  --flag-x  text'",
    "recursion": "printf 'Commands:\\n  one  One\\n  two  Two\\n'",
    "silence": "sleep 100",
    "control": r"printf 'Options:\n  --a\000b  x\n  --c  \001y\n'",
}


@pytest.mark.parametrize(
    "help_text",
    [  # the silent one takes until its deadline
        pytest.param(text, id=name, marks=[pytest.mark.slow] if name == "silence" else [])
        for name, text in HOSTILE.items()
    ],
)
def test_a_hostile_help_is_survived(tmp_path: Path, help_text: str) -> None:
    """Escapes, megabytes, endless texts, commands within commands, and none at all."""
    path = tmp_path / "hostile"
    path.write_text(f"#!/bin/sh\n{help_text}\n")
    path.chmod(0o755)
    started = time.monotonic()
    done = served(path, "describe", HOME=str(tmp_path))
    assert time.monotonic() - started < 30
    assert done.code in (0, 5)
    assert b"\x1b" not in done.stdout and b"\\u001b" not in done.stdout
    assert len(done.stdout) < 1_000_000


def test_it_reads_what_is_fed_and_ends_where_nobody_feeds(books: Path) -> None:
    """A pipe that stays open and silent is told from one with an answer."""
    fed = run([*MURLI, str(books)], "ask", stdin=b"emma\n")
    assert fed.document["result"] == "Name? hello emma"
    unfed, feeder = os.pipe()
    try:
        done = subprocess.run(
            [*MURLI, str(books), "ask"],
            stdin=unfed,
            capture_output=True,
            env=environment(MURLI_STDIN_TIMEOUT="0.5"),
            timeout=30,
            check=False,
        )
    finally:
        os.close(unfed)
        os.close(feeder)
    assert (done.returncode, done.stdout) == (1, b"")
    assert json.loads(done.stderr)["error"] == "input_required"


@pytest.mark.parametrize("how", ["deadline", "signal"])
def test_nothing_of_it_is_left_behind(books: Path, tmp_path: Path, how: str) -> None:
    """The whole process group is ended: at the deadline, and by a signal to us."""
    file = tmp_path / "pid"
    env = environment(BOOKS_PID=str(file))
    options = ["--timeout", "1"] if how == "deadline" else []
    process = subprocess.Popen(
        [*MURLI, *options, str(books), "wait"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    )
    end = time.monotonic() + 20
    while not (file.exists() and file.read_text().strip()):
        assert time.monotonic() < end
        time.sleep(0.02)
    if how == "signal":
        process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert json.loads(err)["error"] == ("timeout" if how == "deadline" else "cancelled")
    pid = int(file.read_text())
    while Path(f"/proc/{pid}/stat").exists():
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_program_that_speaks_a_contract_is_left_alone(books: Path) -> None:
    """Its document is the answer, byte for byte."""
    plain = run([str(books)], "native")
    assert served(books, "native").stdout == plain.stdout


@pytest.mark.parametrize("words", [("show", "emma"), ("--help",), ("nope",), ("show", "--force")])
def test_a_person_sees_the_same_bytes(books: Path, words: tuple[str, ...]) -> None:
    """At a terminal the program runs as it is."""
    before = run_at_terminal([str(books)], *words)
    after = run_at_terminal([*MURLI, str(books)], *words)
    assert (after.stdout, after.stderr, after.code) == (before.stdout, before.stderr, before.code)


def test_no_word_reaches_a_shell(tmp_path: Path) -> None:
    """Every word of a call arrives as it is, and what is no program is not taken for a script."""
    words = ["$(touch hacked)", "; touch hacked", "`touch hacked`", "a b", "*"]
    done = run([*MURLI, "printf", "%s\\n"], *words, cwd=tmp_path)
    assert done.text == "\n".join(words)
    path = tmp_path / "headless"
    path.write_text("touch hacked\n")
    path.chmod(0o755)
    done = run([*MURLI, str(path)], cwd=tmp_path)
    assert done.error["error"] == "tool_missing"
    assert not (tmp_path / "hacked").exists()
