"""A home with profiles, for a tool on each framework or on one."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import tool
from profile_home import Home


@pytest.fixture
def home(deploy: list[str], tmp_path: Path) -> Home:
    return Home(deploy, tmp_path / "home")


@pytest.fixture
def one(tmp_path: Path) -> Home:
    """One adapter, where all that is tried lies behind them."""
    return Home(tool("deploy_argparse"), tmp_path / "home")
