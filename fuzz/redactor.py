"""The redactor: a secret that is known is in nothing that goes out, and the rest stays."""

from __future__ import annotations

import json
from typing import Any

from fuzz.targets import require
from fuzz.values import Source, value_from
from murli import EncodingError
from murli.formats import dumps, plain
from murli.formats.text import clean
from murli.secrets.names import SHORTEST, is_usual
from murli.secrets.redaction import MASK, Secrets

WORDS = [MASK, "s3cr3t", "status", "\\u00e9", "%20", '\\"', "\x1b[0m"]
# Words of a document itself; see the redactor.
_STRUCTURAL = ("status", "schema_version", "error", "code", "ok", "phase")
_OWN = ("message", "result", "context")


def check(data: bytes) -> None:
    """Hide some secrets, and look for them in texts and documents made around them."""
    source = Source(data)
    secrets, hidden = Secrets(), [source.text() for _ in range(source.byte() % 3 + 1)]
    for secret in hidden:
        secrets.add(secret)
    before, behind = source.text(), source.text()
    # What is replaced must not be part of what replaces it, nor arise where two parts meet.
    searched = [
        secret
        for secret in hidden
        if len(secret) >= SHORTEST and not _meets(secret) and not is_usual(secret)
    ]
    for secret in searched:
        for spelled in (secret, repr(secret)[1:-1], json.dumps(secret), _dumped(secret)):
            text = before + spelled + behind
            found = secrets.scrub(text)
            require(secret not in found, "a secret is not in scrubbed text", (secret, text))
            if len(hidden) == 1:
                require(secrets.scrub(found) == found, "scrubbing once is enough", (secret, text))
        _require_bytes(secrets, secret, before + secret + behind)
    _require_documents(secrets, hidden, searched, source)
    untouched = "0"
    # A secret that is a number is hidden as that number, too: "00" as 0.
    is_hidden = untouched in hidden or untouched in secrets.numbers
    require(is_hidden or secrets.scrub(untouched) == untouched, "the rest stays")


def _meets(secret: str) -> bool:
    return any(char in MASK for char in secret)


def _dumped(text: str) -> str:
    return dumps(clean(text), pretty=False)


def _require_bytes(secrets: Secrets, secret: str, text: str) -> None:
    for encoding in ("utf-8", "latin-1", "ascii"):
        data = text.encode(encoding, "backslashreplace" if encoding != "utf-8" else "surrogatepass")
        found = secrets.scrub_bytes(data, encoding)
        try:
            raw = secret.encode(encoding)
        except UnicodeEncodeError:
            continue
        require(raw not in found, "a secret is not in scrubbed bytes", (encoding, secret, text))


def _require_documents(
    secrets: Secrets, hidden: list[str], searched: list[str], source: Source
) -> None:
    try:
        payload = plain({"a": value_from(source), "b": [*hidden, {"c": hidden[0]}]})
    except EncodingError:
        return
    for document in (
        {"status": "ok", "message": clean(hidden[0]), "result": payload},
        {"ok": False, "error": {"code": "X", "message": clean(hidden[-1]), "context": payload}},
    ):
        found = secrets.scrub_document(document)
        require(list(found) == list(document), "a document keeps its keys", document)
        text = dumps(found)
        require(json.loads(text) == found, "a scrubbed document is still one", document)
        for secret in searched:
            cleaned = clean(secret)
            if len(cleaned) >= SHORTEST and not _meets(cleaned):
                places = [place for place in _texts(found) if cleaned in place]
                require(not places, "a secret is not in a scrubbed document", (secret, document))


def _texts(value: Any) -> list[str]:
    """Return every text in *value*, a document's own words left out."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        named = [key for key in value if key not in _STRUCTURAL and key not in _OWN]
        values = [
            each for key, each in value.items() if key not in _STRUCTURAL or isinstance(each, dict)
        ]
        return named + _texts(values)
    return [text for each in value for text in _texts(each)] if isinstance(value, list) else []
