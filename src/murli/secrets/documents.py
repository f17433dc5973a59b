"""Plain data without the secrets in it: the texts that hold some are found first, all together."""

from __future__ import annotations

from .matching import BATCH, MASK, MASK_BYTES, redacted, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .redaction import Secrets

# Words of the contracts; a secret of the same spelling does not make an answer unreadable.
_STRUCTURAL = ("status", "schema_version", "error", "code", "ok", "phase")
# Parts of a document whose keys and numbers are the contract's.
_PARTS = ("error", "meta", "page")
# A number of fewer digits is in every result.
_SHORTEST_NUMBER = 3


class Redaction:
    """Plain data, and what becomes of the texts and numbers in it that hold *secrets*."""

    def __init__(self, secrets: Secrets, value: Any) -> None:
        self._secrets = secrets
        self._changes: dict[str, str] = {}
        self._find_changes(value)

    def document(self, document: Any) -> Any:
        """Return a document of a contract without the secrets in it; its own words stay."""
        return self._redacted_document(document) if self._changes else document

    def value(self, value: Any) -> Any:
        """Return plain data without the secrets in it."""
        return self._rebuilt(value) if self._changes else value

    def _redacted_document(self, document: Any) -> Any:
        if not isinstance(document, dict):
            return self._rebuilt(document)
        found: dict[str, Any] = {}
        for key, value in document.items():
            if key in _PARTS and isinstance(value, dict):
                found[key] = self._redacted_document(value)
            elif key in _STRUCTURAL or isinstance(value, (int, float)):
                found[key] = value
            else:
                found[key] = self._rebuilt(value)
        return found

    def _rebuilt(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._changes.get(value, value)
        if isinstance(value, dict):
            if _is_binary(value):
                return self._binary(value)
            return self._rebuilt_items(value)
        if isinstance(value, list):
            return [self._rebuilt(each) for each in value]
        if value is None or isinstance(value, bool):
            return value
        return MASK if self._may_be_secret(text := str(value)) and text in self._changes else value

    def _rebuilt_items(self, value: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, each in value.items():
            shown = key if key not in self._changes else self._key(key)
            number = 1
            while shown in found or (shown != key and shown in value):  # none takes another's place
                number += 1
                shown = f"{self._key(key)} {number}"
            found[shown] = self._rebuilt(each)
        return found

    def _key(self, key: str) -> str:
        if key in self._secrets.whole_keys:
            return MASK
        return redacted(key, self._secrets.key_matcher)

    def _binary(self, value: dict[str, Any]) -> dict[str, Any]:
        """Return bytes that were made plain data without the secrets in them."""
        from ..formats.foreign import binary

        data = _decoded(value)
        scrubbed = self._secrets.scrub_bytes(data)
        if scrubbed == data and data.decode("utf-8", "replace") not in self._secrets.whole:
            return value
        return binary(scrubbed if scrubbed != data else MASK_BYTES)

    def _find_changes(self, value: Any) -> None:
        """Note the texts and numbers in *value* that hold secrets, and what they become."""
        batch: list[str] = []
        size = 0
        for text in self._leaves(value):
            if text in self._secrets.whole:
                self._changes[text] = MASK
                continue
            if len(text) > BATCH:
                self._look_at([text])
                continue
            batch.append(text)
            size += len(text) + 1
            if size > BATCH:
                self._look_at(batch)
                batch, size = [], 0
        self._look_at(batch)

    def _leaves(self, value: Any) -> Iterator[str]:
        """Yield every text in *value*, keys too, and the numbers that may be secret."""
        waiting = [value]
        while waiting:
            each = waiting.pop()
            if isinstance(each, str):
                yield each
            elif isinstance(each, dict):
                if _is_binary(each):
                    yield _decoded(each).decode("utf-8", "surrogateescape")
                yield from each
                waiting += each.values()
            elif isinstance(each, list):
                waiting += each
            elif (
                self._secrets.numbers
                and isinstance(each, (int, float))
                and not isinstance(each, bool)
                and self._may_be_secret(text := str(each))
            ):
                yield text

    def _may_be_secret(self, number: str) -> bool:
        """Return whether *number* is a secret, or is so long that one may stand in it."""
        return len(number) >= _SHORTEST_NUMBER and (
            number not in self._secrets.whole or number in self._secrets.numbers
        )

    def _look_at(self, batch: list[str]) -> None:
        """Note those texts of *batch* that hold secrets.

        All are looked at as one: most documents have no secret, and texts are many.
        """
        if not self._secrets.texts or not batch:
            return
        matcher = self._secrets.matcher
        if len(batch) == 1:
            changed = redacted(batch[0], matcher)
            if changed is not batch[0]:
                self._changes[batch[0]] = changed
            return
        encoded = [text.encode("utf-8", "surrogatepass") for text in batch]
        spans = matcher.spans(b"\0".join(encoded))
        if not spans:
            return
        start = number = 0
        for text, data in zip(batch, encoded, strict=True):
            end, inside = start + len(data), []
            while number < len(spans) and spans[number][0] < end:
                first, last = spans[number]
                inside.append((max(first - start, 0), min(last, end) - start))
                if last > end + 1:  # the next text holds what is left of it
                    break
                number += 1
            if inside:
                scrubbed = replaced(data, inside, MASK_BYTES)
                self._changes[text] = scrubbed.decode("utf-8", "surrogatepass")
            start = end + 1


def _is_binary(value: dict[str, Any]) -> bool:
    return value.get("type") == "binary" and value.get("encoding") == "base64"


def _decoded(value: dict[str, Any]) -> bytes:
    from binascii import Error, a2b_base64

    try:
        return a2b_base64(str(value.get("value", "")).encode("ascii", "replace"))
    except Error:  # not ours
        return b""
