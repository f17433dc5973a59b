"""One call of one tool with one thing going wrong, made from a seed and a number."""

from __future__ import annotations

import os
import random
import signal
from dataclasses import dataclass, field

from murli.contracts import CONTRACT_NAMES

ADAPTERS = ("argparse", "click", "typer")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# What goes wrong, and how often out of a hundred.
FAULTS = {
    "none": 20,
    "signal at start": 5,
    "signal in import": 4,
    "signal in handler": 10,
    "signal at end": 6,
    "burst of signals": 5,
    "reader closes early": 8,
    "reader is slow": 3,
    "reader is late": 4,
    "stderr is read late": 2,
    "stdout is full": 5,
    "stdout is closed": 4,
    "stderr is closed": 3,
    "stderr is full": 2,
    "both are closed": 2,
    "stdin is closed": 2,
    "stdin is silent": 2,
    "stdin is fed": 3,
    "disk is full": 4,
    "few descriptors": 3,
    "hostile words": 8,
}
SLOW = ("sleeps", "computes", "waits-for-child", "has-daemon")
# Those end only because they are made to.
STUBBORN = ("blocks-at-end", "swallows", "has-deaf-child", "blocks-signals", "loops-on")
_QUICK = (
    *("answers", "answers", "returns", "prints", "prints", "generates", "says-hostile"),
    *("prints-hostile", "streams", "progresses", "is-partial", "answers-twice", "fails-late"),
    *("cannot-be-encoded", "has-child", "looks-at-descriptors", "has-thread", "has-daemon"),
    *("prints-at-exit", "forks", "becomes-another", "sleeps", "fails", "fails", "recurses"),
    *("exits", "exits", "exits-hard", "closes-stdout", "is-noisy", "change", "change", "slow"),
    *("asks", "asks-for-password", "reads", "times-out", "is-stuck", "truncates", "truncates"),
    *("opens-stdout", "closes-all", "forks-and-answers", "leaves-child"),
)
_ASKING = ("asks", "asks-for-password", "reads")
_WORDS = (
    *("--agent", "--schema", "--force", "--yes", "--dry-run", "--output", "--output=x"),
    *("--output=", "--output=ndjson", "--contract", "--contract=response", "--contract=\xff"),
    *("--profile", "--profile=../x", "--protocol-version", "--protocol-version=9", "--timeout"),
    *("--timeout=0", "--timeout=x", "--debug", "--murli-separator", "describe", "profile"),
    *("doctor", "do", "slow", "change", "answers", "--seed", "--seed=x", "--", "-", "", "--help"),
    *("-h", "--x", "describe --depth 1", "profile list", "profile show x", "\x1b[31m", "{}", "\n"),
)


@dataclass
class Case:
    """What is called, how, and what goes wrong."""

    number: int
    adapter: str
    contract: str
    deed: str
    fault: str
    words: list[str]
    seed: int = 0
    size: int = 100
    seconds: float = 0.0
    stdin: str = "null"
    session: bool = False
    #: whether Python is told not to buffer what is printed
    unbuffered: bool = False
    #: when and which, for signals: seconds behind the point where the fault begins
    signals: list[tuple[float, int]] = field(default_factory=list)
    #: how many bytes are read, descriptors allowed, or bytes of disk left
    limit: int = 0

    @property
    def streams(self) -> bool:
        """Whether lines come before the answer."""
        return self.deed in ("streams", "streams-endlessly", "progresses")


def make(seed: int, number: int) -> Case:
    """Return the case of that *number* under *seed*, always the same."""
    dice = random.Random(f"{seed}:{number}")
    fault = dice.choices(list(FAULTS), list(FAULTS.values()))[0]
    # Typer takes five times as long to load as the others.
    adapter = dice.choices(ADAPTERS, (50, 33, 17))[0]
    deed = _deed(dice, fault)
    case = Case(number, adapter, dice.choice(CONTRACT_NAMES), deed, fault, [])
    case.seed = dice.randrange(1000)
    case.size = _size(dice, fault)
    case.seconds = round(dice.uniform(0.01, 0.08), 3)
    if fault in ("signal in handler", "burst of signals"):
        case.seconds = 2.0  # far beyond the signal
    # What happens when a session is over is the program's own.
    late = deed in ("has-thread", "has-daemon", "prints-at-exit", "is-stuck-at-exit")
    case.session = adapter == "argparse" and not late and dice.random() < 0.3
    case.unbuffered = dice.random() < 0.2
    case.words = hostile_words(dice) if fault == "hostile words" else words_of(case, dice)
    _aggravate(case, dice)
    return case


def _deed(dice: random.Random, fault: str) -> str:
    if fault in ("signal in handler", "burst of signals"):
        # Each of the stubborn takes two seconds.
        return dice.choice(STUBBORN if dice.random() < 0.15 else (*SLOW, "slow"))
    if fault == "reader closes early" and dice.random() < 0.1:
        return dice.choice(("prints-endlessly", "streams-endlessly"))
    if fault.startswith("stdin") and dice.random() < 0.7:
        return dice.choice(_ASKING)
    if fault == "disk is full":
        return dice.choice(("prints", "has-child", "answers", "exits", "fails", "has-thread"))
    deed = dice.choice(_QUICK)
    return "is-stuck-at-exit" if deed == "is-stuck" and dice.random() < 0.2 else deed


def _size(dice: random.Random, fault: str) -> int:
    kind = dice.random()
    if fault.startswith("reader") or kind > 0.96:
        return int(10 ** dice.uniform(2, 6.4))
    return int(10 ** dice.uniform(1, 5)) if kind > 0.7 else dice.randrange(1000)


def words_of(case: Case, dice: random.Random) -> list[str]:
    """Return the command line of an honest call."""
    numbers = [f"--seed={case.seed}", f"--size={case.size}", f"--seconds={case.seconds}"]
    if case.deed == "change":
        words = ["change", *numbers, *dice.choice(([], ["--force"], ["--yes"], ["--dry-run"]))]
    elif case.deed == "slow":
        words = ["slow", *numbers]
    elif case.deed == "times-out":
        words = ["do", "sleeps", f"--seed={case.seed}", "--seconds=3", "--timeout=0.1"]
    elif case.deed.startswith("is-stuck"):
        words = ["do", case.deed, f"--seed={case.seed}", "--timeout=0.3"]
    else:
        words = ["do", case.deed, *numbers]
    form = dice.choice(([], [], ["--output", "ndjson"], ["--output=json"], ["--agent"]))
    if case.contract == "agent-spec-2":  # where --output is for paths
        form = [{"--output": "--format", "ndjson": "jsonl"}.get(word, word) for word in form]
        form = [word.replace("--output=", "--format=") for word in form]
    if case.contract != "murli":
        form = [*form, "--limit=0", "--max-bytes=0"]  # what is wanted is the whole
    return [*form, *words] if dice.random() < 0.5 else [*words, *form]


def hostile_words(dice: random.Random) -> list[str]:
    """Return a command line nobody means."""
    words: list[str] = dice.choice(([], ["do"], ["do", "answers"], ["change"], ["slow"]))[:]
    for _ in range(dice.randrange(1, 8)):
        kind = dice.random()
        if kind < 0.6:
            word = dice.choice(_WORDS)
        elif kind < 0.8:
            word = os.fsdecode(dice.randbytes(dice.randrange(20)).replace(b"\0", b""))
        elif kind < 0.95:
            word = dice.choice(("--seed=", "--agent=", "--size=", "-", "--", "--output="))
            word += dice.choice(
                ("\udcff\udcfe", "9" * 5000, "-1", "1e999", "nan", "٣", "x y", "=", "\u202e")
            )
        else:
            word = dice.choice(("a", "é", "-", "--x")) * dice.randrange(1, 20_000)
        words[dice.randrange(len(words) + 1) : 0] = word.split(" ") if kind < 0.6 else [word]
    return words


def _aggravate(case: Case, dice: random.Random) -> None:
    """Fill in how exactly it goes wrong."""
    fault = case.fault
    if fault == "burst of signals":
        delay, pause = dice.uniform(0, 0.06), dice.choice((0.0, 0.0001, 0.001, 0.005))
        kinds = (signal.SIGINT,) if dice.random() < 0.7 else SIGNALS
        count = dice.choice((2, 3, 3, 8, 20))
        case.signals += [(delay + pause * each, dice.choice(kinds)) for each in range(count)]
    elif fault.startswith("signal"):
        latest = {
            "signal at start": 0.015,
            "signal in import": {"argparse": 0.1, "click": 0.15, "typer": 0.4}[case.adapter],
            "signal in handler": 0.06,
            "signal at end": 0.03,
        }[fault]
        delay = dice.uniform(0, latest)
        case.signals.append((delay, dice.choice(SIGNALS)))
        if dice.random() < 0.25:
            again = case.signals[0][1] if dice.random() < 0.6 else dice.choice(SIGNALS)
            case.signals.append((delay + dice.uniform(0, 0.03), again))
    elif fault == "reader closes early":
        case.limit = dice.choice((0, 0, 1, 100, 5_000, 70_000, 200_000))
        if case.deed == "prints-endlessly":
            case.limit = 0  # there is nothing to read until it ends
    elif fault == "disk is full":
        case.limit = dice.choice((0, 4096, 16384, 65536))
    elif fault == "few descriptors":
        case.limit = dice.randrange(8, 20)  # with fewer Python itself cannot load a module
    if fault.startswith("stdin"):
        case.stdin = fault.rpartition(" ")[2]
