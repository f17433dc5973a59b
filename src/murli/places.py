"""Where the user's own files go: below what the XDG variables name, else below the home."""

from __future__ import annotations

import os

_USUAL = {"XDG_STATE_HOME": (".local", "state"), "XDG_CACHE_HOME": (".cache",)}


def user_folder(variable: str) -> str:
    """Give the folder *variable* names, or the usual one; ``""`` when there is no home for it."""
    chosen = os.environ.get(variable, "")
    if os.path.isabs(chosen):  # as the standard has it, a relative one does not count
        return chosen
    home = os.environ.get("HOME", "")
    # A home that is named but not there is not ours to make.
    usable = os.path.isabs(home) and os.path.isdir(home)
    return os.path.join(home, *_USUAL[variable]) if usable else ""
