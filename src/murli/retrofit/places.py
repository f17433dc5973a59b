"""Where sidecars are; nothing is read, because every ``murli run`` looks."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def locate(name: str) -> tuple[str, str] | None:
    """Return the file of the sidecar of the tool called *name*, and whose it is."""
    if not name or os.sep in name or name.startswith("."):
        return None
    for origin, folder in _folders():
        path = os.path.join(folder, f"{name}.toml")
        if os.path.isfile(path):
            return path, origin
    return None


def user_folder() -> str:
    """Return where the user's own sidecars are."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "murli", "sidecars")


def _folders() -> Iterator[tuple[str, str]]:
    try:
        folder = os.getcwd()
    except OSError:  # it was removed
        folder = os.sep
    while True:
        yield "project", os.path.join(folder, ".murli", "sidecars")
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    yield "user", user_folder()
    yield "package", os.path.join(os.path.dirname(os.path.dirname(__file__)), "sidecars")
