"""What describes the tool reveals nothing: neither the secrets of the environment nor others."""

from __future__ import annotations

import re

from ..secrets.names import SHORTEST, is_in_secret_variable, is_public, secrets_of_environment
from ..secrets.redaction import Secrets
from ..secrets.shapes import MASK, document_without_secrets, value_without_secrets
from .payload import is_named_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..declare.tree import Command, Flag


def discreet(document: Any) -> Any:
    """Return a *document* about the tool, or a text, without what is secret in it.

    Also for a person at a terminal: what is described is kept, pasted and handed on.
    """
    known = Secrets()
    known.add(list(secrets_of_environment()), named=True)
    if known.texts or known.whole:
        document = known.scrub_value(document)
    return document_without_secrets(document)


def shown_default(flag: Flag, command: Command, description: str = "") -> tuple[Any, str]:
    """Return the default of *flag* as it may be shown, and *description* without what may not.

    The default is a mask where it is secret as a whole.
    """
    if flag.default is None:
        return None, description
    default = MASK if _is_secret(flag, command) else value_without_secrets(flag.default)
    if default != flag.default:
        for text in _texts_in(flag.default):
            whole = rf"(?<!\w){re.escape(text)}(?!\w)" if len(text) < SHORTEST else re.escape(text)
            description = re.sub(whole, MASK, description)
    return default, description


def _is_secret(flag: Flag, command: Command) -> bool:
    """Return whether the default of *flag* is a secret: declared as one, or named like one."""
    if command.is_secret(flag):
        return True
    if isinstance(flag.default, bool) or not is_named_secret(command, flag):
        return False
    text = str(flag.default)
    return not is_public(text) or is_in_secret_variable(text)


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the ways in which a help text may mention *value*, the longest first."""
    if value != "" and not isinstance(value, bool):
        yield str(value)
    if isinstance(value, (list, dict)):
        for each in value if isinstance(value, list) else value.values():
            yield from _texts_in(each)
