"""``make bench``: a hello-world tool, piped, with and without murli, counted by callgrind.

Instructions are repeatable on any load; seconds are not. Ends with 1 when a limit is exceeded.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 1.25

WITHOUT = """
import argparse, json
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
args = parser.parse_args()
print(json.dumps({"hello": args.name}))
"""

WRITER = """
import argparse, murli
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
murli.enable(parser)
args, writer = murli.parse(parser)
writer.write_success("Hello", {"hello": args.name})
"""

ONE_LINE = """
import argparse, murli
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
murli.enable(parser)
args = parser.parse_args()
print("hello", args.name)
"""


def count(source: str, folder: Path) -> int:
    """Give the instructions that running *source* takes, once its bytecode is cached."""
    program = folder / "hello.py"
    program.write_text(source)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MURLI_", "PYTHON"))
    }
    env = {**kept, "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(program)]
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    counted = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    found = re.search(r"Collected : (\d+)", counted.stderr)
    if found is None:
        raise RuntimeError(f"callgrind told no count: {counted.stderr}")
    return int(found[1])


def main() -> int:
    """Print the table; give 1 when murli costs more than its limit."""
    if shutil.which("valgrind") is None:
        print("make bench needs valgrind: install it and run again.", file=sys.stderr)
        return 2
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        base = count(WITHOUT, Path(folder))
        print(f"{'argparse + json, no murli':<34}{base:>13,}   1.000")
        for name, source in (("murli, write_success", WRITER), ("murli, enable alone", ONE_LINE)):
            instructions = count(source, Path(folder))
            worst = max(worst, instructions / base)
            print(f"{name:<34}{instructions:>13,}   {instructions / base:.3f}")
    print(f"limit {LIMIT}, Python {sys.version.split()[0]}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
