"""One target under atheris, until its time is up: ``python -m fuzz.one TARGET SECONDS FOLDER``.

A finding is kept in the corpus of the tests, told on stdout as a line of JSON, and does not end
the search: the same one is told once.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

MANY = 20


def main() -> None:
    """Run the target named on the command line; never returns."""
    target, seconds, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    atheris: Any = import_module("atheris")
    # Imported here for the first time, or there would be no coverage to be guided by.
    with atheris.instrument_imports(include=["murli"]):
        targets = import_module("fuzz.targets")
        module = import_module(targets.TARGETS[target])
    seeds = targets.CORPUS / target
    told: set[str] = set()

    def run(data: bytes) -> None:
        try:
            targets.judge(target, data)
        except Exception as error:
            rule = targets.signature(error)
            if rule not in told and len(told) < MANY:
                told.add(rule)
                name = f"found-{hashlib.sha256(rule.encode()).hexdigest()[:12]}"
                (seeds / name).write_bytes(data)
                finding = {"rule": rule, "file": str(seeds / name), "error": str(error)[:2000]}
                print(json.dumps(finding), flush=True)

    grown, words = folder / target, folder / f"{target}.dict"
    grown.mkdir(parents=True, exist_ok=True)
    seeds.mkdir(parents=True, exist_ok=True)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in module.WORDS))
    options = [
        f"-max_total_time={seconds}",
        f"-dict={words}",
        f"-artifact_prefix={seeds}/",
        "-max_len=1024",
        "-timeout=60",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(grown), str(seeds)], run)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8"))


if __name__ == "__main__":
    main()
