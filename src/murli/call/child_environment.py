"""What surrounds a call under the ResponseEnvelope contracts: programs below it, secrets, settings.

Programs that the handler starts are kept from notifying anybody of anything. What a
line of a log calls a secret is taken out of it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from . import Invocation

# Set to 1 for them, unless they are set to anything.
_FOR_CHILDREN = (
    *("CI", "NO_UPDATE_NOTIFIER", "HOMEBREW_NO_AUTO_UPDATE", "PIP_DISABLE_PIP_VERSION_CHECK"),
    "PYTHONUNBUFFERED",  # their prints are collected
)
MASK = "[REDACTED]"
_HEADER = r"(?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token"
_NAME = r"[\w-]*(?:token|secret|password|passwd|passphrase|api[_-]?key|credential)s?"
_SCHEME = r"(?:(?:bearer|basic|digest|token)\s+)?"
_VALUE = rf"(?!{_SCHEME}\[REDACTED\]){_SCHEME}[^\s\"',;&}}\])]+"
_NAMED = rf"(?i)(?<![\w-])((?:{_HEADER}|{_NAME})[\"']?\s*[:=]\s*[\"']?){_VALUE}"


def inform_children() -> Callable[[], None]:
    """Set the variables by which programs below know that nobody watches."""
    added = [name for name in _FOR_CHILDREN if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))

    def undo() -> None:
        for name in added:
            if os.environ.get(name) == "1":
                del os.environ[name]

    return undo


def masked(text: str) -> str:
    """Return *text*, which is for stderr, without what its own words call a secret."""
    if ":" not in text and "=" not in text:
        return text
    import re  # which keeps the pattern; most calls log nothing, and compiling it is dear

    return re.sub(_NAMED, lambda found: found[1] + MASK, text)


def settings_of(invocation: Invocation) -> dict[str, Any]:
    """Return where the values came from that nobody typed, and what they amount to."""
    if not invocation.request.applied:
        return {"config_sources": []}
    from hashlib import blake2b

    from ..formats import dumps
    from .saved_profile import store_file

    metadata, saved = invocation.metadata, invocation.saved
    notes = metadata.flag_annotations if metadata is not None else {}
    kept = {
        key: MASK if key in notes and notes[key].sensitive else saved.stored(key)
        for key in sorted(invocation.request.applied)
    }
    passed = dumps([saved.name, kept], pretty=False).encode("utf-8", "surrogatepass")
    return {
        "config_sources": [os.path.abspath(store_file(invocation).path)],
        "effective_config_hash": blake2b(passed, digest_size=8).hexdigest(),
    }
