"""Tools that give one item after the other."""

from __future__ import annotations

import pytest

from harness import script
from streams import CORE, TOOLS


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The argv of the tool, by framework."""
    folder = tmp_path_factory.mktemp("streams")
    return {
        name: script(folder, CORE + source, f"items_{name}.py") for name, source in TOOLS.items()
    }
