"""``make dist``: wheel and sdist, built once and tested as they are.

Both are built twice, and have to be the same to the byte. Then the wheel is installed in a clean
environment, and the smoke part of the suite runs there, away from the sources.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests_real.matrix import NEEDED, TESTS

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"


def main() -> int:
    """Build, compare, check and test; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="murli-dist-") as name:
        scratch = Path(name)
        shutil.rmtree(DIST, ignore_errors=True)
        first, again = build(DIST), build(scratch / "again")
        if first != again:
            print(f"not reproducible: {first} and {again}", file=sys.stderr)
            return 1
        files = sorted(map(str, DIST.iterdir()))
        subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
        code = tested(next(DIST.glob("*.whl")), scratch)
    for file, digest in first.items():
        print(f"{digest}  {file}")
    return code


def build(folder: Path) -> dict[str, str]:
    """Build wheel and sdist into *folder*; return their hashes by name."""
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
    }


def tested(wheel: Path, scratch: Path) -> int:
    """Run the smoke part of the suite with *wheel*, in an environment that has nothing else."""
    venv.create(scratch / "venv", with_pip=True)
    python = str(scratch / "venv" / "bin" / "python")
    wanted = [f"murli[all] @ {wheel.as_uri()}", *NEEDED]
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *wanted], check=True)
    away = scratch / "away"
    shutil.copytree(ROOT / "tests", away / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", away)
    found = "import murli; print(murli.__version__, murli.__file__)"
    subprocess.run([python, "-c", found], cwd=away, check=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    return subprocess.run(command, cwd=away, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
