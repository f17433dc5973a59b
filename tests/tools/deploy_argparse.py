"""The deployment tool on argparse."""

import argparse

import deploy_core

import murli


def main() -> None:
    parser = argparse.ArgumentParser(prog="deploy", description="Deploy things.")
    parser.add_argument("-r", "--region", default="eu", help="where")
    parser.add_argument("--token", default=None, help="who asks")
    parser.add_argument("--verbose", action="store_true", help="say more")
    parser.add_argument("--trace", action="store_true", help="say everything")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="Deploy")
    run.add_argument("--replicas", type=int, required=True, help="how many")
    run.add_argument("--label", action="append", help="a label")
    run.add_argument("--mode", choices=["fast", "safe"], default="safe", help="how")
    run.add_argument("--plain", action="store_true", help="no mode at all")
    run.add_argument("--force", action="store_true", help="really")
    leak = commands.add_parser("leak", help="Be careless")
    leak.add_argument("how")
    reveal = commands.add_parser("reveal", help="Print the token")
    purge = commands.add_parser("purge", help="Delete everything")
    site = commands.add_parser("site", help="Look at sites")
    show = site.add_subparsers(dest="what", required=True).add_parser("show", help="Show a site")
    show.add_argument(
        "--color", action=argparse.BooleanOptionalAction, default=False, help="in colour"
    )
    show.add_argument("-d", "--depth", type=int, default=1, help="how deep")
    murli.annotate(parser, deploy_core.ROOT)
    murli.annotate(run, deploy_core.RUN)
    murli.annotate(show, deploy_core.SHOW)
    murli.annotate(reveal, deploy_core.REVEAL)
    murli.annotate(purge, deploy_core.PURGE)
    murli.enable(parser, tool_version="1.0")
    args = vars(parser.parse_args())
    command = args.pop("command")
    args.pop("what", None)
    if command == "leak":
        deploy_core.leak(args["token"], args["how"])
    elif command == "reveal":
        deploy_core.reveal(args["token"])
    else:
        deploy_core.run(**args)


if __name__ == "__main__":
    main()
