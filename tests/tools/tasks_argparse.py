"""The task list on argparse."""

import argparse

import tasks_core

import murli


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tasks", description="Keep a list of tasks.")
    parser.add_argument("--version", action="version", version="%(prog)s 2.1.0")
    parser.add_argument("--region", default="eu", help="where the list lives")
    commands = parser.add_subparsers(dest="command", required=True)
    report = commands.add_parser("report", help="Report on tasks")
    report.add_argument("what", nargs="?", default="all")
    forward = commands.add_parser("run", help="Run another program")
    forward.add_argument("program", nargs=argparse.REMAINDER)
    task = commands.add_parser("task", help="Work with tasks")
    inner = task.add_subparsers(dest="task_command", required=True)
    create = inner.add_parser("create", help="Create a task")
    create.add_argument("title", help="what is to be done")
    create.add_argument("--status", choices=["todo", "doing", "done"], default="todo")
    create.add_argument("-n", "--count", type=int, default=1, help="how many")
    create.add_argument("--weight", type=float, required=True, help="how heavy")
    create.add_argument("--tag", action="append", help="a label")
    create.add_argument("--token", default="s3cr3t", help="who asks")
    listing = inner.add_parser("list", aliases=["ls"], help="List tasks")
    listing.add_argument("--output", choices=["table", "csv"], default="table")
    delete = inner.add_parser("delete", help="Delete a task")
    delete.add_argument("id", type=int)
    purge = inner.add_parser("purge", help="Delete every task")
    purge.add_argument("--force", action="store_true", help="really")
    inner.add_parser("secret", help=argparse.SUPPRESS)

    for name, command in (
        ("task create", create),
        ("task delete", delete),
        ("task purge", purge),
        ("task list", listing),
    ):
        murli.annotate(command, tasks_core.METADATA[name])
    return parser


def main() -> None:
    parser = make_parser()
    murli.enable(parser)
    args, writer = murli.parse(parser)
    given = {name: value for name, value in vars(args).items() if "command" not in name}
    if args.command == "run":
        tasks_core.run(writer, args.program)
    elif args.command == "report":
        tasks_core.report(writer, args.what)
    elif args.task_command == "create":
        tasks_core.create(writer, **given)
    else:
        tasks_core.note(writer, args.task_command, **given)


if __name__ == "__main__":
    main()
