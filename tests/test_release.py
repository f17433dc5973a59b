"""What a release is made of: its workflows, its metadata, and where its parts are declared."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
PROJECT = toml.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_are_well_formed(workflow: Path) -> None:
    """Every workflow keeps to the schema of workflow files, and runs make targets that exist."""
    command = ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run(
        [sys.executable, *command, str(workflow)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    targets = re.findall(r"run: make (\w+)", workflow.read_text(encoding="utf-8"))
    assert set(targets) <= set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))


def test_every_supported_python_is_tested() -> None:
    """The classifiers, the workflow and the matrix name the same versions of Python."""
    from tests_real.matrix import INTERPRETERS

    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    test = (REPOSITORY / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    lists = re.findall(r"python: (\[.*\])", test)
    assert tuple(named) == INTERPRETERS
    assert len(lists) == 2
    assert all(re.findall(r"3\.\d+", each) == named for each in lists)


def test_nobody_who_installs_murli_gets_what_its_tests_need() -> None:
    """Tests, fuzzing, building and documentation are dependency groups, and no extras."""
    assert set(PROJECT["dependency-groups"]) == {"dev", "fuzz", "dist", "docs"}
    assert not {"dev", "fuzz", "test", "docs"} & set(PROJECT["project"]["optional-dependencies"])
    assert PROJECT["project"]["dependencies"] == []
    assert set(re.findall(r"--group (\w+)", MAKEFILE)) == set(PROJECT["dependency-groups"])


def test_the_version_has_a_section_in_the_changelog() -> None:
    """The version of the package is the newest one of the changelog."""
    text = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d[\w.]*)\]", text, re.MULTILINE)
    assert released[0] == murli.__version__
