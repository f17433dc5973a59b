"""What an author declares so that more of a tool can be checked: a TOML or JSON file.

A profile adds calls, files and arguments for commands, and excludes commands or checks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from .confirming import CONFIRMING_FLAGS
from .results import CONTRACTS

PROBE_KINDS = ("call", "stream", "slow")


class BadProfile(ValueError):
    """A profile that cannot be used; the message says where it is wrong and what is right."""


@dataclass(frozen=True, slots=True)
class ProfileProbe:
    """A call that may be run, and the *exit_code* it must have.

    A ``stream`` writes its items line by line; a ``slow`` call would work for longer than the
    deadline; it is interrupted, and run with too short a timeout.
    """

    words: tuple[str, ...]
    kind: str = "call"
    exit_code: int = 0
    stdin: str = ""


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings of a profile; every one is optional."""

    contract: str = ""
    #: seconds for each process
    timeout: float = 10.0
    env: Mapping[str, str] = field(default_factory=dict)
    #: files by name, created in the folder where the tool runs
    files: Mapping[str, str] = field(default_factory=dict)
    #: calls that are made first, even if they change something
    setup: tuple[tuple[str, ...], ...] = ()
    #: the arguments of a command, instead of made-up ones
    arguments: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    probes: tuple[ProfileProbe, ...] = ()
    #: commands that only read, whatever their names suggest
    safe: tuple[str, ...] = ()
    #: commands that are never run, not even to see them refuse
    exclude: tuple[str, ...] = ()
    #: checks that are not made, each with the reason
    skip: Mapping[str, str] = field(default_factory=dict)
    #: whether the tool sees the real home instead of an empty one
    keep_home: bool = False


def load(path: str | os.PathLike[str]) -> Profile:
    """Return the profile in the file *path*; raises `BadProfile`."""
    name = os.fspath(path)
    try:
        content = Path(name).read_bytes()
    except OSError as error:
        raise BadProfile(f"{name} cannot be read: {error.strerror}.") from None
    try:
        text = content.decode("utf-8-sig")
        table = json.loads(text) if name.endswith(".json") else _toml(text)
    except BadProfile:
        raise
    except (ValueError, RecursionError) as error:
        kind = "JSON" if name.endswith(".json") else "TOML"
        raise BadProfile(f"{name} is no {kind}: {error}.") from None
    try:
        return from_table(table)
    except BadProfile as error:
        raise BadProfile(f"{name}: {error}") from None


def _toml(text: str) -> Any:
    for name in ("tomllib", "tomli"):  # tomllib is new in Python 3.11
        try:
            reader = import_module(name)
        except ImportError:
            continue
        return reader.loads(text)
    raise BadProfile(
        "TOML cannot be read on this Python: install tomli, or write the profile as JSON."
    )


def from_table(table: Any) -> Profile:
    """Return the profile in *table*, a TOML or JSON document."""
    _need(isinstance(table, dict), "a profile is a table of settings")
    known = {each.name for each in fields(Profile)} - {"probes"} | {"probe"}
    for key in table:
        _need(key in known, f"there is no setting {key!r}: use {', '.join(sorted(known))}")
    given: dict[str, Any] = {}
    for key, read in _READERS.items():
        if key in table:
            given["probes" if key == "probe" else key] = read(key, table[key])
    return Profile(**given)


def _need(truth: bool, otherwise: str) -> None:
    if not truth:
        raise BadProfile(otherwise)


def _contract(key: str, value: Any) -> str:
    _need(value in CONTRACTS, f"{key} is one of {', '.join(CONTRACTS)}")
    return str(value)


def _text(key: str, value: Any) -> str:
    _need(isinstance(value, str), f"{key} is a text")
    return str(value)


def _seconds(key: str, value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    _need(is_number and 0 < value <= 600, f"{key} is a number of seconds, 600 at most")
    return float(value)


def _truth(key: str, value: Any) -> bool:
    _need(isinstance(value, bool), f"{key} is true or false")
    return bool(value)


def _words(key: str, value: Any) -> tuple[str, ...]:
    _need(isinstance(value, list), f"{key} is a list of words")
    return tuple(_text(f"each word of {key}", each) for each in value)


def _calls(key: str, value: Any) -> tuple[tuple[str, ...], ...]:
    _need(isinstance(value, list), f"{key} is a list of calls, each a list of words")
    return tuple(_words(f"each call of {key}", each) for each in value)


def _texts(key: str, value: Any) -> dict[str, str]:
    _need(isinstance(value, dict), f"{key} is a table of texts")
    return {name: _text(f"{key}.{name}", each) for name, each in value.items()}


def _arguments(key: str, value: Any) -> dict[str, tuple[str, ...]]:
    _need(isinstance(value, dict), f"{key} is a table of lists of words, by command")
    found = {name: _words(f"{key}.{name}", each) for name, each in value.items()}
    for name, words in found.items():
        confirming = sorted(CONFIRMING_FLAGS.intersection(words))
        _need(not confirming, f"{key}.{name}: nothing is confirmed by a check, so no {confirming}")
    return found


def _probes(key: str, value: Any) -> tuple[ProfileProbe, ...]:
    _need(isinstance(value, list), f"{key} is a list of tables: write [[{key}]]")
    return tuple(_probe(each) for each in value)


def _probe(table: Any) -> ProfileProbe:
    _need(isinstance(table, dict) and "words" in table, "a probe has words")
    known = {each.name for each in fields(ProfileProbe)}
    for key in table:
        _need(key in known, f"a probe has no {key!r}: use {', '.join(sorted(known))}")
    kind, code = table.get("kind", "call"), table.get("exit_code", 0)
    _need(kind in PROBE_KINDS, f"the kind of a probe is {', '.join(PROBE_KINDS)}")
    _need(type(code) is int and 0 <= code <= 255, "the exit_code of a probe is 0 to 255")
    stdin = _text("stdin of a probe", table.get("stdin", ""))
    return ProfileProbe(_words("words of a probe", table["words"]), kind, code, stdin)


_READERS: dict[str, Any] = {
    "contract": _contract,
    "timeout": _seconds,
    "env": _texts,
    "files": _texts,
    "setup": _calls,
    "arguments": _arguments,
    "probe": _probes,
    "safe": _words,
    "exclude": _words,
    "skip": _texts,
    "keep_home": _truth,
}
