"""The typed model of the ResponseEnvelope family.

``ResponseEnvelope[T]`` is generic over the command's declared output. ``ok`` is computed from
the exit code and cannot be given; the five keys are always present in the document.
"""

from __future__ import annotations

from ..core import Record, field, fill, or_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import KW_ONLY
    from typing import Any, Generic, TypeVar

    from ..type_checking import Given, Several

    T = TypeVar("T")

    class _Generic(Record, Generic[T]):
        pass

else:

    class _Generic(Record):
        """Subscriptable like ``typing.Generic``, which is too dear to import for that."""

        __class_getitem__ = classmethod(type(list[int]))

    T = "T"


class Redirect(Record):
    """Where a command went: run *command* as it stands; for ever when *permanent*."""

    command: str
    permanent: bool
    reason: str = ""

    def document(self) -> dict[str, Any]:
        """Return the JSON object."""
        document: dict[str, Any] = {"command": self.command, "permanent": self.permanent}
        if self.reason:
            document["reason"] = self.reason
        return document


class ErrorDetail(Record):
    """Why a call failed, and what to do; a field that is ``None`` is not written.

    ``retry_after`` (seconds) and ``retry_after_ms`` belong to different revisions of the
    contract, as do the ``fix`` fields; the factory fills those its revision knows.
    """

    code: str
    message: str
    _: KW_ONLY
    detail: str | None = None
    context: dict[str, Any] | None = None
    docs_url: str | None = None
    retryable: bool | None = None
    retry_after: int | None = None
    retry_after_ms: int | None = None
    retry_strategy: str | None = None
    fix_required: str | None = None
    fix_command: str | None = None
    phase: str | None = None
    suggestion: str | None = None
    redirect: Redirect | None = None
    # What later revisions leave open.
    more: Given[dict[str, Any] | None, dict[str, Any]] = field(default=None, convert=or_empty)

    if not TYPE_CHECKING:

        def __init__(self, *args, more=None, **named):
            """Take what later revisions leave open by its keywords as well."""
            others = [name for name in named if name not in type(self).__annotations__]
            more = {**(more or {}), **{name: named.pop(name) for name in others}}
            super().__init__(*args, more=more, **named)

    def document(self) -> dict[str, Any]:
        """Return the JSON object, in the order of the fields above."""
        values = dict(self.__dict__)
        values.update(values.pop("more"))
        document = {name: value for name, value in values.items() if value is not None}
        if self.redirect is not None:
            document["redirect"] = self.redirect.document()
        return document


class ResponseMeta(Record):
    """Facts about the invocation; *more* holds what the envelope leaves open."""

    duration_ms: int
    exit_code: int | None
    request_id: str | None
    schema_version: str | None
    more: dict[str, Any]

    def __init__(
        self,
        duration_ms: int,
        *,
        exit_code: int | None = None,
        request_id: str | None = None,
        schema_version: str | None = None,
        **more: Any,
    ) -> None:
        given = locals()
        del given["self"]
        fill(self, **given)

    def document(self) -> dict[str, Any]:
        """Return the JSON object."""
        fixed = {
            "exit_code": self.exit_code,
            "duration_ms": self.duration_ms,
            "request_id": self.request_id,
            "schema_version": self.schema_version,
            **self.more,
        }
        return {name: value for name, value in fixed.items() if value is not None}


class ResponseEnvelope(_Generic[T]):
    """One answer of the family; *exit_code* alone decides ``ok``."""

    exit_code: int
    data: T | None
    error: ErrorDetail | None
    meta: ResponseMeta
    warnings: Several[str | dict[str, Any]] = field(default=(), convert=tuple)

    def _check(self, given: dict[str, Any]) -> None:
        exit_code, error, meta = self.exit_code, self.error, self.meta
        if exit_code != 0 and error is None:
            raise ValueError(f"exit code {exit_code} needs an error; a failure must say why")
        if exit_code == 0 and error is not None:
            raise ValueError("exit code 0 cannot carry an error")
        is_explained = meta.more.get("not_modified") or meta.more.get("help")
        if self.data is None and error is None and not is_explained:
            raise ValueError("data and error are both null; give data ({} when there is none)")

    def replace(self, **changes: Any) -> ResponseEnvelope[T]:
        """Return a copy with *changes* applied, held to the same rules."""
        return ResponseEnvelope(**super().replace(**changes).__dict__)

    @property
    def ok(self) -> bool:
        """Whether the exit code says success."""
        return self.exit_code == 0

    def document(self) -> dict[str, Any]:
        """Return the JSON object with its five keys."""
        return {
            "ok": self.ok,
            "data": self.data,
            "error": None if self.error is None else self.error.document(),
            "warnings": list(self.warnings),
            "meta": self.meta.document(),
        }
