"""README and documentation: every block of code runs, and every link leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness import REPOSITORY
from snippets import run_page

README = REPOSITORY / "README.md"
PAGES = [README, *sorted((REPOSITORY / "docs").rglob("*.md"))]
SITE = "https://murli-cli.github.io/murli-py/"
SOURCES = (
    "https://github.com/murli-cli/murli-py/blob/main/",
    "https://raw.githubusercontent.com/murli-cli/murli-py/main/",
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_every_block_runs(page: Path, tmp_path: Path) -> None:
    """Programs run, sessions show what the page shows, and data is well-formed."""
    run_page(page, tmp_path)


def test_the_readme_is_short_and_names_the_two_commands() -> None:
    """The README stays below 250 lines, and keeps `make demo` and `make test`."""
    text = README.read_text(encoding="utf-8")
    assert text.count("\n") < 250
    assert re.search(r"^make demo  ", text, re.MULTILINE)
    assert re.search(r"^make test  ", text, re.MULTILINE)


def test_links_of_the_readme_work_on_an_index_page() -> None:
    """Every link of the README is absolute, and leads to a page or a file that exists."""
    from scripts.pages import PAGES as MADE

    pages = {path.relative_to(REPOSITORY / "docs").as_posix() for path in PAGES[1:]} | set(MADE)
    for link in re.findall(r"\]\(([^)\s]+)\)", README.read_text(encoding="utf-8")):
        assert link.startswith("https://"), link
        if link.startswith(SITE):
            page = link.removeprefix(SITE).partition("#")[0]
            assert re.sub(r"\.html$", ".md", page or "index.html") in pages, link
        for source in SOURCES:
            if link.startswith(source):
                assert (REPOSITORY / link.removeprefix(source)).is_file(), link


def test_the_picture_is_of_a_real_run() -> None:
    """The picture of the README shows what its program shows now."""
    done = subprocess.run(
        [sys.executable, "scripts/picture.py", "--check"], cwd=REPOSITORY, check=False, timeout=120
    )
    assert done.returncode == 0, "python scripts/picture.py draws it anew"


def test_the_reference_has_every_public_name() -> None:
    """The page of the API shows each public name, and each other name that may be imported."""
    from test_public import IMPORTABLE, PUBLIC

    page = (REPOSITORY / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^::: murli\.(\w+)$", page, re.MULTILINE))
    assert set(PUBLIC.split()) <= shown
    assert shown <= {*PUBLIC.split(), *IMPORTABLE.split()}


def test_the_reference_has_every_variable() -> None:
    """The page of environment variables lists those that the code reads, and no others."""
    page = (REPOSITORY / "docs" / "reference" / "environment.md").read_text(encoding="utf-8")
    source = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (REPOSITORY / "src" / "murli").rglob("*.py")
        if path.parts[-2] != "__pycache__"
    )
    read = set(re.findall(r'"(MURLI_[A-Z_]+[A-Z])"', source))
    assert set(re.findall(r"`(MURLI_[A-Z_]+)`", page)) == read


def test_the_reference_has_every_check_and_kind() -> None:
    """Each check has the anchor that reports link to, and each kind of failure its numbers."""
    from scripts.pages import checks, exit_codes

    from murli.conformance.checks.table import CHECKS
    from murli.errors import KINDS

    anchors = re.findall(r"\{ #([\w.-]+) \}$", checks(), re.MULTILINE)
    assert sorted(anchors) == sorted(check.id for check in CHECKS)
    assert re.findall(r"^\| `(\w+)` \| \d", exit_codes(), re.MULTILINE) == list(KINDS)
