"""The verbs an author calls, beside `enable`."""

from __future__ import annotations

from .adapters import enable
from .core import is_parser, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import Any

    from .adapters.argparse import Enabled
    from .adapters.session import Session
    from .answer import Writer


def parse(parser: argparse.ArgumentParser, args: Sequence[str] | None = None) -> tuple[Any, Writer]:
    """Parse like ``parser.parse_args(args)``, and return the writer beside the namespace.

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
