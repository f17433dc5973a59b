"""All checks, by what they are about; importing this registers them."""

from __future__ import annotations

from . import (  # noqa: F401
    family_answers,
    family_danger,
    family_envelope,
    family_errors,
    family_lists,
    family_manifest,
    family_mistakes,
    family_streaming,
    murli_answering,
    murli_claims,
    murli_describing,
    murli_errors,
    murli_formats,
    murli_mistakes,
    murli_safety,
    murli_schemas,
    murli_streaming,
    process,
)
