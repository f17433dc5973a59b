"""The same kinds of command lines on three frameworks, each tool with a twin that has our flags.

A twin defines what murli understands as options of its own, on every level where the tool has not
already. What the twin's parser makes of a command line is what the scanner has to make of it.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any, List, NoReturn, Optional, Protocol  # noqa: UP035

import click
import typer

from murli.adapters.argparse.levels import ParserLevel, Separators
from murli.adapters.click.levels import CommandLevel
from murli.line.flags import flags_in

_OURS = flags_in()
_FIELDS = {name: flag.destination for name, flag in _OURS.items()}
SWITCHES = {name: to for name, to in _FIELDS.items() if not _OURS[name].takes_value}
VALUED = {name: to for name, to in _FIELDS.items() if _OURS[name].takes_value}


class Unparsed(Exception):
    """The framework does not take the command line."""


class Tool(Protocol):
    """A tool as the fuzzer sees it."""

    #: whether an option takes the next word as its value whatever that looks like
    takes_any_value: bool
    #: whether words it does not know are kept, or an option may be abbreviated: then some lines
    #: that it takes by itself are understood in another way once murli is there
    is_lenient: bool

    def level(self) -> Any:
        """Return the root as the scanner sees it."""

    def parsed(self, words: Sequence[str], separated: Sequence[Any] = ()) -> Any:
        """Return what the tool understands; `Unparsed` when it refuses, or only explains."""

    def twin(self, words: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Return what the tool, and what its own copies of our flags, understand."""


# -- argparse ----------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Unparsed(message)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise Unparsed(message)

    def print_help(self, file: Any = None) -> None:
        raise Unparsed("help")


class ArgparseTool:
    """A tool on argparse, made by *build*."""

    takes_any_value = False

    def __init__(self, build: Any, *, is_lenient: bool = False, forwards: bool = False) -> None:
        self.is_lenient = is_lenient
        self._forwards = forwards
        self._parser: argparse.ArgumentParser = build()
        self._twin: argparse.ArgumentParser = build()
        _add_ours(self._twin)

    def level(self) -> Any:
        """Return the root as the scanner sees it."""
        return ParserLevel(self._parser, forwards=self._forwards)

    def parsed(self, words: Sequence[str], separated: Sequence[Any] = ()) -> Any:
        """Return the namespace."""
        guard: AbstractContextManager[None] = Separators(separated)
        with guard:
            return self._namespace(self._parser, words)

    def twin(self, words: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Return the namespace without our flags, and our flags."""
        both = self._namespace(self._twin, words)
        names = set(_FIELDS.values())
        ours = {name: both.pop(f"our_{name}") for name in names if f"our_{name}" in both}
        return both, {name: value for name, value in ours.items() if value}

    def _namespace(self, parser: argparse.ArgumentParser, words: Sequence[str]) -> dict[str, Any]:
        try:
            if self._forwards:
                known, extras = parser.parse_known_args(list(words))
                return {**vars(known), "extras": extras}
            return vars(parser.parse_args(list(words)))
        except (Unparsed, argparse.ArgumentError) as error:
            raise Unparsed(str(error)) from error


def _add_ours(parser: argparse.ArgumentParser) -> None:
    own = parser._option_string_actions
    for option, name in SWITCHES.items():
        if option not in own:
            parser.add_argument(
                option, action="store_true", dest=f"our_{name}", default=argparse.SUPPRESS
            )
    for option, name in VALUED.items():
        if option not in own:
            parser.add_argument(option, dest=f"our_{name}", default=argparse.SUPPRESS)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in {id(each): each for each in action.choices.values()}.values():
                _add_ours(child)


def _tree() -> argparse.ArgumentParser:
    parser = _Parser(prog="t", allow_abbrev=False)
    parser.add_argument("-v", action="count", default=0)
    parser.add_argument("--env")
    parser.add_argument("--pair", nargs=2)
    commands = parser.add_subparsers(dest="command")
    leaf = commands.add_parser("leaf", allow_abbrev=False, aliases=["lf"])
    leaf.add_argument("--output")
    leaf.add_argument("--force", action="store_true")
    leaf.add_argument("-x", "--maybe", nargs="?", const="c")
    leaf.add_argument("words", nargs="*")
    many = commands.add_parser("many", allow_abbrev=False)
    many.add_argument("--items", nargs="*")
    many.add_argument("--some", nargs="+")
    many.add_argument("-n", type=int)
    many.add_argument("first")
    many.add_argument("second", nargs="?")
    run = commands.add_parser("run", allow_abbrev=False)
    run.add_argument("-q", action="store_true")
    run.add_argument("program", nargs=argparse.REMAINDER)
    group = commands.add_parser("group", allow_abbrev=False)
    group.add_argument("--yes", action="store_true")
    inner = group.add_subparsers(dest="inner", required=True)
    inner.add_parser("describe", allow_abbrev=False).add_argument("--schema")
    inner.add_parser("leaf", allow_abbrev=False).add_argument("--profile", nargs="?")
    return parser


def _flat() -> argparse.ArgumentParser:
    parser = _Parser(prog="t", allow_abbrev=False)
    parser.add_argument("-o", "--out", default="")
    parser.add_argument("-b", action="store_true")
    parser.add_argument("--rest", nargs=argparse.REMAINDER)
    parser.add_argument("words", nargs="+")
    return parser


def _short() -> argparse.ArgumentParser:
    parser = _Parser(prog="t")
    parser.add_argument("--output-file")
    parser.add_argument("--profile-name", nargs="*")
    parser.add_argument("--agents", action="store_true")
    parser.add_argument("--contracting", nargs="?")
    parser.add_argument("word", nargs="?")
    return parser


# -- click, and typer on top of it -------------------------------------------------------------

_ran: list[tuple[str, dict[str, Any]]] = []


def _note(command: str, /, **given: Any) -> None:
    _ran.append((command, given))


class ClickTool:
    """A tool on click, or on the click that a typer brings."""

    takes_any_value = True

    def __init__(self, build: Any, make_ours: Any, *, is_lenient: bool = False) -> None:
        self.is_lenient = is_lenient
        self._make_ours = make_ours
        self._command: Any = build()
        self._twin: Any = build()
        self._ours: dict[str, Any] = {}
        self._add_ours(self._twin)

    def level(self) -> Any:
        """Return the root as the scanner sees it."""
        return CommandLevel(self._command, "t")

    def parsed(self, words: Sequence[str], separated: Sequence[Any] = ()) -> Any:
        """Return the commands that ran, with their parameters."""
        return self._run(self._command, words)

    def twin(self, words: Sequence[str]) -> tuple[Any, dict[str, Any]]:
        """Return the commands that ran, and our flags."""
        self._ours = {}
        ran = self._run(self._twin, words)
        return ran, {name: value for name, value in self._ours.items() if value}

    def _run(self, command: Any, words: Sequence[str]) -> Any:
        del _ran[:]
        try:
            ended = command.main(list(words), prog_name="t", standalone_mode=False)
        except Exception as error:
            if type(error).__name__ in ("RuntimeError", "AttributeError", "TypeError"):
                raise
            raise Unparsed(type(error).__name__) from error
        if ended == 0 and isinstance(ended, int):  # what --help ends with
            raise Unparsed("help")
        return [(name, dict(given)) for name, given in _ran]

    def _add_ours(self, command: Any) -> None:
        own = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
        for param in self._make_ours():
            if param.opts[0] not in own:
                param.expose_value = False
                param.callback = self._noting(_FIELDS[param.opts[0]])
                command.params.append(param)
        for child in getattr(command, "commands", {}).values():
            self._add_ours(child)

    def _noting(self, name: str) -> Any:
        def note(ctx: Any, param: Any, value: Any) -> Any:
            if value and ctx.get_parameter_source(param.name).name == "COMMANDLINE":
                self._ours[name] = value
            return value

        return note


def _click_ours() -> list[Any]:
    switches: list[Any] = [click.Option([option], is_flag=True) for option in SWITCHES]
    return switches + [click.Option([option]) for option in VALUED]


def _typer_ours() -> list[Any]:
    # The options of newer typers are of no class that others may make; a function is.
    app = typer.Typer(add_completion=False)
    parameters = [
        inspect.Parameter(
            option.strip("-").replace("-", "_"),
            inspect.Parameter.KEYWORD_ONLY,
            default=typer.Option(False if option in SWITCHES else None, option),
            annotation=bool if option in SWITCHES else Optional[str],  # noqa: UP045
        )
        for option in _FIELDS
    ]

    def ours(**given: Any) -> None:
        pass

    setattr(ours, "__signature__", inspect.Signature(parameters))
    ours.__annotations__ = {each.name: each.annotation for each in parameters}
    app.command()(ours)
    made: Any = typer.main.get_command(app)
    return [param for param in made.params if param.opts[0] in _FIELDS]


def _noted(name: str) -> Any:
    def run(**given: Any) -> None:
        _note(name, **given)

    return run


def _click_tree() -> click.Command:
    leaf = click.Command(
        "leaf",
        callback=_noted("leaf"),
        params=[
            click.Option(["--output"]),
            click.Option(["--force"], is_flag=True),
            click.Option(["-x", "--maybe"], is_flag=False, flag_value="c"),
            click.Argument(["words"], nargs=-1),
        ],
    )
    many = click.Command(
        "many",
        callback=_noted("many"),
        params=[
            click.Option(["--item"], multiple=True),
            click.Option(["--pair"], nargs=2),
            click.Option(["-n"], type=int),
            click.Option(["--yes/--no"]),
            click.Argument(["first"]),
            click.Argument(["second"], required=False),
        ],
    )
    run = click.Command(
        "run",
        callback=_noted("run"),
        context_settings={"allow_interspersed_args": False},
        params=[
            click.Option(["-q"], is_flag=True),
            click.Argument(["program"], nargs=-1, type=click.UNPROCESSED),
        ],
    )
    inner = click.Group(
        "group",
        callback=_noted("group"),
        params=[click.Option(["--yes"], is_flag=True)],
        commands={
            "describe": click.Command(
                "describe", callback=_noted("describe"), params=[click.Option(["--schema"])]
            )
        },
    )
    return click.Group(
        "t",
        callback=_noted("t"),
        params=[click.Option(["-v"], count=True), click.Option(["--env"])],
        commands={"leaf": leaf, "many": many, "run": run, "group": inner},
    )


def _click_chain() -> click.Command:
    build = click.Command(
        "build", callback=_noted("build"), params=[click.Option(["--profile"], is_flag=True)]
    )
    ship = click.Command(
        "ship",
        callback=_noted("ship"),
        params=[click.Option(["--to"]), click.Argument(["where"])],
    )
    return click.Group(
        "t", chain=True, callback=_noted("t"), commands={"build": build, "ship": ship}
    )


def _click_forward() -> click.Command:
    return click.Command(
        "t",
        callback=_noted("t"),
        context_settings={"ignore_unknown_options": True},
        params=[
            click.Option(["-q"], is_flag=True),
            click.Argument(["words"], nargs=-1, type=click.UNPROCESSED),
        ],
    )


def _typer_tree() -> Any:
    app, group = typer.Typer(add_completion=False), typer.Typer()

    @app.callback()
    def root(env: Optional[str] = None) -> None:  # noqa: UP045
        _note("t", env=env)

    @app.command()
    def leaf(
        output: str = "",
        force: bool = False,
        words: Annotated[Optional[List[str]], typer.Argument()] = None,  # noqa: UP006, UP045
    ) -> None:
        _note("leaf", output=output, force=force, words=words)

    @group.command("describe")
    def inner(schema: Annotated[int, typer.Option("--schema", "-s")] = 0) -> None:
        _note("describe", schema=schema)

    @group.command()
    def many(first: str, second: Annotated[str, typer.Argument()] = "") -> None:
        _note("many", first=first, second=second)

    app.add_typer(group, name="group")
    return typer.main.get_command(app)


def _typer_one() -> Any:
    app = typer.Typer(add_completion=False)

    @app.command()
    def only(name: str, output: str = "", count: int = 1) -> None:
        _note("only", name=name, output=output, count=count)

    return typer.main.get_command(app)


TOOLS: dict[str, Tool] = {
    "argparse": ArgparseTool(_tree),
    "argparse-flat": ArgparseTool(_flat),
    "argparse-abbreviating": ArgparseTool(_short, is_lenient=True),
    "argparse-forwarding": ArgparseTool(_flat, is_lenient=True, forwards=True),
    "click": ClickTool(_click_tree, _click_ours),
    "click-chain": ClickTool(_click_chain, _click_ours),
    "click-forwarding": ClickTool(_click_forward, _click_ours, is_lenient=True),
    "typer": ClickTool(_typer_tree, _typer_ours),
    "typer-one": ClickTool(_typer_one, _typer_ours),
}
