"""Profiles in what a shell completes of a click-like tool.

A framework completes what it knows. So while a shell asks, every command on the way to the word
being completed has an option ``--profile``, and the root knows the word ``profile``; afterwards
the commands are as they were.
"""

from __future__ import annotations

import os
import sys

from ...commands.completion import OPTION_HELP, Profiles
from ...core import is_group
from ...line.scanning import has_profileable
from .. import stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ...call import Invocation


# What the frameworks' scripts for shells put the words of the command line into.
_WORDS = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
_INSTRUCTIONS = frozenset(("complete", "source"))


def complete(
    invocation: Invocation | None,
    own: Callable[..., Any],
    ctx_args: Any,
    prog_name: str,
    variable: str | None,
) -> None:
    """Let the framework answer a shell that asks for completions; return if none does.

    *own* is its own step for that: it knows the variable to look at, and ends the program. Where it
    does so without having completed anything, and no shell has asked, the call is an ordinary one.
    """
    if invocation is None:
        own(ctx_args, prog_name, variable)
        return
    import io

    completion = _Completion(invocation.request.runner)
    stderr, sys.stderr = sys.stderr, io.StringIO()
    invocation.running.verbatim = True
    try:
        completion.begin()
        own(ctx_args, prog_name, variable)
    except SystemExit as end:
        if not end.code or _is_asked(invocation.request.argv, variable):
            print(sys.stderr.getvalue(), end="", file=stderr)
            raise
    finally:
        sys.stderr = stderr
        completion.undo()
    invocation.running.verbatim = False


def _is_asked(words: Sequence[str], variable: str | None) -> bool:
    """Return whether a shell asks, be it for something that the framework cannot give it."""
    if any(name in os.environ for name in _WORDS):
        return True
    return not words and any(
        not _INSTRUCTIONS.isdisjoint(value.split("_"))
        for name, value in os.environ.items()
        if name == variable or name.endswith("_COMPLETE")
    )


def is_printed(end: SystemExit) -> bool:
    """Return whether typer's own options ended the program, with a script or a word about one."""
    traceback = end.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    module = traceback.tb_frame.f_globals.get("__name__") if traceback is not None else ""
    return module == "typer.completion"


class _Completion:
    """What is changed in the commands of one call, and how to undo it."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._profiles = Profiles(call.host(), call.enabled.settings)
        self._options: dict[bool, Any] = {}
        self._known: set[int] = set()
        self._undo: list[Callable[[], None]] = []

    def begin(self) -> None:
        """Make ours known once the framework begins to complete."""
        if not self._profiles.exist():
            return
        root = self._call.root
        own_make = root.make_context

        def make_context(info_name: Any, words: list[str], *more: Any, **named: Any) -> Any:
            if not named.get("resilient_parsing"):  # it runs the tool after all
                return own_make(info_name, words, *more, **named)
            self._add_command(root, list(words))
            self._add_option(root, (), offered=False)
            typed = self._profiles.read(words)
            theirs = typed.before if typed.mounted else words
            context = own_make(info_name, theirs, *more, **named)
            if typed.mounted:
                context.command = _Words(self._items, self._profiles.words_behind(typed.rest))
            return context

        self._change(root, "make_context", make_context)

    def undo(self) -> None:
        """Make every command what it was."""
        while self._undo:
            self._undo.pop()()

    def _change(self, command: Any, name: str, value: Any) -> None:
        self._undo.append(stand_in(command, name, value))

    def _add_command(self, root: Any, words: list[str]) -> None:
        """Let *root* offer ``profile`` behind *words*, if it may stand there."""
        own_complete = root.shell_complete

        def shell_complete(ctx: Any, incomplete: str) -> Any:
            found = own_complete(ctx, incomplete)
            if not "profile".startswith(incomplete):
                return found
            return [*found, *self._items(self._profiles.first_words(words), incomplete)]

        self._change(root, "shell_complete", shell_complete)

    def _add_option(self, command: Any, path: tuple[str, ...], *, offered: bool) -> None:
        """Add an option ``--profile`` to *command* and those below it.

        By its name it is *offered* where a profile may hold a flag, and below.
        """
        if id(command) in self._known:
            return
        self._known.add(id(command))
        offered = offered or has_profileable(self._call.enabled.metadata_at(command, path))
        own_params = command.get_params

        def get_params(ctx: Any) -> Any:
            params = own_params(ctx)
            if _is_theirs(command, ctx, params):
                return params
            return [*params, self._option(hidden=not offered)]

        self._change(command, "get_params", get_params)
        if not is_group(command):
            return
        own_resolve = command.resolve_command

        def resolve_command(ctx: Any, words: Any) -> Any:
            name, found, rest = own_resolve(ctx, words)
            if found is not None:
                self._add_option(found, (*path, name), offered=offered)
            return name, found, rest

        self._change(command, "resolve_command", resolve_command)

    def _option(self, *, hidden: bool) -> Any:
        """Return an option of the framework's own class: it looks at no other."""
        if hidden in self._options:
            return self._options[hidden]
        # No parameter of the tool has this name: they share a namespace.
        option: Any
        if _is_typers_own(self._call.root):
            import typer

            def command(murli_profile: str) -> None: ...

            # Its classes change from version to version; what an author writes does not.
            given = typer.Option(None, "--profile", help=OPTION_HELP, hidden=hidden)
            command.__defaults__ = (given,)
            app = typer.Typer(add_completion=False)
            app.command()(command)
            option = typer.main.get_command(app).params[0]
        else:
            import click

            option = click.Option(["--profile", "murli_profile"], help=OPTION_HELP, hidden=hidden)
        option.expose_value = False
        option.shell_complete = lambda ctx, start: self._items(self._profiles.names(), start)
        self._options[hidden] = option
        return option

    def _items(self, words: dict[str, str], incomplete: str) -> list[Any]:
        package = "typer._click" if _is_typers_own(self._call.root) else "click"
        module = __import__(f"{package}.shell_completion", None, None, ["CompletionItem"])
        return [
            module.CompletionItem(word, help=meaning or None)
            for word, meaning in words.items()
            if word.startswith(incomplete)
        ]


class _Words:
    """Stands where a context has its command, and completes what follows ``profile``."""

    def __init__(self, items: Callable[[dict[str, str], str], list[Any]], words: dict[str, str]):
        self._items = items
        self._words = words

    def get_params(self, ctx: Any) -> list[Any]:
        """Return nothing: nothing here is the tool's."""
        return []

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Return the words that begin like *incomplete*."""
        return self._items(self._words, incomplete)


def _is_theirs(command: Any, ctx: Any, params: Iterable[Any]) -> bool:
    """Return whether ``--profile`` is the command's own, or goes to another program."""
    if ctx.ignore_unknown_options or any(
        "--profile" in (*param.opts, *param.secondary_opts) for param in params
    ):
        return True
    in_chain = ctx.parent is not None and getattr(ctx.parent.command, "chain", False)
    return not (ctx.allow_interspersed_args or is_group(command) or in_chain)


def _is_typers_own(command: Any) -> bool:
    """Return whether *command* comes from the click that newer typers bring."""
    return any(base.__module__.startswith("typer._click") for base in type(command).__mro__)
