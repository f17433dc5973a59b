"""A tool that answers, call by call, what a script tells it to.

    python scripted.py SCRIPT [WORDS…]

SCRIPT is a JSON list, one entry for each call, the last for all that follow::

    {"stdout": "…", "stderr": "…", "exit": 0, "delay": 0.0, "signal": "KILL"}

Every key may be missing. In the texts each character is a byte, so that a tool can write what is no
text at all. What it was called with is appended to ``SCRIPT.calls``, one JSON list a line. Nothing
but built-in modules is loaded: it is started very often.
"""

import json
import os
import signal
import sys
import time
from typing import Any


def main(script: str, words: list[str]) -> int:
    """Give the next answer of *script*; the exit code to end with."""
    with open(f"{script}.calls", "a+", encoding="utf-8") as calls:
        calls.write(json.dumps(words) + "\n")
        calls.flush()
        calls.seek(0)
        number = len(calls.readlines())
    with open(script, encoding="utf-8") as file:
        answers: list[dict[str, Any]] = json.load(file)
    answer = answers[min(number, len(answers)) - 1]
    for descriptor, name in ((2, "stderr"), (1, "stdout")):
        left = answer.get(name, "").encode("latin-1")
        while left:
            left = left[os.write(descriptor, left) :]
    time.sleep(answer.get("delay", 0.0))
    if "signal" in answer:
        os.kill(os.getpid(), getattr(signal, f"SIG{answer['signal']}"))
    return int(answer.get("exit", 0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
