"""Programs that add numbers, on argparse in all its forms."""

from __future__ import annotations

import argparse

import murli


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="add")
    parser.add_argument("numbers", type=int, nargs="+")
    murli.enable(parser, tool_version="1.0")
    return parser


def _that_prints() -> int:
    numbers = _parser().parse_args().numbers
    print(sum(numbers))
    return 3 if sum(numbers) < 0 else 0


def _that_has_a_writer() -> None:
    args, writer = murli.parse(_parser())
    if 0 in args.numbers:
        raise murli.AgentError.not_found("There is no nought.")
    writer.write_success("Added", {"sum": sum(args.numbers)})


def _that_has_a_session(argv: list[str] | None = None) -> None:
    with murli.session(_parser(), argv) as (args, writer):
        writer.write_success("Added", {"sum": sum(args.numbers)})
