"""The verbs an author calls, beside `enable`."""

from __future__ import annotations

import sys

from .adapters import enable, is_parser, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from .adapters.argparse import Enabled
    from .adapters.session import Session
    from .writer import Writer


def pass_writer(function: Any) -> Any:
    """Call *function*, a click or typer handler, with the writer as its first argument."""
    import inspect  # loaded by click and typer already
    from functools import wraps

    @wraps(function)
    def with_writer(*args: Any, **named: Any) -> Any:
        return function(get_writer(), *args, **named)

    signature = inspect.signature(function)
    # typer reads the parameters of a handler; the writer is none of the caller's.
    with_writer.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=list(signature.parameters.values())[1:]
    )
    return with_writer


def parse(parser: argparse.ArgumentParser, args: Sequence[str] | None = None) -> tuple[Any, Writer]:
    """Parse like ``parser.parse_args(args)``, and give the writer beside the namespace.

    What the program does afterwards is the handler: what it prints without answering is its
    answer, and what it raises is reported.
    """
    return _enabled("parse", parser).parse(args)


def session(parser: argparse.ArgumentParser, args: Sequence[str] | None = None) -> Session:
    """Parse like `parse`, with the handler in a block of its own.

    ::

        with murli.session(parser) as (args, writer):
            writer.write_success("Done", run(args))
    """
    from .adapters.session import Session

    return Session(_enabled("session", parser), args)


def get_writer(ctx: object = None) -> Writer:
    """Give the writer of the running invocation; outside of one, a writer of its own."""
    from .runtime.invocation import current

    invocation = current()
    if invocation is not None:
        return invocation.writer
    from .formats import is_terminal
    from .writer import Writer

    return Writer(agent_mode=not is_terminal(sys.stdout))


def _enabled(verb: str, parser: Any) -> Enabled:
    _require_parser(verb, parser)
    from .adapters.argparse import enabled_of

    found = enabled_of(parser)
    if found is None:
        enable(parser)
        found = enabled_of(parser)
    if found is None:
        raise RuntimeError("the parser lost what enable() attached to it")
    return found


def _require_parser(verb: str, app: object) -> None:
    if not is_parser(app):
        raise TypeError(f"murli.{verb}() takes an argparse.ArgumentParser, not {kind_of(app)}")
