"""A home directory, and a tool that keeps its profiles there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness import Run, environment, run, run_at_terminal, script

RUN = ("run", "--replicas", "1")
SHOW = ("site", "show")
RAN = {
    "force": False,
    "label": None,
    "mode": "safe",
    "plain": False,
    "region": "eu",
    "replicas": 1,
    "token": None,
    "trace": False,
    "verbose": False,
}


class Home:
    """A home directory, and a tool that keeps its profiles there."""

    def __init__(self, argv: list[str], folder: Path, name: str = "deploy") -> None:
        self.argv = argv
        self.folder = folder
        self.folder.mkdir(exist_ok=True)
        self.store = folder / f".{name}" / "profiles.json"

    def run(self, *words: str, **variables: str | None) -> Run:
        return run(self.argv, *words, env=environment(**{"HOME": str(self.folder), **variables}))

    def at_terminal(self, *words: str, **variables: str | None) -> Run:
        variables = {"HOME": str(self.folder), **variables}
        return run_at_terminal(self.argv, *words, env=environment(**variables))

    def result(self, *words: str, **variables: str | None) -> Any:
        """Give the result of a call that works and has nothing to complain of."""
        done = self.run(*words, **variables)
        assert (done.code, done.err) == (0, ""), done
        return done.document["result"]

    def refusal(self, *words: str, **variables: str | None) -> Any:
        """Give the error of a call that does nothing."""
        done = self.run(*words, **variables)
        assert done.out == "" and "Traceback" not in done.err, done
        assert done.error["code"] == done.code
        return done.error

    def write(self, content: Any) -> None:
        """Write the store by hand: bytes, or a document."""
        self.store.parent.mkdir(exist_ok=True)
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        self.store.write_bytes(content)

    def hold(self, default: str = "", /, **profiles: Any) -> None:
        """Write a store with *profiles*: their flags."""
        saved = {name: {"flags": flags} for name, flags in profiles.items()}
        self.write({"default": default, "profiles": saved} if default else {"profiles": saved})

    @property
    def saved(self) -> Any:
        """The flags of every saved profile."""
        if not self.store.exists():
            return {}
        document = json.loads(self.store.read_text())
        return {name: entry["flags"] for name, entry in document["profiles"].items()}


def program(tmp_path: Path, source: str, name: str = "t") -> Home:
    """Give a tool of its own with a home of its own."""
    return Home(script(tmp_path, source), tmp_path / "home", name)
