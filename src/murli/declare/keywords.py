"""The keywords of `murli.about`, for type checkers and editors; no program ever loads this."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from ..type_checking import DangerLevel, Effect
from . import FlagAnnotation
from .declarations import Deprecation, Paging, Rule
from .described import ArgumentMetadata, Example
from .exit_codes import ExitCodeEntry
from .traits import Traits


class MetadataFields(TypedDict, total=False):
    """The fields of a `Metadata`, in their order."""

    agent_description: str | None
    when_to_use: str | None
    idempotent: bool | None
    mutating: bool | None
    arguments: Sequence[ArgumentMetadata] | None
    returns: Any
    examples: Sequence[Example] | None
    flag_annotations: Mapping[str, FlagAnnotation] | None
    dry_runnable: bool | None
    destructive: bool | None
    reveals_secrets: bool | None
    timeout: float | None
    danger_level: DangerLevel | None
    exit_codes: Mapping[Any, ExitCodeEntry] | None
    ok_codes: Mapping[int, str] | None
    effect: Effect | None
    steps: Sequence[str] | None
    required_scopes: Sequence[str] | None
    requires: Sequence[Rule] | None
    deprecated: Deprecation | str | None
    lists: Paging | bool | None
    streams: bool | None
    external: bool | None
    schema_version: str | None
    traits: Traits | None
    plan: Callable[..., Any] | None
    next: Sequence[str] | None
    state: str | None
    batch: str | None
