"""Decides about one process: whether it kept murli's word under what was done to it.

What is tolerated, and why:

* A process that a signal ended before its handler ran: nothing of ours was in place yet. Likewise
  one killed with its answer out and its exit functions done: Python has put the signals back then.
* A signal that came while the answer was being given: the answer instead of a cancelled one.
* With the reader gone: a code of 0, or that of a failure that had nothing to do with it.
* With too few descriptors for Python itself to start the tool: no answer. With a full disk or few
  descriptors later: a failure, but never a success that lacks something.
* Under hostile words: any answer, as long as it is one; help or a description with a code of 0.
* A process that became another program: that program's text.
* Files that keep a traceback, and profiles where hostile words ask for some.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from murli.contracts import CONTRACT_NAMES
from soak.cases import Case
from soak.documents import (
    Document,
    Unreadable,
    code_of,
    is_raw,
    read_lines,
    read_stderr,
    read_stdout,
)
from soak.expected import ANYTHING, Expected, expected
from soak.process import Evidence

# "At once" on a busy machine: loading takes its time, and murli waits half a second for a caller.
AT_ONCE = 15.0
_LOST = ("stdout is full", "stdout is closed", "both are closed")
_MUTE = ("stderr is closed", "stderr is full", "both are closed")
_SHORT = ("disk is full", "few descriptors")
# What these answer depends on more than the case; that they answer does not.
_LOOSE = ("asks", "asks-for-password", "reads", "closes-stdout")
# Those fail by themselves when stdout is closed: a child, say, that cannot write.
_FRAIL = (
    *_LOOSE,
    *("has-child", "looks-at-descriptors", "prints-hostile", "truncates", "opens-stdout"),
)
# Tracebacks are kept for the author, in files of one place, or of another when that is full.
_KEPT = re.compile(r"(?:home/\.local|tmp/murli-\d+)(?:/state|/murli|/soak|/[\dTZ.-]+\.txt)*")
_PYTHONS_WORDS = ("Traceback (most recent call last)", "Exception ignored in", "Fatal Python error")


@dataclass
class Verdict:
    """How a process ended, in a word, and what is wrong with that."""

    outcome: str
    findings: list[str] = field(default_factory=list)


def judge(case: Case, evidence: Evidence) -> Verdict:
    """Decide about *evidence*, the traces of *case*."""
    if evidence.hung:
        return Verdict("hung", [f"no end after {evidence.took:.0f} s"])
    findings = list(_traces(case, evidence))
    if _was_early(case, evidence):
        return Verdict("ended before murli could act", findings)
    trials = [_Trial(case, evidence, contract) for contract in _contracts(case)]
    for trial in trials:
        try:
            outcome = trial.run()
            return Verdict(outcome, findings + trial.wrong)
        except Unreadable as error:
            trouble = str(error)
    return Verdict("unreadable", [*findings, trouble])


def _contracts(case: Case) -> list[str]:
    """Return the contracts the answer may be in: hostile words may choose another one."""
    chosen = any(word.startswith("--contract") for word in case.words)
    return list(dict.fromkeys((case.contract, *(CONTRACT_NAMES if chosen else ()))))


def _traces(case: Case, evidence: Evidence) -> list[str]:
    """Return what must not be there, however it ended."""
    # What multiprocessing ends at exit is left by a signal that ends Python just before.
    left_by_signal = case.deed == "leaves-child" and evidence.code < 0
    survivors = [] if left_by_signal else evidence.survivors
    found = [f"a process survived: {each}" for each in survivors]
    left = [each for each in evidence.leftovers if not _KEPT.fullmatch(each)]
    if left and "profile" not in case.words:
        found.append(f"files were left: {left}")
    if _PYTHONS_WORDS[0].encode() in evidence.stdout:
        found.append("there is a traceback on stdout")
    if evidence.code < 0 and -evidence.code not in [number for number, _ in evidence.sent]:
        found.append(f"it was killed by signal {-evidence.code}, which nobody sent")
    told = evidence.marks.partition("x")[2].partition(";")[0]
    # One of them is what lists them; our own is 200.
    leaked = set(told.split(",")) - {*"0123", "200", ""}
    # A signal in the middle of subprocess.Popen leaves its pipe, and in that of socketpair, with
    # which an event loop begins, a socket; without murli as well.
    starting = case.deed in ("waits-for-child", "has-deaf-child", "loops-on") and case.signals
    own = ("slow", "closes-stdout", "closes-all", "has-daemon", "leaves-child")
    if leaked and not starting and case.deed not in own:
        found.append(f"descriptors were left open: {sorted(leaked)}")
    return found


def _was_early(case: Case, evidence: Evidence) -> bool:
    """Return whether it ended before our code could do anything about it."""
    if "h" in evidence.marks:
        return False
    if evidence.sent:
        killed = -evidence.code in [number for number, _ in evidence.sent]
        # Python's own end by Ctrl-C: a traceback on stderr, and a status of its own.
        told = b"KeyboardInterrupt" in evidence.stderr or b"Fatal Python error" in evidence.stderr
        return (killed or told) and not evidence.stdout
    return case.fault == "few descriptors" and "p" not in evidence.marks


class _Trial:
    """One process held against one contract; ``wrong`` collects what it did not keep."""

    def __init__(self, case: Case, evidence: Evidence, contract: str) -> None:
        self.case = case
        self.evidence = evidence
        self.contract = contract
        self.code = evidence.code
        self.wanted = expected(case)
        self.wrong: list[str] = []
        self.told: list[Document] = []
        self.answer: Document | None = None

    def run(self) -> str:
        """Return the outcome; `Unreadable` when what was written is not in this contract."""
        case, wanted = self.case, self.wanted
        self.listen()
        if wanted is not None and wanted.text is not None:
            return self.judge_other_program(wanted.text.encode())
        if wanted is None and self.was_explained():
            return "explained"
        if case.fault not in _MUTE:
            self.told = read_stderr(self.evidence.stderr, self.contract)
        if self.evidence.left_early:
            return self.judge_reader_gone()
        self.read()
        if self.evidence.sent:
            outcome = self.judge_signalled()
            if outcome:
                return outcome
        closed = case.deed == "closes-all" and case.fault != "hostile words"
        lost = case.fault in _LOST or closed
        return self.judge_lost() if lost else self.judge_ordinary()

    def require(self, truth: object, finding: str) -> None:
        """Note *finding* unless *truth*."""
        if not truth:
            self.wrong.append(finding)

    def listen(self) -> None:
        """Note what Python said on stderr and murli should have said."""
        words: tuple[str, ...] = _PYTHONS_WORDS
        own = self.case.deed in ("forks", "forks-and-answers", "has-thread")
        disturbed = self.evidence.sent and self.case.fault != "burst of signals"
        if own or disturbed or "--debug" in self.case.words:
            words = words[2:]  # a child's or thread's own trouble, or an uncatchable Ctrl-C
        for word in words:
            self.require(word.encode() not in self.evidence.stderr, f"stderr has {word!r}")

    def read(self) -> None:
        """Read stdout: the answer, and the lines before it where there may be some."""
        try:
            lines, self.answer = read_stdout(self.evidence.stdout, self.contract)
        except Unreadable:
            if not self.case.streams or not self.evidence.sent:
                raise
            lines = read_lines(self.evidence.stdout)
        self.require(not lines or self.case.streams, f"{len(lines)} lines before the document")
        for control in (b"\\u0000", b"\\u001b", b"\0", b"\x1b"):
            self.require(control not in self.evidence.stdout, f"stdout has {control!r}")

    def was_explained(self) -> bool:
        """Return whether text was asked for, and given."""
        if any("text" in word for word in self.case.words):
            return True
        return self.code == 0 and is_raw(self.evidence.stdout)

    def judge_other_program(self, whole: bytes) -> str:
        """The process became another program: its text is there, unless nobody took it."""
        taken = self.evidence.stdout
        if self.evidence.sent or self.case.fault in (*_LOST, *_SHORT):
            return "became another program"
        self.require(whole.startswith(taken), "another program's text is not what it printed")
        self.require(taken == whole or self.evidence.left_early, "its text is not whole")
        return "became another program"

    def judge_reader_gone(self) -> str:
        """Quietly, with the code of a success or of what had failed anyway."""
        quiet = all(each.error != "output_failed" for each in self.told)
        quiet = quiet or self.case.deed == "closes-all"
        self.require(quiet, "a reader that goes away is told as a failure")
        wanted = self.wanted
        if wanted is not None and self.case.deed not in _LOOSE:
            codes = {0, wanted.second or wanted.code}
            self.require(self.code in codes, f"exit {self.code} with the reader gone, not {codes}")
        stopped = "endlessly" not in self.case.deed or "d" not in self.evidence.marks
        self.require(stopped, "it went on to the end although nobody was reading")
        return "ended with the reader gone"

    def judge_signalled(self) -> str:
        """Cancelled, with all that belongs to it; ``""`` when it ended in its own way."""
        last = self.told[-1] if self.told else self.answer
        if self.code < 0:
            self.require(last, f"killed by signal {-self.code} without a document")
            # Behind its block a session's program is its own, and a signal does what it always did.
            ending = "x" in self.evidence.marks or self.case.session
            self.require(ending or not last, f"killed by signal {-self.code} behind its answer")
            return "killed while Python ended" if last else "killed without a word"
        if last is None or last.error != "cancelled":
            if self.case.fault not in ("signal in handler", "burst of signals"):
                return ""
            self.wrong.append(f"signals {self.evidence.sent} did not end it: exit {self.code}")
            return "went on"
        kinds = ("cancelled" if number == 2 else "terminated" for number, _ in self.evidence.sent)
        codes = {code_of(kind, self.contract) for kind in kinds}
        if self.wanted is not None and self.wanted.code == code_of("cancelled", self.contract):
            codes.add(self.wanted.code)
        self.require(self.code in codes, f"cancelled with exit {self.code}, not {codes}")
        there = self.told if self.contract == "murli" else self.answer
        self.require(there, "the cancelled document is in the wrong place")
        return "cancelled"

    def judge_lost(self) -> str:
        """Stdout takes nothing: an error on stderr, and its code."""
        case, wanted = self.case, self.wanted
        self.require(self.code, "the answer was lost, and the exit code is 0")
        if case.fault in _MUTE:
            return "failed with nowhere to say so"
        if not self.told:
            self.wrong.append(f"the answer was lost without a word, exit {self.code}")
            return "lost"
        last = self.told[-1]
        self.require_code(last)
        failing = wanted is None or wanted.code or wanted.second or case.deed in _FRAIL
        if last.error == "output_failed":
            tool_error = code_of("tool_error", self.contract)
            self.require(self.code == tool_error, f"output_failed with exit {self.code}")
        else:
            self.require(failing, f"the answer was lost, and the error is {last.error}")
        second = wanted is not None and wanted.second
        self.require(len(self.told) == 1 or second, f"{len(self.told)} documents on stderr")
        return "failed to write"

    def judge_ordinary(self) -> str:
        """One document where it belongs, with the code of the process in it."""
        case, answer = self.case, self.answer
        ends = list(self.told)
        # Who streams gets the end of the stream on stdout as well.
        echoed = case.streams and ends and answer and answer.content == ends[-1].content
        if answer is not None and not echoed:
            ends.insert(0, answer)
        if not ends:
            if case.fault == "both are closed" and self.code and self.contract == "murli":
                return "failed with nowhere to say so"
            self.wrong.append(f"no document, exit {self.code}")
            return "silent"
        second = self.wanted.second if self.wanted is not None else 0
        self.require(len(ends) <= (2 if second else 1), f"{len(ends)} documents")
        if not (second and case.fault in _MUTE):  # then the code is all that tells of it
            self.require_code(ends[-1])
        if self.contract != "murli":
            self.require(answer, "no document on stdout")
        elif answer is not None:
            # Where stderr takes nothing it is the only place.
            misplaced = answer.content["status"] == "error" and case.fault not in _MUTE
            misplaced = misplaced and not echoed
            self.require(not misplaced, "an error document is on stdout")
        # To redirect, a shell needs two descriptors above 9; without murli as well.
        is_whole = case.fault != "few descriptors" or case.deed != "truncates" or case.limit >= 12
        if self.wanted is not None and is_whole and not (case.fault in _SHORT and self.code):
            self.compare(self.wanted, ends[0])
        return "failed" if self.code else "answered"

    def require_code(self, last: Document) -> None:
        """The code of the process is that of its *last* document."""
        self.require(
            last.failed == bool(self.code) and last.code in (None, self.code),
            f"the document says {last.code if last.code is not None else last.failed}, "
            f"the process {self.code}",
        )

    def compare(self, wanted: Expected, answer: Document) -> None:
        """Hold *answer* against what an undisturbed call gives."""
        case, code = self.case, wanted.second or wanted.code
        if case.deed in _LOOSE:
            same = bool(self.code) == bool(code) or case.deed == "closes-stdout"
            self.require(same, f"exit {self.code} instead of {code}")
            self.require(self.evidence.took < AT_ONCE, f"it took {self.evidence.took:.1f} s")
            return
        if self.code != code:
            self.wrong.append(f"exit {self.code} instead of {code} ({answer.error or 'ok'})")
        elif not wanted.code and wanted.result is not ANYTHING:
            found = answer.result
            if case.deed == "looks-at-descriptors" and isinstance(found, str):
                self.require(set(found.split()) <= set("0123"), f"a child has {found.split()}")
            elif found != wanted.result:
                self.wrong.append(f"the result is {_shown(found)}, not {_shown(wanted.result)}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) < 200 else f"{text[:150]}… ({len(text)})"
