"""A small task list on argparse: what the tests call as agents and as people do."""

import argparse

import murli


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tasks", description="Keep a list of tasks.")
    parser.add_argument("--version", action="version", version="%(prog)s 2.1.0")
    parser.add_argument("--region", default="eu", help="where the list lives")
    commands = parser.add_subparsers(dest="command", required=True)

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

    report = commands.add_parser("report", help="Report on tasks")
    report.add_argument("what", nargs="?", default="all")
    forward = commands.add_parser("run", help="Run another program")
    forward.add_argument("program", nargs=argparse.REMAINDER)

    murli.annotate(
        create,
        murli.Metadata(
            agent_description="Creates a task in the list.",
            when_to_use="Use when work must be remembered.",
            mutating=True,
            dry_runnable=True,
            arguments=[murli.ArgumentMetadata("title", description="The work, in one line.")],
            returns=murli.ReturnSchema(
                type="json", description="The task", shape={"id": "int", "title": "string"}
            ),
            examples=[
                murli.Example("tasks task create Saw --weight 1 --yes", "Remember to saw"),
                murli.Example("tasks task create", "Forget the title", expected_exit_code=1),
            ],
            flag_annotations={
                "tag": murli.FlagAnnotation(pattern="^[a-z]+$", profileable=True),
                "token": murli.FlagAnnotation(env="TASKS_TOKEN", sensitive=True, profileable=True),
                "count": murli.FlagAnnotation(mutually_exclusive_with=["tag"], persistent=True),
            },
        ),
    )
    murli.annotate(delete, murli.Metadata(mutating=True, destructive=True))
    murli.annotate(purge, murli.Metadata(mutating=True))
    murli.annotate(listing, murli.Metadata(idempotent=True))
    return parser


def handle(args: argparse.Namespace, writer: murli.Writer) -> None:
    if args.command == "task" and args.task_command == "create":
        payload = {"id": 7, "title": args.title, "weight": args.weight}
        if writer.is_dry_run():
            writer.write_plan("Would create 1 task", payload)
            return
        writer.write_success("Created task 7", payload)
    elif args.command == "task":
        facts = {name: value for name, value in vars(args).items() if "command" not in name}
        facts |= {"forced": writer.is_forced(), "ran": args.task_command}
        writer.write_success(f"Ran {args.task_command}", facts)
    elif args.command == "run":
        writer.write_success("Would run", args.program)
    else:
        report(args.what, writer)


def report(what: str, writer: murli.Writer) -> None:
    if what == "missing":
        raise murli.AgentError.not_found("index not found", "Run `tasks index build`.")
    if what == "broken":
        raise ValueError("the list is broken")
    if what == "stream":
        for index in range(2):
            writer.write_event({"event": "chunk", "index": index})
        writer.write_progress(murli.ProgressEvent("read", 1, 3, 33.0, message="reading"))
        writer.write_success("Done", {"total": 2})
        return
    if what == "noisy":
        writer.log("connecting")
        writer.log("connecting")
        print("stray")
    writer.write_success(f"Reported {what}", {"what": what})


def main() -> None:
    parser = make_parser()
    murli.enable(parser)
    args, writer = murli.parse(parser)
    handle(args, writer)


if __name__ == "__main__":
    main()
