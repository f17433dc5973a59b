"""Every store is in a home of its own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory without profiles, and nothing that says otherwise."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("MURLI_PROFILE_PATH", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder
