"""Secrets that nobody named: what a token, a key or an address with a password looks like.

For texts that describe a tool or explain a failure, which show what their author, the environment
or a caller put in: defaults, help, examples, messages. A result is never looked at like this: what
a tool was asked for is not taken out of its answer by its looks.

What a text only stands for is left: ``postgres://USER:PASSWORD@HOST``, ``<token>``, ``$TOKEN``.
"""

from __future__ import annotations

import re

from .names import is_secret_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MASK = "[REDACTED]"

_TOKENS = re.compile(
    r"""
    -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z ]*-----|\Z)
    | (?<![\w-])(?:
        sk-(?=[\w-]*\d)[\w-]{5,}                                # OpenAI, Anthropic
      | [rs]k_(?:live|test)_\w{6,} | whsec_\w{8,}               # Stripe
      | gh[a-z]_[A-Za-z0-9]{6,} | github_pat_\w{8,}
      | glpat-[\w-]{8,}
      | A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{12,}                       # AWS
      | xox[a-z]-[\w-]{6,} | xapp-[\w-]{8,}                     # Slack
      | AIza[\w-]{20,} | ya29\.[\w-]{8,}                        # Google
      | npm_[A-Za-z0-9]{16,} | pypi-[\w-]{16,} | hf_[A-Za-z0-9]{16,} | dop_v1_\w{16,}
      | SG\.[\w-]{16,}\.[\w-]{16,}                              # SendGrid
      | eyJ[\w-]{5,}\.[\w-]{4,}(?:\.[\w-]*)?                    # a JSON web token
    )
    """,
    re.VERBOSE | re.DOTALL,
)
# What follows the name of a scheme; in a sentence a word may.
_SCHEME = re.compile(
    r"(?i)\b((?:bearer|basic|digest)[ ]+)(?=[^\s\"']*(?-i:\d|[a-z][A-Z]|=))([^\s\"',;]{8,})"
)
_ONLY_SCHEME = re.compile(r"(?i)((?:authorization:\s*)?(?:bearer|basic|digest|token)\s+)\S+\Z")
_ADDRESS = re.compile(r"([a-zA-Z][\w+.-]*://)([^\s\"'<>`]+)")
_PAIR = re.compile(r"""(?<![\w-])([A-Za-z][\w -]{1,30}?)(\s*=\s*)("[^"]*"|'[^']*'|[^\s;&,'"]+)""")
# What else is in a text that says how to connect: host=… password=…
_CONNECTS = re.compile(
    r"(?i)(?<![\w-])(?:host|server|user|user id|uid|dbname|database|accountname|endpoint)\s*="
)
_LABELLED = re.compile(r"([A-Za-z][\w-]*)(\s*[:=]\s*)(.+)", re.DOTALL)
_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie", "set-cookie"))
# What stands for a secret in a text that explains how one is written.
_PLACEHOLDER = re.compile(
    r"<[^>]*>|\{[^}]*\}|\[[^]]*\]|\$\{?[A-Z_]+\}?|%s|%\(\w+\)s|[*.xX…]+"
    r"|(?:[A-Z]+_)*(?:PASS|PASSWD|PASSWORD|PW|PWD|SECRET|TOKEN|KEY)"
)
_PORT = re.compile(r"\d{1,5}(?:[/?#]|\Z)")
_SHORTEST_NAMELESS = 16
# What is shorter holds nothing that any of the patterns looks for: ``a://``, ``host=`` …
_SHORTEST_SUSPECT = 4


def without_secrets(text: str) -> str:
    """Return *text* with a mask in the place of what looks like a secret."""
    if "://" in text:
        text = _ADDRESS.sub(_masked_address, text)
    if _CONNECTS.search(text):
        text = _PAIR.sub(_masked_pair, text)
    text = _SCHEME.sub(_masked_value, text)
    return _TOKENS.sub(MASK, text)


def value_without_secrets(value: Any) -> Any:
    """Return a *value* in plain data, a default say, with a mask for what looks like a secret.

    Unlike a sentence, a text that is a value as a whole may be a header or a setting.
    """
    if isinstance(value, str):
        return _masked_text(value)
    if isinstance(value, list):
        return [value_without_secrets(each) for each in value]
    if isinstance(value, dict):
        return {
            without_secrets(name): MASK
            if _is_secret_item(name, each)
            else value_without_secrets(each)
            for name, each in value.items()
        }
    return value


def document_without_secrets(document: Any) -> Any:
    """Return a *document* about the tool with a mask for what looks like a secret in its texts.

    All of it is looked at as one text first: most documents hold none.
    """
    # No pattern depends on whether a text begins, or a line.
    texts = "\n".join(_texts_in(document))
    is_suspect = "://" in texts or any(each.search(texts) for each in (_CONNECTS, _SCHEME, _TOKENS))
    return _masked(document) if is_suspect else document


def _texts_in(document: Any) -> set[str]:
    """Return the texts in plain data that are long enough for a secret."""
    found: set[str] = set()
    waiting = [document]
    for each in waiting:
        if type(each) is str:
            if len(each) >= _SHORTEST_SUSPECT:
                found.add(each)
        elif type(each) is dict:
            waiting += each.values()
        elif type(each) is list:
            waiting += each
    return found


def _masked(document: Any) -> Any:
    if isinstance(document, str):
        return without_secrets(document)
    if isinstance(document, list):
        return [_masked(each) for each in document]
    if isinstance(document, dict):
        return {name: _masked(each) for name, each in document.items()}
    return document


def _masked_text(text: str) -> str:
    found = _ONLY_SCHEME.match(text)
    if found:
        return found[1] + MASK
    found = _LABELLED.fullmatch(text)
    if found and not found[3].startswith("//"):
        name, between, value = found.groups()
        if name.lower() in _HEADERS or (is_secret_name(name) and not _stands_for_one(value)):
            return f"{name}{between}{MASK}"
    return without_secrets(text)


def _is_secret_item(name: str, value: Any) -> bool:
    named = is_secret_name(name) or name.lower() in _HEADERS
    return named and isinstance(value, (str, int)) and not isinstance(value, bool)


def _masked_value(found: re.Match[str]) -> str:
    return found[1] + (found[2] if _stands_for_one(found[2]) else MASK)


def _masked_pair(found: re.Match[str]) -> str:
    name, between, value = found.groups()
    secret = is_secret_name(name.strip().replace(" ", "_")) and not _stands_for_one(value)
    return f"{name}{between}{MASK if secret else value}"


def passwords_in(text: str) -> Iterator[str]:
    """Yield the passwords in the addresses that *text* holds, as they are and percent-decoded.

    One that stands in the rest of its address as well protects nothing.
    """
    for found in _ADDRESS.finditer(text):
        user, colon, password, behind = _login_in(found[2])
        if colon:
            secret = "" if password == user else password
        else:
            secret = user if _looks_generated(user) else ""
        if not secret or _stands_for_one(secret) or secret in behind:
            continue
        yield secret
        if "%" in secret:
            from urllib.parse import unquote

            yield unquote(secret)


def _masked_address(found: re.Match[str]) -> str:
    scheme, rest = found.groups()
    user, colon, password, behind = _login_in(rest)
    behind = _masked_query(behind)
    if not user and not colon:
        return scheme + behind
    if colon and password and not _stands_for_one(password):
        password = MASK
    elif not colon and _looks_generated(user):
        user = MASK
    return f"{scheme}{user}{colon}{password}@{behind}"


def _login_in(rest: str) -> tuple[str, str, str, str]:
    """Return the user, colon and password in what follows a scheme, and what is behind them."""
    ends = [place for place in map(rest.find, "/?#") if place >= 0]
    host = rest[: min(ends, default=len(rest))]
    if "@" in host:
        login, _, behind = host.rpartition("@")
        behind += rest[len(host) :]
    elif ":" in host and "@" in rest and not _PORT.match(host.partition(":")[2]):
        # A password with a slash in it, as it must not be written.
        login, _, behind = rest.rpartition("@")
    else:
        return "", "", "", rest
    return *login.partition(":"), behind


def _masked_query(text: str) -> str:
    path, mark, query = text.partition("?")
    if not mark:
        return text
    pairs = []
    for pair in query.split("&"):
        name, equals, value = pair.partition("=")
        if value and is_secret_name(name) and not _stands_for_one(value):
            value = MASK
        pairs.append(f"{name}{equals}{value}")
    return f"{path}?{'&'.join(pairs)}"


def _looks_generated(text: str) -> bool:
    return len(text) >= _SHORTEST_NAMELESS and any(map(str.isdigit, text))


def _stands_for_one(text: str) -> bool:
    """Return whether *text* only says where a secret would stand."""
    return _PLACEHOLDER.fullmatch(text.strip("\"'")) is not None
