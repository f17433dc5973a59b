"""The soak's tool on argparse: ``parse_args`` as it stands, or a session."""

from soak.marks import mark, start

start()

import argparse  # noqa: E402
import os  # noqa: E402

import murli  # noqa: E402
from soak.tools import soak_core  # noqa: E402


def make_parser() -> argparse.ArgumentParser:
    """Build the parser."""
    numbers = argparse.ArgumentParser(add_help=False)
    numbers.add_argument("--seed", type=int, default=0)
    numbers.add_argument("--size", type=int, default=100)
    numbers.add_argument("--seconds", type=float, default=0.0)
    parser = argparse.ArgumentParser(prog="soak", description="Behave in many ways.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("do", parents=[numbers]).add_argument("deed", choices=soak_core.DEEDS)
    slow = commands.add_parser("slow", parents=[numbers], help="in an event loop")
    slow.add_argument("words", nargs="*")
    change = commands.add_parser("change", parents=[numbers])
    murli.annotate(change, soak_core.CHANGE)
    murli.enable(parser, tool_version="1.0")
    return parser


def run(args: argparse.Namespace) -> None:
    """Do what was asked for."""
    job = soak_core.Job(**{"deed": "", **vars(args)})
    if args.command == "change":
        soak_core.change(job)
    elif args.command == "slow":
        import asyncio

        asyncio.run(job.do_slowly())
    else:
        returned = job.do()
        if returned is not None:
            soak_core.writer().write_success("", returned)


def main() -> None:
    """Parse, and run."""
    parser = make_parser()
    mark("p")
    if os.environ.get("SOAK_STYLE") == "session":
        with murli.session(parser) as (args, _):
            run(args)
    else:
        run(parser.parse_args())


if __name__ == "__main__":
    main()
