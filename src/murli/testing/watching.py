"""Every document that murli writes in this process, judged as it is written.

`watch` is what makes a test fail that wrote an invalid document without looking at it: whatever
runs the tool (``CliRunner``, a direct call of ``main``), its answers pass murli's writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from ..answer import Reply, Writer
from ..commands.schema import returns_of
from ..contracts import Answer, checks
from ..contracts.checks import InvalidDocument
from ..declare import Metadata
from ..outcome import Success
from .validity import Verdict, judge, judge_returned

# The innermost one is notified: who runs a tool to look at what it writes is not disturbed.
_watching: list[Verdict] = []


@contextmanager
def watch() -> Iterator[Verdict]:
    """Judge what murli's writers write in this process; the verdict grows until the block ends.

    Nothing is raised: look at ``faults``.
    """
    if not _watching:
        _install()
    verdict = Verdict()
    _watching.append(verdict)
    try:
        yield verdict
    finally:
        # By identity: two that found nothing are equal.
        _watching[:] = [each for each in _watching if each is not verdict]
        if not _watching:
            _remove()


def _note(verdict: Verdict | None) -> None:
    if verdict is not None and _watching:
        _watching[-1].add(verdict)


_before: list[tuple[Any, str, Any]] = []


def _install() -> None:
    for owner, name, ours in (
        (Reply, "_put_document", _judging_document),
        (Writer, "_answer", _judging_result),
        (checks, "check", _noting_refusal),
    ):
        own = getattr(owner, name)
        _before.append((owner, name, own))
        setattr(owner, name, ours(own))


def _remove() -> None:
    while _before:
        setattr(*_before.pop())


def _judging_document(own: Callable[..., None]) -> Callable[..., None]:
    def put(self: Reply, answer: Answer, text: str, late: bool, invocation: Any) -> None:
        # One that comes late goes aside, where none belongs.
        stream = "stderr" if late else answer.stream
        _note(_verdict_on(answer, self.contract, stream))
        own(self, answer, text, late, invocation)

    return put


def _verdict_on(answer: Answer, contract: str, stream: str) -> Verdict:
    verdict = judge(answer.document, contract, answer.exit_code, stream, strict=True)
    name = answer.document.get("status") or ("ok" if answer.document.get("ok") else "error")
    verdict.faults = [f"in the {contract} document ({name}): {each}" for each in verdict.faults]
    return verdict


def _judging_result(own: Callable[..., int]) -> Callable[..., int]:
    def answer(self: Writer, outcome: Any, text: Any) -> int:
        if isinstance(outcome, Success) and not self.is_tty():
            _note(_judged_result(self, outcome))
        return own(self, outcome, text)

    return answer


def _judged_result(writer: Writer, outcome: Success) -> Verdict | None:
    """Hold a result to what its command declares; before anything is left out of it."""
    invocation = writer._invocation
    if invocation is None or writer._reply.phase != "execution" or writer._reply.is_streaming:
        return None
    command: Any = SimpleNamespace(handler=invocation.running.handler)
    schema = returns_of(command, invocation.metadata or Metadata()).get("output_schema")
    return judge_returned(outcome.result, schema) if isinstance(schema, dict) else None


def _noting_refusal(own: Callable[..., None]) -> Callable[..., None]:
    """With ``MURLI_TEST`` an invalid document is refused before it is written."""

    def check(contract: str, answer: Answer) -> None:
        try:
            own(contract, answer)
        except InvalidDocument as refused:
            _note(Verdict([f"in a {contract} document that was refused: {refused}"]))
            raise

    return check
