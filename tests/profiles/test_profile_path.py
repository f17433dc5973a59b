"""A file that somebody names for profiles, and what it may be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness import environment, run, run_at_terminal, tool

pytestmark = pytest.mark.warm


DEPLOY = tool("deploy_argparse")
STORE = {"profiles": {"p": {"flags": {"token": "hunter22"}}}}

FOREIGN = {
    "text": b"export PATH=/bin\n",
    "list": b"[1, 2]\n",
    "settings": b'{"editor": "vi"}\n',
    "other profiles": b'{"profiles": {"defaults": {"font": "mono"}}}\n',
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_that_is_no_store_is_left_as_it_is(tmp_path: Path, kind: str) -> None:
    """What is not recognisably a store is not renamed, changed or given another mode."""
    path = tmp_path / "file"
    path.write_bytes(FOREIGN[kind])
    path.chmod(0o644)
    env = environment(MURLI_PROFILE_PATH=str(path))
    for words in (
        ["run", "--replicas", "1"],
        ["profile", "list"],
        ["profile", "save", "p", "region=us"],
        ["profile", "delete", "p", "--yes"],
    ):
        done = run(DEPLOY, *words, env=env)
        assert (done.code, done.out) == (2, ""), words
        assert "MURLI_PROFILE_PATH" in done.error["suggestion"]
        assert path.read_bytes() == FOREIGN[kind]
        assert path.stat().st_mode & 0o777 == 0o644
        assert os.listdir(tmp_path) == ["file"]
    doctor = run(DEPLOY, "doctor", env=env)
    assert "is no profile store" in doctor.out


def test_a_store_is_known_by_its_profiles(tmp_path: Path) -> None:
    """A file that does not exist yet, is empty, or holds profiles is used and made private."""
    path = tmp_path / "file"
    env = environment(MURLI_PROFILE_PATH=str(path))
    path.touch(0o644)
    assert run(DEPLOY, "run", "--replicas", "1", env=env).code == 0
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"", 0o644)
    assert run(DEPLOY, "profile", "save", "a", "region=us", env=env).code == 0
    path.unlink()
    assert run(DEPLOY, "profile", "save", "a", "region=us", env=env).code == 0
    assert run(DEPLOY, "profile", "delete", "a", "--yes", env=env).code == 0
    path.chmod(0o644)
    assert run(DEPLOY, "profile", "save", "b", "region=eu", env=env).code == 0
    assert json.loads(path.read_text())["profiles"] == {"b": {"flags": {"region": "eu"}}}
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        (["--output", "text"], {"MURLI_MODE": "agent"}),
        (["--agent", "--output", "text"], {}),
        ([], {"MURLI_CONTRACT": "agent-spec-2", "MURLI_MODE": "agent", "TOOL_FORMAT": "plain"}),
    ],
)
def test_no_secret_is_revealed_to_an_agent(
    tmp_path: Path, words: list[str], changes: dict[str, str]
) -> None:
    """At a terminal too --reveal is for a person, in whatever format an agent wants to read."""
    path = tmp_path / "file"
    path.write_text(json.dumps(STORE))
    env = environment(MURLI_PROFILE_PATH=str(path), **changes)
    done = run_at_terminal(DEPLOY, "profile", "show", "p", "--reveal", *words, env=env)
    assert done.code != 0
    assert "hunter22" not in done.out + done.err
    shown = run_at_terminal(
        DEPLOY, "profile", "show", "p", "--reveal", env=environment(MURLI_PROFILE_PATH=str(path))
    )
    assert "hunter22" in shown.out
