"""``murli run``: a tool is found, and this process becomes it; little is loaded before that."""

from __future__ import annotations

import os
import sys

from ..core import MOUNTED, Settings, end_of_own_flags
from .resolving import NotFound, Target, resolve
from .watching import BETWEEN, WITHIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

# How murli itself is started again, by whatever word it was called; never from the folder it is in.
_AGAIN = "import sys; '' in sys.path[:1] and sys.path.pop(0); import murli.__main__ as m; m.main()"
# The flags that have a value, and those that are switches.
VALUES = ("--contract", "--timeout")
SWITCHES = ("--trust", "--as-program")


class Options:
    """What stands between ``murli run`` and the tool."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.switches: set[str] = set()

    @property
    def guard(self) -> str:
        """Whose word decides what has to be confirmed; see `murli.enable`."""
        return "declared" if "--trust" in self.switches else "inferred"

    def words(self) -> list[str]:
        """Return them as they are typed."""
        values = [f"{name}={value}" for name, value in self.values.items()]
        return [*values, *sorted(self.switches)]


def split(words: Sequence[str]) -> tuple[Options, list[str]] | None:
    """Return the options of ``run``, and the tool with its words; ``None`` for anything else."""
    options, place = Options(), 0
    while place < len(words):
        name, has_value, value = words[place].partition("=")
        if name == "--" and not has_value:
            place += 1
            break
        if name in SWITCHES and not has_value:
            options.switches.add(name)
        elif name in VALUES and (has_value or place + 1 < len(words)):
            place += not has_value
            options.values[name] = value if has_value else words[place]
        elif name[:1] == "-":
            return None
        else:
            break
        place += 1
    return (options, list(words[place:])) if place < len(words) and words[place] else None


def run(words: Sequence[str]) -> None:
    """Become a tool; returns where the parser of the command is to say what is wrong."""
    asked = split(words)
    if asked is None:
        return
    try:
        become(asked[1], asked[0])
    except NotFound:
        return


def become(words: Sequence[str], options: Options) -> NoReturn:
    """Become the tool that *words* call; `NotFound` when there is none."""
    target = resolve(words[0], words[1:])
    if is_plain(target):
        execute([*target.argv, *target.words])
    if target.interpreter and "--as-program" not in options.switches:
        execute(bootstrapped(target, options))
    execute([*target.argv, *target.words])


def is_plain(target: Target) -> bool:
    """Return whether a person calls the tool, with no word that could be ours."""
    settings = Settings(agents="pipe", detect_agents=False)
    if not settings.is_for_people(os.isatty(1)):
        return False
    mounted = MOUNTED if target.interpreter else ()
    return not end_of_own_flags(target.words, mounted)


def execute(argv: list[str]) -> NoReturn:
    """Become another program."""
    from .resolving import find

    sys.stdout.flush()
    os.execv(find(argv[0]), argv)


def bootstrapped(target: Target, options: Options, ask: Sequence[str] | None = None) -> list[str]:
    """Return what runs the tool behind the bootstrap, or what it is called to *ask* there."""
    said = {
        "guard": options.guard,
        "back": WITHIN.join([sys.executable, "-c", _AGAIN, "run", *options.words()]),
        "argv": WITHIN.join(target.argv),
        "name": target.name,
    }
    for name, value in options.values.items():
        said[name.removeprefix("--")] = value
    if ask is not None:
        said["ask"] = WITHIN.join(ask)
    elif not end_of_own_flags(target.words, MOUNTED):
        said["own"] = ""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bootstrap.py")
    word = BETWEEN.join(map("=".join, said.items()))
    return [*target.interpreter, script, word, target.how, target.place, *target.words]
