"""Environments from the package index, one for every set of requirements, kept between runs."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CRAWLER = Path(__file__).resolve().parent / "crawl.py"
OUTSIDE = Path(__file__).resolve().parent / "outside"


def cache() -> Path:
    """Return the folder that keeps environments between runs."""
    return Path(os.environ.get("MURLI_REAL_CACHE") or REPOSITORY / ".cache" / "real")


def environment(
    name: str, python: str, requirements: list[str], limits: tuple[str, ...] = ()
) -> str:
    """Return the interpreter of an environment with murli and *requirements*, made only once.

    *limits* are versions that nothing in it may exceed. Any tool in it can be enabled from outside
    by the variables that ``enabled_from_outside`` knows.
    """
    folder = _folder(name, python, requirements, limits)
    ours = folder / "bin" / "python"
    with _made_once(folder) as is_new:
        if is_new:
            run_checked([uv(), "venv", "-q", "--clear", "--seed", "--python", python, str(folder)])
            limited = folder / "limits.txt"
            limited.write_text("\n".join(limits))
            install = [uv(), "pip", "install", "-q", "--python", str(ours), "-c", str(limited)]
            run_checked([*install, "-e", str(REPOSITORY), *requirements])
            _hook_up(ours)
    return str(ours)


def bare_environment(requirements: list[str]) -> Path:
    """Return the folder with the scripts of an environment without murli, made only once."""
    folder = _folder("bare", sys.executable, requirements, ())
    with _made_once(folder) as is_new:
        if is_new:
            run_checked([uv(), "venv", "-q", "--clear", "--python", sys.executable, str(folder)])
            python = str(folder / "bin" / "python")
            run_checked([uv(), "pip", "install", "-q", "--python", python, *requirements])
    return folder / "bin"


def is_made(name: str, python: str, requirements: list[str], limits: tuple[str, ...] = ()) -> bool:
    """Return whether that environment is there already."""
    return (_folder(name, python, requirements, limits) / ".ready").exists()


def uv() -> str:
    """Return the installer, which is itself installed once; by pip, with whatever pip is told."""
    folder = cache() / "uv"
    with _made_once(folder) as is_new:
        if is_new:
            run_checked([sys.executable, "-m", "venv", "--clear", str(folder)])
            pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q"]
            run_checked([*pip, "--disable-pip-version-check", "uv"])
    return str(folder / "bin" / "uv")


def run_checked(command: list[str], cwd: Path | None = None) -> str:
    """Run *command* and return what it printed; `RuntimeError` with all of it when it fails."""
    # The certificates of the machine, as pip has them from its settings.
    env = {"UV_NATIVE_TLS": "1", "UV_LINK_MODE": "hardlink", "UV_HTTP_TIMEOUT": "180", **os.environ}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _folder(name: str, python: str, requirements: list[str], limits: tuple[str, ...]) -> Path:
    words = "\n".join([python, *requirements, *limits])
    return cache() / f"{name}-{hashlib.sha256(words.encode()).hexdigest()[:8]}"


@contextmanager
def _made_once(folder: Path) -> Iterator[bool]:
    """Hold *folder* against other processes; the value is whether it has to be made."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    ready = folder / ".ready"
    with open(folder.parent / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_new = not ready.exists()
        yield is_new
        if is_new:
            ready.touch()


def _hook_up(python: Path) -> None:
    tell = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run_checked([str(python), "-c", tell]).strip())
    begin = "import os; 'ENABLE_APP' in os.environ and __import__('enabled_from_outside')"
    (site / "enabled_from_outside.pth").write_text(f"{OUTSIDE}\n{begin}\n")


def slug(requirements: str) -> str:
    """Return a name for a folder from *requirements*."""
    return re.sub(r"[^a-z0-9.]+", "-", requirements.lower()).strip("-")
