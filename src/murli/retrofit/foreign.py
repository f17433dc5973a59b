"""Any other program: supervised as a child, described by its help, guarded by its names."""

from __future__ import annotations

import sys

from ..adapters import enable
from ..adapters.node_levels import NodeLevel
from ..adapters.program import Program
from ..core import current, mentions_secret
from ..declare.safety import DESTROYING, declared_danger, inferred_danger
from ..declare.tree import Command
from ..errors import AgentError
from .learning import Known
from .sidecars import Invalid, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    from ..call import Invocation
    from ..call.misnamed import Parameters
    from ..declare import Metadata
    from ..line.option_words import Options as SecretOptions
    from .launch import Options
    from .resolving import Target
    from .sidecars import Sidecar

# How long a program may take that nobody has given a time.
SECONDS = 1800.0
_CONFIRMING = ("--yes", "--force", "--assume-yes")


def run(target: Target, options: Options) -> NoReturn:
    """Run a program that is not Python's, or whose code is not looked at, and end this process."""
    made = Foreign(target)
    made.describes = "--describes" in options.switches
    made.is_confirmed = "--yes" in options.switches
    chosen: dict[str, Any] = {"guard": options.guard, "name": target.name}
    if "--contract" in options.values:
        chosen["contract"] = options.values["--contract"]
    if made.sidecar is not None:
        chosen["exit_codes"] = made.sidecar.exit_codes()
        chosen |= made.sidecar.timeout()
        made.sidecar.redirect(made)
    enable(made, **{"timeout": SECONDS, **chosen, **options.timeout()})
    sys.argv[:] = [target.argv[0], *target.words]
    with made as writer:
        from .supervising import supervise

        status = supervise([*target.argv, *sys.argv[1:]], target.path, writer)
    sys.exit(status)


class Foreign(Program):
    """A program without any code of ours in it."""

    # Whether the word for our description is no word of the program's.
    describes = False
    # Whether the caller confirmed the call before the program's name.
    is_confirmed = False

    def __init__(self, target: Target) -> None:
        super().__init__({}, "", "")
        self.target = target
        self.known = Known(target.argv, target.path, target.name)
        self._version = ""
        # What is declared about it, and what is wrong with that.
        self.sidecar: Sidecar | None = None
        self.mistake = ""
        try:
            self.sidecar = find(target.name)
        except Invalid as wrong:
            self.mistake = str(wrong)

    # -- what is called ---------------------------------------------------------------------------

    def called(self, invocation: Invocation) -> tuple[Metadata | None, tuple[str, ...]]:
        """Return what is declared of the command that is called, and its names.

        The help is asked for only where a word sounds as if it destroyed something.
        """
        if self.mistake:
            invocation.refuse(AgentError.user_error(self.mistake, "Mend the sidecar."))
        words = sys.argv[1:]
        declared_path = self.sidecar.called(words) if self.sidecar is not None else ()
        declared = self._declared_at(declared_path)
        danger = declared_danger(declared, declared_path)
        destroys = self._may_destroy(words)
        if danger == "destructive" or not destroys:
            return declared, declared_path
        path = self._named(words)
        if inferred_danger(path or (self.name(),)) != "destructive":
            return declared, declared_path or path
        # What somebody says is safe is that command, not one below it.
        own = self._declared_at(path)
        return (own if declared_danger(own, path) else _without_danger(declared)), path

    def _may_destroy(self, words: list[str]) -> bool:
        """Return whether the name of the program, or a word of its own, suggests that."""
        for name in (self.name(), *(word for word in words if word[:1] != "-")):
            text = name.casefold()  # the exact look costs more, and is seldom needed
            suspect = any(map(text.__contains__, DESTROYING))
            if suspect and inferred_danger((name,)) == "destructive":
                return True
        return False

    def _named(self, words: list[str]) -> tuple[str, ...]:
        """Return the command that *words* name by the help of the program; values are no names.

        A word in the place of a command that the help does not list may be a hidden one.
        """
        level, hidden, skip = NodeLevel(self.known), "", 0
        for word in words:
            if skip:
                skip -= 1
            elif word == "--":
                break
            elif word[:1] == "-" and word != "-":
                skip = level.width(word)[0] if "=" not in word else 0
            elif (below := level.child(word, 0)) is not None:
                level, hidden = below, ""
            elif level.routes:
                hidden = hidden or word
        self.known.keep()
        root = self.known.node()
        if not (root.get("commands") or root.get("arguments")):
            # Nothing is known of its words: the first may be a command, in a group perhaps.
            return tuple(word for word in words if word[:1] != "-")[: 1 if root.get("flags") else 2]
        return (*level.path, hidden) if hidden else level.path

    def intent(self) -> tuple[bool, bool]:
        """Return whether words of the program's own confirm, and preview."""
        words = sys.argv[1:]
        confirmed = self.is_confirmed or any(word in words for word in _CONFIRMING)
        return confirmed, "--dry-run" in words

    # -- what the runtime asks --------------------------------------------------------------------

    def version(self) -> str:
        """Return the version, where the program has been described: a call does not ask for it."""
        return self._version

    def level(self) -> NodeLevel:  # type: ignore[override]
        """Return the program as the scanner sees it."""
        return NodeLevel(self.known, describes=self.describes)

    def metadata(self) -> Metadata | None:
        """Return what is declared about the program itself."""
        return self._declared_at(())

    def _declared_at(self, path: tuple[str, ...]) -> Metadata | None:
        """Return what the sidecar declares about the command at *path*."""
        return self.sidecar.metadata(path) if self.sidecar is not None else None

    def tree(self) -> Command:
        """Describe every command, from the help of each."""
        self._version = self.known.version()
        return _with_help(self.known.tree(self._declared_at))

    def command(self, level: Any, *, deep: bool = True) -> Command:
        """Describe the command at *level*, from its help."""
        return _with_help(self.known.command(level.path, self._declared_at, deep=deep))

    def help(self) -> str:
        """Return a text about the program."""
        return f"usage: {self.name()} ...\n"

    def secret_options(self, level: Any) -> SecretOptions:
        """Return the options of a command, and which of them have secrets for values."""
        from ..line.option_words import Options
        from ..secrets.names import is_secret_name

        found = Options(lambda word: False)
        for flag in level.node.get("flags", ()):
            takes = flag["type"] != "bool"
            secret = takes and any(map(is_secret_name, flag["spellings"]))
            found.add(flag["spellings"], int(takes), False if secret else None)
        return found

    def parameters(self, level: Any) -> Parameters:
        """Return the options and arguments of a command by their names."""
        from ..call.misnamed import Parameters

        node = level.node
        return Parameters(
            None,
            [each["spellings"] for each in node.get("flags", ())],
            [each["name"] for each in node.get("arguments", ())],
        )

    def _take_ours_away(self, invocation: Invocation) -> None:
        super()._take_ours_away(invocation)
        for value in self._declared_secrets():
            invocation.hide(value)
        if mentions_secret("\0".join((*sys.argv[1:], ""))):
            self.secret_options(self.level()).hide_in(sys.argv[1:], invocation)

    def _declared_secrets(self) -> Iterator[str]:
        """Yield the values of options that a sidecar calls secret, however they are written."""
        if self.sidecar is None:
            return
        names = self.sidecar.sensitive()
        for word, following in zip(sys.argv[1:], [*sys.argv[2:], ""], strict=True):
            name, has_value, value = word.partition("=")
            if name in names:
                yield value if has_value else following
            for short in names:
                if len(short) == len("-x") and word.startswith(short) and word != short:
                    yield word[len(short) :]


def _with_help(found: Command) -> Command:
    """Return a command, or refuse the call where nothing is known of it."""
    invocation = current()
    is_known = found.flags or found.commands or found.arguments or found.summary
    if invocation is not None and not is_known:
        message = f"{' '.join(found.path)} has no help that could be read."
        advice = "Call it without describing it, or write a sidecar for it."
        invocation.refuse(AgentError.not_found(message, advice))
    return found


def _without_danger(declared: Metadata | None) -> Metadata | None:
    """Return what is declared of another command, without what it says about danger."""
    if declared is None:
        return None
    explicit = declared.explicit - {"mutating", "destructive"}
    return declared.replace(mutating=False, destructive=False, explicit=explicit)
