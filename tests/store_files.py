"""A store of profiles on disk, as tests write it and look at it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from murli.profiles.store import (
    Profile,
    StoreFile,
)

SECRET = "s3cret"
GARBAGE = b'{"profiles": {"prod": {"flags": {"token": "s3cret'


def mode(path: str | Path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: mode(path) for path in [folder, *folder.iterdir()]}


def save(name: str, tool: str = "tool", **flags: str) -> None:
    StoreFile(tool).update(lambda store: store.set(name, Profile(flags)))


def write(path: Path, text: str | bytes, permissions: int = 0o600) -> Path:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    path.chmod(permissions)
    return path


def set_aside(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.corrupt-*"))


PRIVATE = {".tool": 0o700, "profiles.json": 0o600, "profiles.json.lock": 0o600}
