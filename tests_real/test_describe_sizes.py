"""What an agent reads to learn a real tool is hardly more than the help of all its commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.describe import TOOLS, row, sizes_of

from tests_real.scene import lay_out
from tests_real.tools import tool_called


@pytest.mark.parametrize("name", TOOLS)
def test_describe_is_hardly_longer_than_help(name: str, tmp_path: Path) -> None:
    """Compact describe is at most 1.2 times the help, and 1.6 times where commands are annotated.

    An overview, with the options of the root, is a tenth of it, or two thousand bytes.
    """
    sizes = list(sizes_of(tool_called(name), lay_out(tmp_path / "scene")))
    assert len(sizes) == 2
    assert [row(size) for size in sizes if not size.fits] == []
