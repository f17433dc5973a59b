"""What the client keeps between sessions: redirects to remember, and catalogues to not ask again.

Nothing in here ever fails a call: what cannot be read is not known, what cannot be written is not
kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..files import make_folders, replace_with, tighten, user_folder
from .own_calls import name_of
from .redirect_memory import RedirectMemory, Rules, default_path
from .steps import Kept

_LARGEST = 32 << 20
_FORMAT = 2
# Variables that decide which program answers when others run it.
_DECIDING = ("PYTHONPATH", "PYTHONHOME")


class ClientCache:
    """The files of one tool. ``False`` for *memory* or *cache*: none; ``None``: the usual place."""

    def __init__(
        self,
        prefix: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        memory: str | os.PathLike[str] | bool | None,
        cache: str | os.PathLike[str] | bool | None,
        contract: str = "",
    ) -> None:
        # What the tool says about itself depends on what it is asked to speak.
        self._variant = (contract, env.get("MURLI_CONTRACT", ""))
        self._prefix = tuple(prefix)
        self._cwd = cwd or ""
        self._env = env
        self._redirects = RedirectMemory(_chosen(memory, default_path()))
        self._folder = _chosen(cache, _usual_cache())
        self._keys: dict[tuple[str, ...], str] = {}

    def recall(self) -> Rules:
        """Return the permanent redirects of the tool."""
        return self._redirects.rules(self._tool())

    def remember(self, old: tuple[str, ...], new: tuple[str, ...]) -> bool:
        """Keep a permanent redirect."""
        return self._redirects.remember(self._tool(), old, new)

    def load(self) -> Kept | None:
        """Return the catalogue that was kept of exactly this program."""
        if not self._folder:
            return None
        try:
            with open(self._file(), "rb") as file:
                document = json.loads(file.read(_LARGEST))
        except (OSError, ValueError, RecursionError):
            return None
        identity, is_certain = self._identity()
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            return None
        entry = document.get("entry")
        if document.get("identity") != identity or not _is_entry(entry):
            return None
        return Kept(cast("dict[str, Any]", entry), is_certain)

    def save(self, entry: Mapping[str, Any]) -> None:
        """Keep a catalogue."""
        if not self._folder:
            return
        identity, _ = self._identity()
        target = self._file()
        try:
            data = json.dumps({"format": _FORMAT, "identity": identity, "entry": entry}).encode()
            make_folders(self._folder)
            tighten(self._folder)
            replace_with(target, f"{target}.{os.urandom(4).hex()}.new", data)
        except (OSError, ValueError, RecursionError):
            pass

    def _tool(self) -> str:
        """Return what the tool is filed under: what decides which program answers.

        That is the path it is called by, for a program may look at its own name: links to one
        program are several tools, and each environment of Python has an interpreter of its own.
        Further words may be looked up in the folder it runs in, and along the path of Python.
        """
        place = self._place()
        seen = (place, *(self._env.get(name, "") for name in ("PATH", *_DECIDING)))
        if seen not in self._keys:
            key: dict[str, Any] = {"program": self._program(place), "words": self._prefix[1:]}
            if not all(map(os.path.isabs, self._prefix[1:])):
                key["in"] = place
                key["with"] = [self._env.get(name, "") for name in _DECIDING]
            self._keys[seen] = json.dumps(key)
        return self._keys[seen]

    def _place(self) -> str:
        """Return the folder that the tool runs in."""
        try:
            return os.path.abspath(self._cwd)
        except OSError:  # it is gone
            return self._cwd

    def _program(self, place: str) -> str:
        first = self._prefix[0]
        if os.sep not in first:
            first = shutil.which(first, path=self._env.get("PATH")) or first
        return os.path.normpath(os.path.join(place, first)) if os.sep in first else first

    def _file(self) -> str:
        key = json.dumps([self._tool(), self._variant])
        name = hashlib.sha256(key.encode()).hexdigest()[:32]
        return os.path.join(self._folder, f"{name}.json")

    def _identity(self) -> tuple[list[Any], bool]:
        """Return what distinguishes this program from a newer one, and whether that is all of it.

        Of ``python -m tool`` it is not: what runs is not what answers. Nor is it of a link to a
        program of another name, which may be one that looks up what to run.
        """
        place = self._place()
        files = [self._program(place)]
        files += [os.path.join(place, word) for word in self._prefix[1:] if os.sep in word]
        found = [fact for fact in map(_facts, files) if fact]
        is_all = len(found) == len(self._prefix)
        return found, is_all and not _leads_elsewhere(files[-1])


def _facts(path: str) -> list[Any] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [path, os.path.realpath(path), status.st_mtime_ns, status.st_size]


def _leads_elsewhere(path: str) -> bool:
    """Return whether *path* is a link to a program that is called otherwise."""
    return name_of(os.path.realpath(path)) != name_of(path)


def _chosen(given: str | os.PathLike[str] | bool | None, usual: str) -> str:
    if given is None or isinstance(given, bool):
        return "" if given is False else usual
    return os.path.abspath(os.fspath(given))


def _usual_cache() -> str:
    cache = user_folder("XDG_CACHE_HOME")
    return os.path.join(cache, "murli", "catalogues") if cache else ""


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("kind") in ("describe", "manifest")
        and isinstance(entry.get("contract"), str)
        and isinstance(entry.get("document"), dict)
        and isinstance(entry.get("name", ""), str)
        and (entry["kind"] == "describe" or "name" in entry)
    )
