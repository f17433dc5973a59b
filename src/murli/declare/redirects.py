"""Where commands have gone: what an author declares about old names."""

from __future__ import annotations

from ..core import REDIRECTS, is_parser, kind_of
from ..outcome import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..type_checking import RedirectReason

    Path = tuple[str, ...]
    Rules = Mapping[Path, "Redirection"]


class MovedOption(Record):
    """What became of an option: its *new* name, or ``""`` for none.

    *count* is how many words follow it, ``None`` where the parser knows. *values* maps old
    values to new ones: a dict or a function.
    """

    new: str
    count: int | None = None
    values: Any = None

    def value(self, text: str) -> str:
        """Return the value to pass in place of *text*."""
        if self.values is None:
            return text
        return str(self.values(text) if callable(self.values) else self.values.get(text, text))


class Redirection(Record):
    """That the command *old* is called as *new* now, with the words of *fixed* behind it.

    *options* are those of the old command that are called otherwise now, or not at all.
    """

    old: Path
    new: Path
    fixed: Path
    permanent: bool
    reason: RedirectReason
    message: str
    options: dict[str, MovedOption]

    @property
    def extends(self) -> bool:
        """Whether the command has become a group, and lives on below its own name."""
        return self.new[: len(self.old)] == self.old


def redirect(
    app: Any,
    old: str,
    new: str,
    *,
    permanent: bool = True,
    reason: RedirectReason = "renamed",
    message: str = "",
    options: Mapping[str, str | None] | None = None,
    values: Mapping[str, Mapping[str, str] | Callable[[str], str]] | None = None,
) -> None:
    """Answer a call of *old*, a command of *app*, with the call of *new* to make instead.

    ::

        murli.redirect(app, "user create", "users add")
        murli.redirect(app, "user import", "users add --from-file -", reason="restructured")

    Both are what stands behind the tool's name; *new* may bring options of its own. The rest of the
    call is carried over. *app* is what `enable` takes, and may be enabled before or after.

    * *permanent*: whether a caller should remember it, rather than do so this once.
    * *reason*: ``renamed``, ``restructured``, ``deprecated`` or ``typo_corrected``.
    * *message*: what happened, where the usual sentence will not do.
    * *options*: what the old command's options are called now, ``None`` for one that is gone:
      ``{"--name": "--title", "--legacy": None}``. An option that took values, of a command that is
      gone, is written with what stood for them: ``{"--legacy WORD": None}``.
    * *values*: new values for old ones, by the option's old name: a dict, or a function that takes
      the old text. What a dict does not hold stays as it is.

    A command that still exists is redirected too. Redirects may be chained; those that lead back
    to where they started are a `ValueError`.
    """
    from ..errors import REDIRECT_REASONS

    app = vars(type(app)).get("_murli_enabled", app)  # an App of cyclopts has no place for it
    kinds = ("registered_commands", "params", "murli_settings")
    if not (is_parser(app) or any(hasattr(app, each) for each in kinds)):
        raise TypeError(
            "murli.redirect() takes a click.Command, a typer.Typer or an argparse.ArgumentParser, "
            f"not {kind_of(app)}"
        )
    if reason not in REDIRECT_REASONS:
        raise ValueError(f"reason is one of {', '.join(REDIRECT_REASONS)}, not {reason!r}")
    before, words = _split("old", old)
    if words:
        raise ValueError(f'old is the name of a command, without options, not "{old}"')
    after, fixed = _split("new", new)
    moved = _moved_options(options or {}, values or {})
    rule = Redirection(before, after, fixed, bool(permanent), reason, str(message), moved)
    if after == before:
        raise ValueError(f'"{old}" would be redirected to itself')
    known: dict[Path, Redirection] = dict(app.__dict__.get(REDIRECTS, {}))
    if known.get(before, rule) != rule:
        raise ValueError(f'"{old}" is redirected to "{" ".join(known[before].new)}" already')
    known[before] = rule
    for each in known:
        destination(each, known)  # raises for what goes round in circles
    setattr(app, REDIRECTS, known)


def destination(path: Sequence[str], rules: Rules) -> Path:
    """Return where a call of *path* ends; `ValueError` when it never does."""
    words, used = tuple(path), []
    while (rule := rule_for(words, rules)) is not None:
        if rule in used:
            raise ValueError(f'redirecting "{" ".join(path)}" leads back to where it started')
        used.append(rule)
        words = (*rule.new, *words[len(rule.old) :])
    return words


def rule_for(words: Path, rules: Rules) -> Redirection | None:
    """Return the rule for a call that starts with *words*: the one with the longest name."""
    for length in range(len(words), 0, -1):
        rule = rules.get(words[:length])
        if rule is not None and not (rule.extends and words[: len(rule.new)] == rule.new):
            return rule
    return None


def _moved_options(
    options: Mapping[str, str | None],
    values: Mapping[str, Mapping[str, str] | Callable[[str], str]],
) -> dict[str, MovedOption]:
    """Return what became of each option, by its old name."""
    found: dict[str, MovedOption] = {}
    for key, new in options.items():
        name, *metavars = str(key).split() or [""]
        if not _is_option(name) or not (new is None or _is_option(new)):
            raise ValueError(f'options maps "--old" to "--new" or None, not {key!r} to {new!r}')
        found[name] = MovedOption(new or "", len(metavars) or None)
    for key, change in values.items():
        name = str(key)
        if not _is_option(name) or not (callable(change) or hasattr(change, "get")):
            raise ValueError(
                f'values maps "--old" to a dict or a function, not {name} to {change!r}'
            )
        known = found.get(name, MovedOption(name))
        if not known.new:
            raise ValueError(f"{name} is gone; values has no use for it")
        found[name] = known.replace(values=change)
    return found


def _is_option(word: object) -> bool:
    return isinstance(word, str) and word[:1] == "-" and bool(word.strip("-")) and " " not in word


def _split(name: str, text: str) -> tuple[Path, Path]:
    """Return the command in *text* and the words behind its name."""
    words = text.split()
    if any(letter in text for letter in "'\"\\"):
        import shlex

        words = shlex.split(text)
    count = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    if not count:
        raise ValueError(f'{name} is a command such as "users add", not "{text}"')
    return tuple(words[:count]), tuple(words[count:])
