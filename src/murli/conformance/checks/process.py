"""What any program owes who runs it without a terminal, whatever its contract."""

from __future__ import annotations

from collections.abc import Iterator

from ..checking import ANY, NotApplicable, check, judged
from ..probing import TRAPPED
from ..results import Evidence, Finding
from ..target import NONE, Target

_LAST_CODE = 9  # of murli
_COMPLAINTS = (b"Broken pipe", b"BrokenPipe", b"EPIPE")
_KEPT = ("home/.local/state", "home/.cache")
_TRACEBACK = b"Traceback (most recent call last)"


def _calls(target: Target, **how: str) -> Iterator[tuple[str, Evidence]]:
    """Make the calls that may be made of any tool: ask it for help, and run what only reads."""
    yield "", target.run("--help", **how)  # type: ignore[arg-type]
    for command in target.safe:
        words = target.words(command)
        yield " ".join(command.path), target.run(*words, **how)  # type: ignore[arg-type]


def _hangs(evidence: Evidence) -> str:
    return f"it {evidence.ended}" if evidence.timed_out else ""


@check(
    "process.help",
    "Help is there for the tool and every command",
    level=1,
    contracts=ANY,
    requirements=("F-048", "F-068"),
)
def help_is_there(target: Target) -> Iterator[Finding]:
    """``--help`` ends with 0 and says something, for every command."""
    asked = [each for each in target.commands if target.may_be_asked(each, "--help")]
    names = {" ".join(each.path): target.path_to(each) for each in asked} or {"": ()}
    names.setdefault("", ())
    for name, path in names.items():
        evidence = target.run(*path, "--help")
        trouble = ""
        if evidence.exit_code != 0:
            trouble = f"--help: {evidence.ended} instead of exit 0"
        elif not (evidence.stdout.strip() or evidence.stderr.strip()):
            trouble = "--help says nothing"
        yield judged(trouble, name, evidence)


@check(
    "process.version",
    "The version is told",
    level=1,
    contracts=ANY,
    requirements=("F-068", "F-023"),
)
def version_is_told(target: Target) -> Iterator[Finding]:
    """``--version`` ends with 0 and says something; a tool without it says so in an error."""
    evidence = target.run("--version")
    if evidence.exit_code == 0:
        said = evidence.stdout.strip() or evidence.stderr.strip()
        yield judged("" if said else "--version says nothing", "", evidence)
    elif evidence.timed_out or evidence.exit_code is None or evidence.exit_code < 0:
        yield judged(f"--version: {evidence.ended}", "", evidence)
    else:
        yield judged("there is no --version", "", evidence, warn=True)


@check(
    "process.stdin-closed",
    "A closed stdin does no harm",
    level=1,
    contracts=ANY,
    requirements=("F-009",),
)
def stdin_closed(target: Target) -> Iterator[Finding]:
    """Nothing that reads hangs or crashes where there is no stdin at all."""
    for name, evidence in _calls(target, stdin="closed"):
        usual = target.run(*evidence.argv[len(target.prober.tool) :])
        trouble = _hangs(evidence)
        if not trouble and evidence.exit_code != usual.exit_code:
            trouble = f"without stdin {evidence.ended}, otherwise {usual.ended}"
        yield judged(trouble, name, evidence)


@check(
    "process.stdin-silent",
    "An open stdin that nobody feeds is not waited for",
    level=1,
    contracts=ANY,
    requirements=("F-009", "F-047"),
)
def stdin_silent(target: Target) -> Iterator[Finding]:
    """Nothing that reads waits for input that nobody announced."""
    for name, evidence in _calls(target, stdin="silent"):
        yield judged(_hangs(evidence), name, evidence)


@check(
    "process.no-escapes",
    "No terminal codes where there is no terminal",
    level=1,
    contracts=ANY,
    requirements=("F-007", "F-008"),
    in_hindsight=True,
)
def no_escapes(target: Target) -> Iterator[Finding]:
    """No escape byte on either stream of any call."""
    for command, evidence in _everything(target):
        found = [
            name
            for name, data in (("stdout", evidence.stdout), ("stderr", evidence.stderr))
            if b"\x1b" in data
        ]
        trouble = f"escape codes on {' and '.join(found)}" if found else ""
        yield judged(trouble, command, evidence)


@check(
    "process.utf-8",
    "Everything written is UTF-8",
    level=1,
    contracts=ANY,
    requirements=("F-016",),
    in_hindsight=True,
)
def is_utf_8(target: Target) -> Iterator[Finding]:
    """Both streams of every call are text."""
    for command, evidence in _everything(target):
        trouble = ""
        for name, data in (("stdout", evidence.stdout), ("stderr", evidence.stderr)):
            try:
                data.decode()
            except UnicodeDecodeError as error:
                # What was cut short may end within a letter.
                cut = evidence.timed_out and error.end == len(data)
                trouble = trouble if cut else f"{name} is not UTF-8"
        yield judged(trouble, command, evidence)


@check(
    "process.no-traceback",
    "No stack trace instead of an answer",
    level=1,
    contracts=ANY,
    requirements=("C-013",),
    in_hindsight=True,
)
def no_traceback(target: Target) -> Iterator[Finding]:
    """No call ends in the stack trace of an interpreter."""
    for command, evidence in _everything(target):
        shown = _TRACEBACK in evidence.stdout or _TRACEBACK in evidence.stderr
        trouble = "a stack trace" if shown else ""
        yield judged(trouble, command, evidence)


@check(
    "process.no-pager",
    "No pager, editor or browser is started",
    level=1,
    contracts=ANY,
    requirements=("F-010", "F-055", "F-057"),
    in_hindsight=True,
)
def no_pager(target: Target) -> Iterator[Finding]:
    """Nothing that only a person could look at is started by any call."""
    for command, evidence in _everything(target):
        trouble = TRAPPED if TRAPPED in evidence.event else ""
        yield judged(trouble, command, evidence)


@check(
    "process.reader-gone",
    "A reader that goes away ends it quietly",
    level=2,
    contracts=ANY,
    requirements=("F-014",),
)
def reader_gone(target: Target) -> Iterator[Finding]:
    """Who writes to nobody ends, without a stack trace and without a complaint."""
    listing = {"murli": "describe", NONE: "--help"}.get(target.speaks, "manifest")
    evidence = target.run(listing, event="reader-gone")
    # Some always say something there.
    is_told = bool(evidence.stderr) and not target.run(listing).stderr
    trouble = _hangs(evidence)
    if not trouble and (is_told or any(each in evidence.stderr for each in _COMPLAINTS)):
        trouble = "it complains on stderr"
    yield judged(trouble, "", evidence)


@check(
    "process.reads-leave-no-trace",
    "What only reads changes nothing",
    level=2,
    contracts=ANY,
    requirements=("C-002",),
)
def reads_leave_no_trace(target: Target) -> Iterator[Finding]:
    """A command that is declared to only read leaves the files as they were."""
    if not target.safe:
        raise NotApplicable("no command is declared to only read")
    for command in target.safe:
        evidence = target.run(*target.words(command))
        changed = [each for each in evidence.changed if not _is_kept(each)]
        trouble = f"it changed {', '.join(changed[:3])}" if changed else ""
        yield judged(trouble, " ".join(command.path), evidence)


def _is_kept(path: str) -> bool:
    """Tell whether a file is what every program may keep for itself: state, caches, logs."""
    return any(f"{place}/".startswith(f"{path}/") or path.startswith(place) for place in _KEPT)


@check(
    "process.promises",
    "The calls an author vouches for end as promised",
    level=1,
    contracts=ANY,
)
def promises(target: Target) -> Iterator[Finding]:
    """Every call of the profile ends with the exit code the profile gives it."""
    probes = target.probes("call")
    if not probes:
        raise NotApplicable("the profile names no call")
    for probe in probes:
        evidence = target.vouched(probe)
        if target.contract == "murli" and (evidence.exit_code or 0) > _LAST_CODE:
            continue  # no promise could be right
        trouble = ""
        if evidence.exit_code != probe.exit_code:
            trouble = f"{evidence.ended} instead of exit {probe.exit_code}"
        yield judged(trouble, target.command_of(probe.words), evidence)


def _everything(target: Target) -> Iterator[tuple[str, Evidence]]:
    """Give every call that was made, and some more that show how a tool writes."""
    for made in (_calls(target), target.mistakes()):
        for _ in made:
            pass
    for evidence in target.prober.seen:
        yield target.command_of(evidence.argv[len(target.prober.tool) :]), evidence
