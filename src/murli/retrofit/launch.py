"""``murli run``: a tool is found, and this process becomes it; little is loaded before that."""

from __future__ import annotations

import os
import sys

from ..core import MOUNTED, Settings, end_of_own_flags
from .places import locate
from .resolving import NotFound, Target, resolve
from .watching import BETWEEN, NOBODY, WITHIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

# How murli itself is started again, by whatever word it was called; never from the folder it is in.
AGAIN = "import sys; '' in sys.path[:1] and sys.path.pop(0); import murli.__main__ as m; m.main()"
# The flags that have a value, and those that are switches.
VALUES = ("--contract", "--timeout")
SWITCHES = ("--trust", "--as-program", "--yes")  # and --describes, which nobody types


class Options:
    """What stands between ``murli run`` and the tool."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.switches: set[str] = set()

    @property
    def guard(self) -> str:
        """Whose word decides what has to be confirmed; see `murli.enable`."""
        return "declared" if "--trust" in self.switches else "inferred"

    def timeout(self) -> dict[str, float]:
        """Return how long the tool may take, as `murli.enable` takes it, where that is said."""
        value = self.values.get("--timeout")
        return {} if value is None else {"timeout": float(value)}

    def words(self) -> list[str]:
        """Return them as they are typed."""
        values = [f"{name}={value}" for name, value in self.values.items()]
        return [*values, *sorted(self.switches.intersection(SWITCHES))]


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
            options.values[name] = value = value if has_value else words[place]
            if not _is_valid(name, value):
                return None
        elif name[:1] == "-":
            return None
        else:
            break
        place += 1
    return (options, list(words[place:])) if place < len(words) and words[place] else None


def _is_valid(name: str, value: str) -> bool:
    if name == "--contract":
        from ..contracts import find_contract

        return find_contract(value) is not None
    try:
        return 0 < float(value) < float("inf")
    except ValueError:
        return False


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
    if "--describes" not in options.switches and is_plain(target):
        execute([*target.argv, *target.words])
    if "--yes" in options.switches and target.interpreter:
        target.words.insert(0, "--yes")  # as if it were among the words of the tool
    is_watched = target.interpreter and "--as-program" not in options.switches
    if is_watched:
        is_asked = end_of_own_flags(target.words, MOUNTED)
        # Without an app there would be nobody who knows which command is called.
        is_guarded = not is_asked and "--trust" not in options.switches and _may_destroy(target)
        if not (is_asked or is_guarded) or _has_app(target, options, asks=is_guarded):
            execute(bootstrapped(target, options))
    from .foreign import run as run_foreign

    run_foreign(target, options)


def is_plain(target: Target) -> bool:
    """Return whether a person calls the tool, with no word that could be ours."""
    settings = Settings(agents="pipe", detect_agents=False)
    if not settings.is_for_people(os.isatty(1)):
        return False
    if target.interpreter:
        return not end_of_own_flags(target.words, MOUNTED)
    return "--agent" not in target.words


def execute(argv: list[str]) -> NoReturn:
    """Become another program."""
    from .resolving import find

    sys.stdout.flush()
    os.execv(find(argv[0]), argv)


def _may_destroy(target: Target) -> bool:
    """Return whether a word of a call is one of those for what destroys.

    The list of them is loaded by its file, without all that stands around it.
    """
    loading, files = map(__import__, ("_frozen_importlib", "_frozen_importlib_external"))
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.path.join(home, "declare", "safety.py")
    spec = files.spec_from_file_location("murli.declare.safety", path)
    safety = loading.module_from_spec(spec)
    spec.loader.exec_module(safety)
    words = (target.name, *(word for word in target.words if word[:1] != "-"))
    spelled = "-".join(words).casefold().replace("_", "-").replace(" ", "-")
    return not safety.DESTROYING.isdisjoint(spelled.split("-"))


def _has_app(target: Target, options: Options, *, asks: bool = False) -> bool:
    """Return whether a tool of Python parses its words with a framework that we know.

    Only then are words of ours taken from it before it sees them, and commands that destroy guarded
    where they parse. One that is called for the first time is asked for its help; a module only
    where the caller *asks* for more than a guess.
    """
    from .learning import SECONDS, Known, ask

    def find() -> str:
        asked = Target(target.name, target.argv, ["--help"], target.path)
        asked.interpreter, asked.how, asked.place = target.interpreter, target.how, target.place
        if target.how != "module":
            asked.place = os.path.abspath(target.place)
        argv = bootstrapped(asked, options, probes=True)
        return "program" if ask(argv, SECONDS)[1] == NOBODY else "app"

    if locate(target.name) is not None:
        from .sidecars import Invalid
        from .sidecars import find as find_sidecar

        try:
            sidecar = find_sidecar(target.name)
        except Invalid:  # which is reported where the tool is enabled
            sidecar = None
        if sidecar is not None and sidecar.kind:
            return sidecar.kind == "python"
    if target.how == "module":  # whose package may be another one tomorrow
        return not asks or find() == "app"
    known = Known(target.argv, target.path, target.name)
    found = known.noted("--kind", find)
    known.keep()
    return found == "app"


def describe(command: str, words: Sequence[str]) -> None:
    """Describe a tool: ``describe``, ``card`` or ``schema``, the tool, and names of commands.

    Returns where the parser of the command is to say what is wrong.
    """
    asked = split(words)
    if asked is None:
        return
    options, (tool, *names) = asked
    options.switches.add("--describes")
    if command == "schema":
        ours = [*names, "--schema"]
    else:
        ours = ["describe", *(["--card"] if command == "card" else []), *names]
    try:
        become([tool, *ours], options)
    except NotFound:
        return


def bootstrapped(target: Target, options: Options, *, probes: bool = False) -> list[str]:
    """Return what runs the tool behind the bootstrap, or only *probes* what it is."""
    passed = {
        "guard": options.guard,
        "back": WITHIN.join([sys.executable, "-c", AGAIN, "run", *options.words()]),
        "argv": WITHIN.join(target.argv),
        "name": target.name,
    }
    for name, value in options.values.items():
        passed[name.removeprefix("--")] = value
    sidecar = locate(target.name)
    if sidecar is not None:
        passed["sidecar"] = WITHIN.join(sidecar)
    if probes:
        passed["probe"] = ""
    elif not end_of_own_flags(target.words, MOUNTED):
        passed["own"] = ""
    elif target.how != "module":  # an app is known to begin
        passed["aside"] = ""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bootstrap.py")
    word = BETWEEN.join(map("=".join, passed.items()))
    return [*target.interpreter, script, word, target.how, target.place, *target.words]
