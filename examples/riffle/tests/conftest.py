"""What the tests of riffle share."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A folder of an ordinary user, as whom the test runs: nothing is forbidden to root."""
    folder, user = Path(tempfile.mkdtemp()), os.geteuid()
    if user == 0:
        "".encode("utf-8-sig")  # that user may not read the interpreter's own files
        os.chown(folder, NOBODY, -1)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(user)
        shutil.rmtree(folder)
