"""The careless tool on argparse."""

import argparse

import faults_core

import murli


def main() -> None:
    parser = argparse.ArgumentParser(prog="faults")
    commands = parser.add_subparsers(dest="command", required=True)
    do = commands.add_parser("do")
    do.add_argument("what")
    do.add_argument("--seconds", type=float, default=60.0)
    do.add_argument("--name")
    do.add_argument("--yes", action="store_true")
    murli.annotate(commands.add_parser("mutate"), faults_core.MUTATE)
    quick = commands.add_parser("quick")
    murli.annotate(quick, faults_core.QUICK)
    murli.enable(parser)
    args = vars(parser.parse_args())
    command = args.pop("command")
    if command == "mutate":
        faults_core.mutate()
    elif command == "quick":
        faults_core.do("sleep", 60.0, None, False)
    else:
        faults_core.do(**args)


if __name__ == "__main__":
    main()
