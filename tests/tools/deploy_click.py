"""The deployment tool on click."""

from typing import Any

import click
import deploy_core

import murli


@click.group(help="Deploy things.")
@click.option("-r", "--region", default="eu", help="where")
@click.option("--token", help="who asks")
@click.option("--verbose", is_flag=True, help="say more")
@click.option("--trace", is_flag=True, help="say everything")
@click.pass_context
def cli(ctx: click.Context, /, **given: Any) -> None:
    ctx.obj = given


@cli.command(help="Deploy")
@click.option("--replicas", type=int, required=True, help="how many")
@click.option("--label", multiple=True, help="a label")
@click.option("--mode", type=click.Choice(["fast", "safe"]), default="safe", help="how")
@click.option("--plain", is_flag=True, help="no mode at all")
@click.option("--force", is_flag=True, help="really")
@click.pass_obj
def run(obj: dict[str, Any], /, **given: Any) -> None:
    given["label"] = given["label"] or None
    deploy_core.run(**obj, **given)


@cli.command(help="Be careless")
@click.argument("how")
@click.pass_obj
def leak(obj: dict[str, Any], how: str) -> None:
    deploy_core.leak(obj["token"], how)


@cli.command(help="Print the token")
@click.pass_obj
def reveal(obj: dict[str, Any]) -> None:
    deploy_core.reveal(obj["token"])


@cli.command(help="Delete everything")
@click.pass_obj
def purge(obj: dict[str, Any]) -> None:
    deploy_core.run(**obj)


@cli.group(help="Look at sites")
def site() -> None:
    pass


@site.command(help="Show a site")
@click.option("--color/--no-color", default=False, help="in colour")
@click.option("-d", "--depth", type=int, default=1, help="how deep")
@click.pass_obj
def show(obj: dict[str, Any], /, **given: Any) -> None:
    deploy_core.run(**obj, **given)


murli.annotate(cli, deploy_core.ROOT)
murli.annotate(run, deploy_core.RUN)
murli.annotate(show, deploy_core.SHOW)
murli.annotate(reveal, deploy_core.REVEAL)
murli.annotate(purge, deploy_core.PURGE)
murli.enable(cli, name="deploy", tool_version="1.0")

if __name__ == "__main__":
    cli()
