"""Formats of a report, each a pure function of a `murli.conformance.results.Report`.

``wording`` is what they share, and makes text of the tool harmless. `document` is the result of the
command ``check``, so it is not among the formats.
"""

from __future__ import annotations

from collections.abc import Callable

from ..results import Report
from .document import document
from .junit import junit
from .markdown import markdown
from .page import page
from .terminal import text

#: the formats for people, by name
FORMATS: dict[str, Callable[[Report], str]] = {
    "text": text,
    "junit": junit,
    "markdown": markdown,
    "html": page,
}

__all__ = ["FORMATS", "document", "junit", "markdown", "page", "text"]
