"""What surrounds a call under the ResponseEnvelope contracts: programs below it, secrets, settings.

Programs that the handler starts are told that nobody is there to be notified of anything. What is
named like a secret is one, whether or not its author said so.
"""

from __future__ import annotations

import os
import re

from . import SECRET_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .invocation import Invocation

_FOR_CHILDREN = {
    "CI": "1",
    "NO_UPDATE_NOTIFIER": "1",
    "HOMEBREW_NO_AUTO_UPDATE": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PYTHONUNBUFFERED": "1",  # their prints are collected
}
MASK = "[REDACTED]"
# Variables whose values are secrets, if they look like it; those of SECRET_NAMES are known already.
_SECRET_ENDS = ("_KEY", "_PASS", "_PASSPHRASE", "_CREDENTIALS")
_SECRET_STARTS = ("API_", "AUTH_")
# What goes on where a list ended is called a token as well, and is none.
_NO_SECRETS = ("page", "next", "continuation", "sync")
# Hidden wherever it stands, a shorter text that nobody declared would tear words apart.
_SHORTEST = 6
_HEADER = r"(?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token"
_NAME = r"[\w-]*(?:token|secret|password|passwd|passphrase|api[_-]?key|credential)s?"
_VALUE = r"(?:(?:bearer|basic|digest|token)\s+)?[^\s\"',;&}\])]+"
_NAMED = re.compile(rf"(?i)(?<![\w-])((?:{_HEADER}|{_NAME})[\"']?\s*[:=]\s*[\"']?)({_VALUE})")


def tell_children() -> Callable[[], None]:
    """Tell the programs below what every program wants to know that nobody watches."""
    added = {name: told for name, told in _FOR_CHILDREN.items() if name not in os.environ}
    os.environ.update(added)

    def undo() -> None:
        for name, told in added.items():
            if os.environ.get(name) == told:
                del os.environ[name]

    return undo


def hide_named(invocation: Invocation) -> None:
    """Keep the secrets that only their names tell of: options of the call, and variables."""
    for value in (*_given(invocation), *_in_environment()):
        invocation.hide(value)


def _given(invocation: Invocation) -> Iterator[str]:
    call = invocation.call
    words = call.rest
    for position, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option == "--":
            return
        if not option.startswith("--") or not _is_secret(option) or not call.level.owns(option):
            continue
        if not equals and call.level.width(option) == (1, 1):
            value = "".join(words[position + 1 : position + 2])
        if len(value) >= _SHORTEST:
            yield value


def _is_secret(option: str) -> bool:
    parts = option.lstrip("-").replace("-", "_").lower()
    if any(part in _NO_SECRETS for part in parts.split("_")):
        return False
    return f"_{parts}".upper().endswith(SECRET_NAMES)


def _in_environment() -> Iterator[str]:
    for name, value in os.environ.items():
        if name.endswith(_SECRET_ENDS) or name.startswith(_SECRET_STARTS):
            mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
            if len(value) >= 16 and mixed and not set(value) & set(" /:\\"):
                yield value


def masked(text: str) -> str:
    """Give *text*, which is for stderr, without what its own words call a secret."""
    return _NAMED.sub(lambda found: found[1] + MASK, text)


def settings_of(invocation: Invocation) -> dict[str, Any]:
    """Give where the values came from that nobody typed, and what they amount to."""
    if not invocation.applied:
        return {"config_sources": []}
    from hashlib import blake2b

    from ..formats import dumps
    from .saved import store_file

    metadata, saved = invocation.metadata, invocation.saved
    notes = metadata.flag_annotations if metadata is not None else {}
    kept = {
        key: MASK if key in notes and notes[key].sensitive else saved.stored(key)
        for key in sorted(invocation.applied)
    }
    told = dumps([saved.name, kept], pretty=False).encode("utf-8", "surrogatepass")
    return {
        "config_sources": [os.path.abspath(store_file(invocation).path)],
        "effective_config_hash": blake2b(told, digest_size=8).hexdigest(),
    }
