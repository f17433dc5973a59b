"""Hooks of the documentation site: pages that are files of the repository."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
# Pages of the site, and the files of the repository that they are.
PAGES = {"architecture.md": "ARCHITECTURE.md", "changelog.md": "CHANGELOG.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are files of the repository."""
    for page, name in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_linked(text)))
    return files


def _linked(text: str) -> str:
    """Return a file of the repository with its links to pages as the site has them."""
    return re.sub(r"\]\(docs/([^)]+)\)", r"](\1)", text)
