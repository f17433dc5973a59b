"""Reports of a conformance check, each a pure function of a `murli.conformance.results.Report`.

``wording`` is what they share: it makes the tool's own text harmless to read. The document for
programs is beside the formats for people, because it is the result of a command, not its output.
"""

from __future__ import annotations

from collections.abc import Callable

from ..results import Report
from .document import document
from .junit import junit
from .markdown import markdown
from .page import page
from .terminal import text

#: what a report can be written as, by name
FORMATS: dict[str, Callable[[Report], str]] = {
    "text": text,
    "junit": junit,
    "markdown": markdown,
    "html": page,
}

__all__ = ["FORMATS", "document", "junit", "markdown", "page", "text"]
