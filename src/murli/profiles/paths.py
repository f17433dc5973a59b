"""Where a file of profiles is: below the home directory, or where somebody says."""

from __future__ import annotations

import os

from ..files import StoreError, failure_of


def home_folder() -> str:
    """Return the home directory; `StoreError` when there is none."""
    # Nothing but HOME: who runs a tool with another one means it, and the current directory,
    # which is what a missing one would come to, may belong to somebody else.
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        raise StoreError(
            "Profiles are off: there is no home directory.",
            "Set HOME to an absolute path, or MURLI_PROFILE_PATH to a file.",
            reason="off",
        )
    return home


def absolute_path(path: str) -> str:
    """Return *path* from the root of the file system."""
    if path.startswith("~/"):
        return os.path.join(home_folder(), path[2:])
    try:
        return os.path.join(os.getcwd(), path)
    except OSError as error:  # the current directory was removed
        raise failure_of("load", error, path) from None
