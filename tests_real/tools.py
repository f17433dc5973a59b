"""Which real tools are tried, and the environment they are installed into from the index."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
LAUNCHER = Path(__file__).resolve().parent / "launch.py"


@dataclass(frozen=True)
class Tool:
    """A tool from the index: what is installed, and calls that change nothing."""

    name: str
    requirement: str
    framework: str
    # A command that only reads, and prints to stdout; empty where the tool has none.
    read: tuple[str, ...] = ()
    # A call that is well formed and fails all the same.
    fails: tuple[str, ...] = ()
    version: tuple[str, ...] = ("--version",)
    has_commands: bool = True
    # Commands that the tool parses without the parser that was enabled.
    bypassed: tuple[tuple[str, ...], ...] = ()

    @property
    def calls(self) -> dict[str, tuple[str, ...]]:
        """What a person would try, by what it is."""
        known = {"read": self.read, "version": self.version, "fails": self.fails}
        asked = {name: words for name, words in known.items() if words}
        wrong = {"bad flag": ("--no-such-flag",), "bad word": ("no-such-command",)}
        return {"bare": (), "help": ("--help",), **wrong, **asked}


TOOLS = [
    Tool(
        "sqlite-utils",
        "sqlite-utils",
        "click",
        read=("tables", "data.db", "--counts"),
        fails=("rows", "data.db", "missing"),
    ),
    Tool("flask", "flask", "click", read=("routes",)),
    Tool(
        "black",
        "black",
        "click",
        read=("--code", "answer = {  'a':42 }"),
        fails=("--check", "ugly.py"),
        has_commands=False,
    ),
    Tool(
        "mkdocs",
        "mkdocs",
        "click",
        read=("get-deps", "-p", "projects.yml"),
        fails=("build", "-f", "broken.yml"),
    ),
    Tool("hf", "huggingface_hub", "click", read=("version",)),
    Tool("mcp", "mcp[cli]", "typer", read=("version",), version=()),
    Tool(
        "fastapi",
        "fastapi-cli fastapi-cloud-cli",
        "typer",
        fails=("cloud", "whoami"),
    ),
    Tool("uvicorn", "uvicorn", "click", fails=("nowhere:app",), has_commands=False),
    Tool("pip-licenses", "pip-licenses", "argparse", read=("-p", "click"), has_commands=False),
    Tool(
        "pipx",
        "pipx",
        "argparse",
        read=("environment",),
        fails=("runpip", "missing", "list"),
        bypassed=(("inject",), ("help",)),
    ),
]

_FILES = {
    "app.py": """\
import click
from flask import Flask

app = Flask(__name__)


@app.get("/answer")
def answer():
    return "42"


@app.cli.command("greet")
@click.option("--name", default="world")
def greet(name):
    "Greet somebody."
    print("Hello,", name)
""",
    "ugly.py": "answer = {  'a':42 }\n",
    "mkdocs.yml": "site_name: Answers\n",
    "broken.yml": "site_name: Answers\ndocs_dir: nowhere\n",
    "projects.yml": "projects: []\n",
    "docs/index.md": "# Answers\n",
}


def lay_out(folder: Path) -> Path:
    """Fill *folder* with what the tools read; give it."""
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with sqlite3.connect(folder / "data.db") as database:
        database.execute("create table answers (id integer primary key, text text)")
        database.execute("insert into answers (text) values ('42')")
    database.close()
    (folder / "home").mkdir()
    return folder


def settings(folder: Path) -> dict[str, str]:
    """Give the variables that keep the tools away from the network and from the real home."""
    return {
        "HOME": str(folder / "home"),
        "XDG_CONFIG_HOME": str(folder / "home" / ".config"),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    }


def cache() -> Path:
    """Give the folder that keeps environments between runs."""
    return Path(os.environ.get("MURLI_REAL_CACHE") or REPOSITORY / ".cache" / "real")


def tools_environment() -> Path:
    """Give the folder of the environment that holds every tool, made or not."""
    return _folder("tools", sys.executable, _requirements())


def tools_python() -> str:
    """Give the interpreter of that environment; the first call installs everything."""
    return environment("tools", sys.executable, _requirements())


def _requirements() -> list[str]:
    return [each for tool in TOOLS for each in tool.requirement.split()]


def _folder(name: str, python: str, requirements: list[str]) -> Path:
    known = hashlib.sha256("\n".join([python, *requirements]).encode()).hexdigest()[:8]
    return cache() / f"{name}-{known}"


def environment(name: str, python: str, requirements: list[str]) -> str:
    """Give the interpreter of an environment with murli and *requirements*, made only once."""
    folder = _folder(name, python, requirements)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ours = folder / "bin" / "python"
        ready = folder / ".ready"
        if not ready.exists():
            _run([python, "-m", "venv", "--clear", str(folder)])
            pip = [str(ours), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
            _run([*pip, "-e", str(REPOSITORY), *requirements])
            ready.touch()
    return str(ours)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
