"""The task list on typer."""

from enum import Enum
from typing import Annotated, Any, List, Optional  # noqa: UP035

import tasks_core
import typer

import murli

app = typer.Typer(help="Keep a list of tasks.")
task = typer.Typer(help="Work with tasks")


class Status(str, Enum):
    todo = "todo"
    doing = "doing"
    done = "done"


class Form(str, Enum):
    table = "table"
    csv = "csv"


def tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo("tasks 2.1.0")
        raise typer.Exit


@app.callback()
def main(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, expose_value=False)
    ] = False,
    region: Annotated[str, typer.Option(help="where the list lives")] = "eu",
) -> None:
    ctx.obj = {"region": region}


@task.command(help="Create a task")
@murli.pass_writer
def create(
    writer: murli.Writer,
    title: str,
    status: Status = Status.todo,
    count: Annotated[int, typer.Option("-n", "--count", help="how many")] = 1,
    weight: float = typer.Option(..., help="how heavy"),
    tag: Annotated[Optional[List[str]], typer.Option(help="a label")] = None,  # noqa: UP006, UP045
    token: Annotated[str, typer.Option(help="who asks")] = "s3cr3t",
) -> None:
    tasks_core.create(writer, title, weight)


@task.command("list", help="List tasks")
def list_tasks(ctx: typer.Context, output: Form = Form.table) -> None:
    tasks_core.note(murli.get_writer(ctx), "list", **ctx.obj, output=output)


@task.command(help="Delete a task")
def delete(ctx: typer.Context, id: int) -> None:
    tasks_core.note(murli.get_writer(ctx), "delete", **ctx.obj, id=id)


@task.command(help="Delete every task")
def purge(
    ctx: typer.Context, force: Annotated[bool, typer.Option("--force", help="really")] = False
) -> None:
    tasks_core.note(murli.get_writer(ctx), "purge", **ctx.obj, force=force)


@task.command(hidden=True)
def secret() -> None:
    pass


app.add_typer(task, name="task")


@app.command(help="Report on tasks")
def report(ctx: typer.Context, what: Annotated[str, typer.Argument()] = "all") -> None:
    tasks_core.report(murli.get_writer(ctx), what)


@app.command(
    help="Run another program",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def run(
    ctx: typer.Context,
    program: Annotated[Optional[List[str]], typer.Argument()] = None,  # noqa: UP006, UP045
) -> None:
    tasks_core.run(murli.get_writer(ctx), program or [])


functions: dict[str, Any] = {
    "task create": create,
    "task delete": delete,
    "task purge": purge,
    "task list": list_tasks,
}
for name, function in functions.items():
    murli.annotate(function, tasks_core.METADATA[name])
murli.enable(app, name="tasks", tool_version="2.1.0")

if __name__ == "__main__":
    app()
