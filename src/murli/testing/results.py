"""What a run of a tool gave: how it ended, what it wrote, and what that means.

Asking for what is not there (the data of a call that failed, the document of one that wrote none)
fails the test, and says what is there instead.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

from ..client.response import Response, read
from ..contracts.checks import InvalidDocument
from ..contracts.control_lines import unwrapped
from ..wire.dialects import dialect_of
from ..wire.documents import documents_in, is_aside, parsed, terminal_of
from ..wire.response import Problem, Warned
from ..wire.values import object_in
from .validity import Verdict, judge_output, judge_returned, lines_of, spoken_by, wire_of

# What is shown of each stream where something is not as it should be.
_MOST_SHOWN = 4000


class Missing(AssertionError):
    """What a test asked a result for is not in it."""


@dataclass(frozen=True, repr=False)
class Result:
    """One run of a tool.

    *exit_code* is minus the number of the signal that ended a process. *exception* is what the
    handler raised, where it ran in this process. *changed* are the files below the home and the
    folder it was given that it made, changed or removed.
    """

    argv: tuple[str, ...]
    exit_code: int
    stdout_bytes: bytes
    stderr_bytes: bytes
    #: the contract that was asked for, ``""`` when none was
    asked: str = ""
    mode: str = "agent"
    in_process: bool = False
    exception: BaseException | None = None
    changed: tuple[str, ...] = ()
    #: what murli's own writer was seen to write, where it ran in this process
    seen: Verdict = field(default_factory=Verdict)

    # -- what it wrote ---------------------------------------------------------------------------

    @property
    def stdout(self) -> str:
        """What it wrote on stdout, as text."""
        return self.stdout_bytes.decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        """What it wrote on stderr, as text."""
        return self.stderr_bytes.decode("utf-8", "replace")

    @property
    def document(self) -> dict[str, Any]:
        """The one document of the answer, as it was written, on whichever stream.

        That is the envelope; of calls like ``describe`` the JSON object that is all of stdout.
        """
        found = self._terminal if self._terminal is not None else parsed(self.stdout_bytes)
        if not isinstance(found, dict):
            self._lack("There is no document")
        return found

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Every JSON object on stdout, in order: items, progress, and the answer last."""
        return documents_in(self.stdout_bytes)[0]

    @property
    def items(self) -> list[Any]:
        """What a stream gave, without progress and without the line that ends it."""
        values = lines_of(self.stdout_bytes)
        if values is None or "_line" in object_in(values[-1].get("meta")):
            return list(self.response.items)
        return [unwrapped(each) for each in values[:-1] if not is_aside(each)]

    @property
    def progress(self) -> list[dict[str, Any]]:
        """The progress lines, those on stdout first."""
        return [each for each in (*self.documents, *self._objects_on_stderr) if is_aside(each)]

    @property
    def logs(self) -> list[dict[str, Any]]:
        """The log entries on stderr."""
        return [each for each in self._objects_on_stderr if each.keys() >= {"ts", "level", "msg"}]

    @cached_property
    def _objects_on_stderr(self) -> list[dict[str, Any]]:
        lines = map(parsed, self.stderr_bytes.splitlines())
        return [each for each in lines if isinstance(each, dict)]

    @cached_property
    def _terminal(self) -> dict[str, Any] | None:
        if self.mode == "person":
            return None
        return terminal_of(self.stdout_bytes, self.stderr_bytes, self.exit_code)[0]

    # -- what that means -------------------------------------------------------------------------

    @cached_property
    def response(self) -> Response[Any]:
        """The answer as a client understands it: one shape for every contract."""
        contract = self.contract if self._terminal is not None else ""
        found = read(self.stdout_bytes, self.stderr_bytes, self.exit_code, contract)
        return found.with_call(self.argv, 0)

    @cached_property
    def contract(self) -> str:
        """The contract the answer is in, ``""`` when there is no envelope."""
        if self._terminal is None:
            return ""
        return spoken_by(self._terminal, self.exit_code, self.asked)

    @property
    def wire(self) -> str:
        """The wire of a murli document: ``docs``, or ``go``; ``""`` for everything else."""
        if self._terminal is None or dialect_of(self.contract).is_enveloped:
            return ""
        return wire_of(self._terminal)

    @property
    def ok(self) -> bool:
        """Whether the call did what it was asked; a plan did not."""
        return self.response.ok

    @property
    def data(self) -> Any:
        """The result of a success, or of a partial one, without its envelope."""
        if not self.ok and self.response.state != "partial":
            self._lack("There is no result")
        return self.response.data

    @property
    def text(self) -> str:
        """The text that it printed, without its envelope, whether of one line or of more."""
        found = self.response.text
        if found is None:
            self._lack("There is no text")
        return found

    @property
    def plan(self) -> Any:
        """The plan of a dry run, without its envelope."""
        if self.response.state != "plan":
            self._lack("There is no plan")
        return self.response.data

    @property
    def error(self) -> Problem:
        """Why the call failed, with its ``kind``, whatever number the contract gives that."""
        if self.response.problem is None:
            self._lack("There is no error")
        return self.response.problem

    @property
    def message(self) -> str:
        """The sentence for people beside a result or a plan, where the contract carries it."""
        return self.response.message

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """The warnings beside the answer."""
        return self.response.warnings

    # -- whether it is right ---------------------------------------------------------------------

    @cached_property
    def _verdict(self) -> Verdict:
        verdict = Verdict()
        if self.mode == "agent":
            written = (self.stdout_bytes, self.stderr_bytes, self.exit_code)
            verdict = judge_output(*written, self.asked, strict=self.in_process)
        # What the writer was seen to write is mostly what came out, and reported already.
        known = tuple(verdict.faults)
        fresh = [each for each in self.seen.faults if not each.endswith(known)]
        verdict.add(Verdict(fresh, self.seen.held_to))
        return verdict

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with what was written, in words."""
        return tuple(self._verdict.faults)

    @property
    def held_to(self) -> tuple[str, ...]:
        """What the answer was held to; without ``jsonschema`` no schema is among it."""
        return tuple(sorted(self._verdict.held_to))

    def check(self, *, returns: Mapping[str, Any] | None = None) -> Result:
        """Raise `InvalidDocument` for what is wrong with what was written; else give the result.

        *returns* is a JSON Schema that the data must fit as well.
        """
        __tracebackhide__ = True  # a failed test shows its own lines
        faults = list(self.faults)
        if returns is not None:
            judged = judge_returned(self.data, returns)
            if judged is None:
                raise RuntimeError("A JSON Schema needs jsonschema: install murli[conformance].")
            faults += judged.faults
        if faults:
            listed = "\n".join(f"- {each}" for each in faults)
            raise InvalidDocument(f"What was written breaks its contract:\n{listed}\n{self}")
        return self

    # -- for the reader of a failed test----------------------------------------------------------

    def _lack(self, what: str) -> NoReturn:
        __tracebackhide__ = True  # a failed test shows its own lines
        problem = self.response.problem
        why = f": {problem.kind}, {problem.message}" if problem is not None else ""
        raise Missing(f"{what}{why}\n{self}") from self.exception

    def __str__(self) -> str:
        return (
            f"$ {shlex.join(self.argv)}\nexit code {self.exit_code}\n"
            f"{_shown('stdout', self.stdout)}{_shown('stderr', self.stderr)}"
        )

    def __repr__(self) -> str:
        return f"<Result of {shlex.join(self.argv)!r}: exit code {self.exit_code}>"


def _shown(name: str, text: str) -> str:
    text = text.replace("\x1b", "\\x1b")
    if len(text) > _MOST_SHOWN:
        text = f"{text[:_MOST_SHOWN]}\n[{len(text) - _MOST_SHOWN} characters more]"
    return f"{name}: {text.rstrip() or '(nothing)'}\n"
