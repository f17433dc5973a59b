"""Text that bites, terminals that lie, and who is told what."""

from __future__ import annotations

import json

import pytest

from harness import environment, run, run_at_terminal

pytestmark = pytest.mark.adapters("argparse", "click")

CLEAN = "red  ab \ufffd gnp.exe \ufffd ü"
LOCALES = [
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"COLUMNS": "20"},
    {"NO_COLOR": "1"},
    {"CI": "true"},
    {"TERM": "dumb"},
    {"FORCE_COLOR": "1"},
]


@pytest.mark.parametrize("variables", LOCALES, ids=lambda each: next(iter(each)))
def test_text_is_clean_and_the_same_everywhere(
    faults: list[str], variables: dict[str, str]
) -> None:
    """Escapes, carriage returns, NUL, overrides and broken Unicode never get out."""
    done = run(faults, "do", "text", env=environment(**variables))
    assert done.document["result"] == {"text": CLEAN, CLEAN: 1}
    assert done.document["message"] == CLEAN
    assert done.logs[0]["msg"] == CLEAN
    for byte in (b"\x1b", b"\r", b"\0", b"\x07", "\u202e".encode()):
        assert byte not in done.stdout + done.stderr


@pytest.mark.adapters("argparse", "click", "typer")
@pytest.mark.parametrize("contract", ["response", "agent-spec-1.6", "agent-spec-2"])
def test_text_is_clean_in_every_contract(faults: list[str], contract: str) -> None:
    """The ResponseEnvelope contracts get the same text."""
    done = run(faults, "do", "text", env=environment(MURLI_CONTRACT=contract))
    assert done.document["data"]["text"] == CLEAN


def test_a_mode_can_be_forced(faults: list[str]) -> None:
    """MURLI_MODE=human gives text on a pipe, MURLI_MODE=agent a document at a terminal."""
    assert run(faults, "do", "nothing", env=environment(MURLI_MODE="human")).out == "done\n"
    shown = run_at_terminal(faults, "do", "nothing", env=environment(MURLI_MODE="agent"))
    assert json.loads(shown.out)["result"] == "done"
    flag = run(faults, "do", "nothing", "--agent", env=environment(MURLI_MODE="human"))
    assert flag.document["result"] == "done"


def test_forcing_the_mode_does_not_open_the_guard(faults: list[str]) -> None:
    """Text for people on a pipe is still a pipe: a mutation needs its confirmation."""
    done = run(faults, "mutate", env=environment(MURLI_MODE="human"))
    assert done.code == 1
    assert "--force" in done.err


def test_an_agent_at_a_terminal_is_told_apart_by_choice(faults: list[str]) -> None:
    """A variable that announces an agent counts only where somebody asked for that."""
    announced = environment(CLAUDECODE="1")
    assert run_at_terminal(faults, "do", "nothing", env=announced).out == "done\n"
    chosen = {**announced, "MURLI_DETECT_AGENTS": "1"}
    assert json.loads(run_at_terminal(faults, "do", "nothing", env=chosen).out)["status"] == "ok"
    overridden = {**chosen, "MURLI_MODE": "human"}
    assert run_at_terminal(faults, "do", "nothing", env=overridden).out == "done\n"


def test_ci_is_not_an_agent(faults: list[str]) -> None:
    """CI=true changes nothing at a terminal."""
    shown = run_at_terminal(
        faults, "do", "nothing", env=environment(CI="true", MURLI_DETECT_AGENTS="1")
    )
    assert shown.out == "done\n"


def test_secrets_of_the_environment_stay_there(faults: list[str]) -> None:
    """A value from a variable that is called a token, secret or key is in nothing we write."""
    env = environment(SOME_API_KEY="sk-1234567890abcdef", PAGER="x")
    env["NAME"] = "x"
    done = run(faults, "do", "ask", "--name", "n", env=env, stdin=b"sk-1234567890abcdef\n")
    assert b"sk-1234567890abcdef" not in done.stdout + done.stderr
    assert "[REDACTED]" in done.out
