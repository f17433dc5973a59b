"""What is fuzzed: each target says of any bytes whether murli keeps its word about them.

A target is a function of bytes that returns, or raises `Broken` with the rule that does not hold.
The same functions are run by ``make fuzz`` on inputs it makes up, and by ``tests/test_corpus.py``
on those that were interesting once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

CORPUS = Path(__file__).parent.parent / "tests" / "corpus"
# In seconds of the processor, which a busy machine does not change; a sane input takes 0.01.
LIMIT = 2.0

# name -> module that has its `check`, and `WORDS` worth trying.
TARGETS = {
    "argv": "fuzz.argv",
    "line": "fuzz.line",
    "encoder": "fuzz.encoder",
    "text": "fuzz.text",
    "redactor": "fuzz.redactor",
}


class Broken(AssertionError):
    """A rule that does not hold: *rule* tells it from others, *detail* shows the case."""

    def __init__(self, rule: str, detail: object = "") -> None:
        super().__init__(f"{rule}: {detail!r}" if detail != "" else rule)
        self.rule = rule


def require(truth: object, rule: str, detail: object = "") -> None:
    """Raise `Broken` unless *truth*."""
    if not truth:
        raise Broken(rule, detail)


def judge(target: str, data: bytes) -> None:
    """Run the check of *target* on *data*; whatever it raises is a finding."""
    check: Callable[[bytes], None] = import_module(TARGETS[target]).check
    started = time.thread_time()
    check(data)
    took = time.thread_time() - started
    require(took < LIMIT, "an answer takes no longer than its input is long", round(took, 1))


def signature(error: BaseException) -> str:
    """Return what tells *error* from other findings: its rule, or the function of ours it left."""
    if isinstance(error, Broken):
        return error.rule
    place = "?"
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if f"{Path('murli')}/" in code.co_filename:
            place = f"{Path(code.co_filename).name}:{code.co_name}"
        traceback = traceback.tb_next
    return f"an exception from {place}"
