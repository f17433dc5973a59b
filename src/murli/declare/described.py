"""What authors say of arguments, of results, and in examples of calls."""

from __future__ import annotations

from ..core import Record, dict_of, field, fill
from . import check_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import KW_ONLY
    from typing import Any

    from ..type_checking import Given, PatternType, ValueKind


class ArgumentMetadata(Record):
    """What a positional argument means, and which values it takes (as in `FlagAnnotation`)."""

    name: str
    type: str = "string"
    required: bool = False
    description: str = ""
    _: KW_ONLY
    pattern: str = ""
    pattern_type: PatternType = ""
    kind: ValueKind = ""
    max_bytes: int = 0
    reaches_child: bool = False

    def _check(self, given: dict[str, Any]) -> None:
        check_values(self)

    @property
    def has_checks(self) -> bool:
        """Whether its values are restricted."""
        pattern = self.pattern or self.pattern_type
        return bool(pattern or self.kind or self.max_bytes or self.reaches_child)


def _shape(schema: ReturnSchema) -> dict[str, Any]:
    """Return what ``shape`` is."""
    return schema.shape


class ReturnSchema(Record):
    """What a successful call returns; ``properties`` is another name for ``shape``."""

    type: str = "json"
    description: str = ""
    properties: Given[Mapping[str, Any] | None, dict[str, Any]] = field(default=None, read=_shape)
    shape: Given[Mapping[str, Any] | None, dict[str, Any]] = field(default=None, convert=dict_of)
    output_schema: Any = None

    def _check(self, given: dict[str, Any]) -> None:
        properties = given.get("properties")
        if properties is None:
            return
        if given.get("shape") is not None:
            raise TypeError("ReturnSchema takes shape= or properties=, not both")
        fill(self, shape=dict(properties))


class Example(Record):
    """A call worth showing, and its exit code."""

    command: str
    description: str = ""
    expected_exit_code: int = 0
