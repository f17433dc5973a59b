"""Fixtures for everything that must hold for every adapter."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness
from client_fakes import Client
from harness import ADAPTERS, tool
from starting import Starter


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the long run the variants with adapters that the nearest mark does not name.

    Typer takes three times as long to start as the others and shares almost all of click's adapter.
    So tests of what comes behind an adapter leave it out, unless typer has a way of its own there.
    """
    for item in items:
        chosen = item.get_closest_marker("adapters")
        _, _, variant = item.name.partition("[")
        if chosen and any(each in variant for each in ADAPTERS if each not in chosen.args):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _calls_may_be_forked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the calls of a test be forked where its mark says that no start is tested."""
    marks = [each.name for each in request.node.iter_markers() if each.name in ("warm", "fresh")]
    forked = marks[:1] == ["warm"] and not os.environ.get("MURLI_TESTS_FRESH")
    monkeypatch.setattr(harness, "IS_WARM", forked)


@pytest.fixture(params=ADAPTERS)
def tasks(request: pytest.FixtureRequest) -> list[str]:
    """The argv of the task list, on each framework in turn."""
    return tool(f"tasks_{request.param}")


@pytest.fixture(params=ADAPTERS)
def deploy(request: pytest.FixtureRequest) -> list[str]:
    """The argv of the deployment tool, which has flags worth saving, on each framework."""
    return tool(f"deploy_{request.param}")


@pytest.fixture(params=ADAPTERS)
def faults(request: pytest.FixtureRequest) -> list[str]:
    """The argv of the careless tool, on each framework in turn."""
    return tool(f"faults_{request.param}")


@pytest.fixture
def start() -> Iterator[Starter]:
    """Start a process that is stopped at the end of the test, whatever happens."""
    starter = Starter()
    yield starter
    starter.stop()


@pytest.fixture
def own_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reads or writes what whoever runs it has kept."""
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "places"))


@pytest.fixture(params=["sync", "async"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Client:
    """Both clients in turn."""
    return Client(request.param == "async", tmp_path / "state")
