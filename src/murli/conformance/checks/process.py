"""What every program must do without a terminal, whatever its contract."""

from __future__ import annotations

from collections.abc import Iterator

from ..calls.making import Call, Target, named, over, unsuccessful
from ..judging import NotApplicable, finding
from ..probing import TRAPPED
from ..results import Finding
from ..target import NONE

_LAST_CODE = 9  # of murli
_COMPLAINTS = (b"Broken pipe", b"BrokenPipe", b"EPIPE")
_KEPT = ("home/.local/state", "home/.cache")
_TRACEBACK = b"Traceback (most recent call last)"


def _calls(target: Target, stdin: str = "null") -> Iterator[Call]:
    """Make calls that any tool must survive: help, and commands that only read."""
    yield Call(target, "", target.run("--help", stdin=stdin))
    for command in target.safe:
        yield target.called(command, stdin=stdin)


def _everything(target: Target) -> Iterator[Call]:
    """Yield every call that was made, and some more that show how the tool writes."""
    target.seen(_calls(target), target.mistakes())
    for evidence in target.prober.seen:
        words = evidence.argv[len(target.prober.tool) :]
        yield Call(target, target.command_of(words), evidence)


def _streams(call: Call) -> tuple[tuple[str, bytes], ...]:
    return ("stdout", call.evidence.stdout), ("stderr", call.evidence.stderr)


def _is_silent(call: Call) -> bool:
    return not any(data.strip() for _, data in _streams(call))


def _hangs(call: Call) -> str:
    return f"it {call.ended}" if call.evidence.timed_out else ""


def _helped(target: Target) -> Iterator[Call]:
    asked = [each for each in target.commands if target.may_be_asked(each, "--help")]
    paths = {named(each): target.path_to(each) for each in asked}
    for name, path in {**paths, "": paths.get("", ())}.items():
        yield Call(target, name, target.run(*path, "--help"))


@over(_helped)
def help_answers(call: Call) -> str:
    """``--help`` exits with 0 and prints something, for every command."""
    return unsuccessful(call, "--help") or ("--help says nothing" if _is_silent(call) else "")


def version_answers(target: Target) -> Iterator[Finding]:
    """``--version`` exits with 0 and prints something; a tool without it reports an error."""
    call = Call(target, "", target.run("--version"))
    code, trouble = call.evidence.exit_code, "there is no --version"
    if code == 0:
        trouble = "--version says nothing" if _is_silent(call) else ""
    elif call.evidence.timed_out or code is None or code < 0:
        trouble = f"--version: {call.ended}"
    yield finding(trouble, "", call.evidence, warn=trouble.startswith("there"))


@over(lambda target: _calls(target, "closed"))
def stdin_closed(call: Call) -> str:
    """Commands that only read neither hang nor crash if stdin is closed."""
    usual = call.target.run(*call.words)
    same = call.evidence.exit_code == usual.exit_code
    return _hangs(call) or ("" if same else f"without stdin {call.ended}, otherwise {usual.ended}")


@over(lambda target: _calls(target, "silent"))
def stdin_silent(call: Call) -> str:
    """Commands that only read do not wait for stdin."""
    return _hangs(call)


@over(_everything)
def no_escapes(call: Call) -> str:
    """No escape byte on either stream of any call."""
    found = [name for name, data in _streams(call) if b"\x1b" in data]
    return f"escape codes on {' and '.join(found)}" if found else ""


@over(_everything)
def is_utf_8(call: Call) -> str:
    """Both streams of every call are UTF-8."""
    trouble = ""
    for name, data in _streams(call):
        try:
            data.decode()
        except UnicodeDecodeError as error:
            # Output that was cut off may end within a character.
            cut = call.evidence.timed_out and error.end == len(data)
            trouble = trouble if cut else f"{name} is not UTF-8"
    return trouble


@over(_everything)
def no_traceback(call: Call) -> str:
    """No call prints the stack trace of an interpreter."""
    return "a stack trace" if any(_TRACEBACK in data for _, data in _streams(call)) else ""


@over(_everything)
def no_pager(call: Call) -> str:
    """No call starts a program for a person."""
    return TRAPPED if TRAPPED in call.evidence.event else ""


def reader_gone(target: Target) -> Iterator[Finding]:
    """A tool whose reader is gone ends without a stack trace or a message."""
    listing = {"murli": "describe", NONE: "--help"}.get(target.speaks, "manifest")
    call = Call(target, "", target.run(listing, event="reader-gone"))
    stderr = call.evidence.stderr
    # Some always write something to stderr.
    is_new = bool(stderr) and not target.run(listing).stderr
    complains = is_new or any(each in stderr for each in _COMPLAINTS)
    trouble = _hangs(call) or ("it complains on stderr" if complains else "")
    yield finding(trouble, "", call.evidence)


@over(
    lambda target: map(target.called, target.safe),
    otherwise="no command is declared to only read",
)
def reads_leave_no_trace(call: Call) -> str:
    """A command that is declared to only read changes no files."""
    changed = [each for each in call.evidence.changed if not _is_kept(each)]
    return f"it changed {', '.join(changed[:3])}" if changed else ""


def _is_kept(path: str) -> bool:
    """Return whether a file is one that any program may keep: state, caches, logs."""
    return any(f"{place}/".startswith(f"{path}/") or path.startswith(place) for place in _KEPT)


def promises(target: Target) -> Iterator[Finding]:
    """Every call of the profile exits with the code in the profile."""
    probes = target.probes("call")
    if not probes:
        raise NotApplicable("the profile names no call")
    for probe in probes:
        evidence = target.vouched(probe)
        if not target.is_enveloped and (evidence.exit_code or 0) > _LAST_CODE:
            continue  # malformed
        kept = evidence.exit_code == probe.exit_code
        trouble = "" if kept else f"{evidence.ended} instead of exit {probe.exit_code}"
        yield finding(trouble, target.command_of(probe.words), evidence)
