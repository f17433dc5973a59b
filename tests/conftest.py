"""Fixtures for everything that must hold for every adapter."""

from __future__ import annotations

from pathlib import Path

import pytest

from client_fakes import Client
from harness import ADAPTERS, tool

# Typer takes three times as long to start as the others and shares almost all of click's adapter.
# In these files, which are about what comes behind an adapter, it is left to `make test-real`.
_BEHIND_ADAPTERS = (
    "test_agent_spec",
    "test_completion",
    "test_confirmation",
    "test_deadlines",
    "test_declarations",
    "test_exec",
    "test_family_formats",
    "test_flags",
    "test_idempotency",
    "test_introspection",
    "test_losses",
    "test_manifest",
    "test_misnamed",
    "test_modes",
    "test_page",
    "test_paging",
    "test_payloads",
    "test_plans",
    "test_profile_secrets",
    "test_profiles",
    "test_prompts",
    "test_redaction",
    "test_redirects",
    "test_retry_advice",
    "test_safety",
    "test_secrets",
    "test_signals",
    "test_stream_lines",
    "test_streaming",
    "test_streams",
    "test_text_and_mode",
    "test_warnings",
)
# Where typer has a way of its own: its click, its hooks, its types, its words for people.
_TYPERS_OWN = (
    "test_a_crash_keeps_its_traceback",
    "test_a_fork_says_nothing",
    "test_a_handler_that_takes_too_long_is_ended",
    "test_a_key_covers_what_is_in_a_file_that_is_given_by_its_path",
    "test_a_person_is_asked",
    "test_a_person_sees_their_own_environment",
    "test_a_prompt_without_input_fails_at_once",
    "test_a_redirect_to_nowhere_is_refused",
    "test_a_signal_is_answered",
    "test_agent_flag_at_a_terminal",
    "test_agent_mode_at_a_terminal_does_not_ask",
    "test_an_interrupt_while_the_tool_is_importing",
    "test_an_option_of_the_command_runs_the_plan",
    "test_browsers_and_consoles_do_not_open",
    "test_doctor_looks_at_every_command",
    "test_golden",
    "test_noise_never_stands_beside_the_answer",
    "test_signals_that_are_swallowed_mean_the_same",
    "test_text_is_clean_in_every_contract",
    "test_what_nobody_declared_is_hidden_to_the_end",
)
# What compares many calls at a terminal, of which other tests try a few with typer.
_MANY_CALLS = ("test_a_pipe_stays_text", "test_what_stays")
# What only the commands of ours do, or the client, whichever framework has parsed.
_BEHIND_EVERY_ADAPTER = (
    "test_a_default_that_is_gone_is_ignored",
    "test_a_malformed_reference_is_refused_without_it",
    "test_a_person_is_told_about_a_bad_stored_value",
    "test_a_reference_is_kept_and_shown_as_it_is",
    "test_a_secret_is_kept_only_with_permission",
    "test_a_secret_that_cannot_be_had_is_an_error",
    "test_a_session_with_a_real_tool",
    "test_an_unknown_profile_is_not_found",
    "test_deleting_needs_intent",
    "test_describe_tells_the_profiles",
    "test_no_profile_command_shows_a_secret",
    "test_read_only_commands_can_be_called",
    "test_revealing_is_for_a_person_at_a_terminal",
    "test_saves_at_once_are_all_kept",
    "test_the_fix_that_is_suggested_works_for_any_name",
    "test_the_keyring_is_kept_in_step",
    "test_the_keyring_keeps_a_secret",
    "test_what_a_person_sees",
    "test_what_each_command_answers",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the long run what takes too long for every change."""
    for item in items:
        name, _, ways = item.name.partition("[")
        behind = item.path.stem in _BEHIND_ADAPTERS and name not in _TYPERS_OWN
        behind = behind or name in _MANY_CALLS
        if ("typer" in ways and behind) or ("click" in ways and name in _BEHIND_EVERY_ADAPTER):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(params=ADAPTERS)
def tasks(request: pytest.FixtureRequest) -> list[str]:
    """The argv of the task list, on each framework in turn."""
    return tool(f"tasks_{request.param}")


@pytest.fixture(params=ADAPTERS)
def deploy(request: pytest.FixtureRequest) -> list[str]:
    """The argv of the deployment tool, which has flags worth saving, on each framework."""
    return tool(f"deploy_{request.param}")


@pytest.fixture
def own_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reads or writes what whoever runs it has kept."""
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "places"))


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Client:
    """Both clients in turn."""
    return Client(request.param == "async", tmp_path / "state")
