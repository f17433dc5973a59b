"""Fixtures for everything that must hold for every adapter."""

from __future__ import annotations

import pytest

from harness import tool

ADAPTERS = ["argparse", "click", "typer"]


@pytest.fixture(params=ADAPTERS)
def tasks(request: pytest.FixtureRequest) -> list[str]:
    """The argv of the task list, on each framework in turn."""
    return tool(f"tasks_{request.param}")
