"""The task list on click."""

from typing import Any

import click
import tasks_core

import murli


@click.group(help="Keep a list of tasks.")
@click.version_option("2.1.0", prog_name="tasks", message="%(prog)s %(version)s")
@click.option("--region", default="eu", help="where the list lives")
@click.pass_context
def cli(ctx: click.Context, region: str) -> None:
    ctx.obj = {"region": region}


murli.enable(cli, name="tasks")


@cli.command(help="Report on tasks")
@click.argument("what", default="all")
@murli.pass_writer
def report(writer: murli.Writer, what: str) -> None:
    tasks_core.report(writer, what)


@cli.command(
    help="Run another program",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("program", nargs=-1, type=click.UNPROCESSED)
@murli.pass_writer
def run(writer: murli.Writer, program: tuple[str, ...]) -> None:
    tasks_core.run(writer, list(program))


@cli.group(help="Work with tasks")
def task() -> None:
    pass


@task.command(help="Create a task")
@click.argument("title")
@click.option("--status", type=click.Choice(["todo", "doing", "done"]), default="todo")
@click.option("-n", "--count", type=int, default=1, help="how many")
@click.option("--weight", type=float, required=True, help="how heavy")
@click.option("--tag", multiple=True, help="a label")
@click.option("--token", default="s3cr3t", help="who asks")
@murli.pass_writer
def create(writer: murli.Writer, /, **given: Any) -> None:
    tasks_core.create(writer, **given)


@task.command("list", help="List tasks")
@click.option("--output", type=click.Choice(["table", "csv"]), default="table")
@click.pass_obj
def list_tasks(obj: dict[str, str], output: str) -> None:
    tasks_core.note(murli.get_writer(), "list", **obj, output=output)


@task.command(help="Delete a task")
@click.argument("id", type=int)
@click.pass_context
def delete(ctx: click.Context, id: int) -> None:
    tasks_core.note(murli.get_writer(ctx), "delete", **ctx.obj, id=id)


@task.command(help="Delete every task")
@click.option("--force", is_flag=True, help="really")
@click.pass_obj
def purge(obj: dict[str, str], force: bool) -> None:
    tasks_core.note(murli.get_writer(), "purge", **obj, force=force)


@task.command(hidden=True)
def secret() -> None:
    pass


for name, command in (
    ("task create", create),
    ("task delete", delete),
    ("task purge", purge),
    ("task list", list_tasks),
):
    murli.annotate(command, tasks_core.METADATA[name])

if __name__ == "__main__":
    cli()
