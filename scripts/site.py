"""Hooks of the documentation site: pages that are made when it is built."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from scripts.pages import PAGES, SCHEMAS, llms, llms_full  # noqa: E402

# The text of every page, in the order of the navigation, for llms.txt.
_texts: dict[str, tuple[str, str]] = {}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from the code, or are files elsewhere in the repository."""
    for path, page in PAGES.items():
        files.append(File.generated(config, path, content=page()))
    for path, text in SCHEMAS.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Remember the order of the pages."""
    _texts.clear()
    _texts.update((page.file.src_uri, ("", "")) for page in nav.pages)
    return nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Remember the text of a page, without what is there for its tests alone."""
    text = re.sub(r"<!--.*?-->\n*", "", markdown, flags=re.DOTALL)
    _texts[page.file.src_uri] = (str(page.title), text)
    return text


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Take what the offline search needs from the site itself, and from nowhere else."""
    path = get_relative_url("assets/offline-worker.js", page.url)
    return output.replace("https://unpkg.com/iframe-worker/shim", path)


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt and llms-full.txt beside the pages."""
    site = Path(config.site_dir)
    summary = llms(_texts, str(config.site_description))
    (site / "llms.txt").write_text(summary, encoding="utf-8")
    (site / "llms-full.txt").write_text(llms_full(_texts), encoding="utf-8")
