"""The deployment tool on typer."""

from enum import Enum
from typing import Annotated, List, Optional  # noqa: UP035

import deploy_core
import typer

import murli

app = typer.Typer(help="Deploy things.")


class Mode(str, Enum):
    fast = "fast"
    safe = "safe"


@app.callback()
def main(
    ctx: typer.Context,
    region: Annotated[str, typer.Option("-r", "--region", help="where")] = "eu",
    token: Annotated[Optional[str], typer.Option(help="who asks")] = None,  # noqa: UP045
    verbose: Annotated[bool, typer.Option("--verbose", help="say more")] = False,
    trace: Annotated[bool, typer.Option("--trace", help="say everything")] = False,
) -> None:
    ctx.obj = {"region": region, "token": token, "verbose": verbose, "trace": trace}


@app.command(help="Deploy")
def run(
    ctx: typer.Context,
    replicas: Annotated[int, typer.Option(help="how many")],
    label: Annotated[Optional[List[str]], typer.Option(help="a label")] = None,  # noqa: UP006, UP045
    mode: Annotated[Mode, typer.Option(help="how")] = Mode.safe,
    plain: Annotated[bool, typer.Option("--plain", help="no mode at all")] = False,
    force: Annotated[bool, typer.Option("--force", help="really")] = False,
) -> None:
    deploy_core.run(
        **ctx.obj, replicas=replicas, label=label or None, mode=mode, plain=plain, force=force
    )


@app.command(help="Be careless")
def leak(ctx: typer.Context, how: str) -> None:
    deploy_core.leak(ctx.obj["token"], how)


@app.command(help="Print the token")
def reveal(ctx: typer.Context) -> None:
    deploy_core.reveal(ctx.obj["token"])


@app.command(help="Delete everything")
def purge(ctx: typer.Context) -> None:
    deploy_core.run(**ctx.obj)


site = typer.Typer(help="Look at sites")
app.add_typer(site, name="site")


@site.callback()
def sites() -> None:
    pass


@site.command(help="Show a site")
def show(
    ctx: typer.Context,
    color: Annotated[bool, typer.Option(help="in colour")] = False,
    depth: Annotated[int, typer.Option("-d", "--depth", help="how deep")] = 1,
) -> None:
    deploy_core.run(**ctx.obj, color=color, depth=depth)


murli.annotate(app, deploy_core.ROOT)
murli.annotate(run, deploy_core.RUN)
murli.annotate(show, deploy_core.SHOW)
murli.annotate(reveal, deploy_core.REVEAL)
murli.annotate(purge, deploy_core.PURGE)
murli.enable(app, name="deploy", tool_version="1.0")

if __name__ == "__main__":
    app()
