"""Fixtures for everything that must hold for every adapter."""

from __future__ import annotations

import pytest

from harness import ADAPTERS, tool


@pytest.fixture(params=ADAPTERS)
def tasks(request: pytest.FixtureRequest) -> list[str]:
    """The argv of the task list, on each framework in turn."""
    return tool(f"tasks_{request.param}")


@pytest.fixture(params=ADAPTERS)
def deploy(request: pytest.FixtureRequest) -> list[str]:
    """The argv of the deployment tool, which has flags worth saving, on each framework."""
    return tool(f"deploy_{request.param}")
