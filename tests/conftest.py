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
    "test_declarations",
    "test_exec",
    "test_family_formats",
    "test_flags",
    "test_manifest",
    "test_paging",
    "test_payloads",
    "test_profile_secrets",
    "test_profiles",
    "test_redaction",
    "test_redirects",
    "test_safety",
    "test_streaming",
    "test_warnings",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the long run what takes too long for every change."""
    for item in items:
        if "typer" in item.name and item.path.stem in _BEHIND_ADAPTERS:
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
