"""The soak's tool on click."""

from soak.marks import mark, start

start()

from typing import Any  # noqa: E402

import click  # noqa: E402

import murli  # noqa: E402
from soak.tools import soak_core  # noqa: E402


def numbers(function: Any) -> Any:
    """Add the options that every command has to *function*."""
    for option in (
        click.option("--seed", type=int, default=0),
        click.option("--size", type=int, default=100),
        click.option("--seconds", type=float, default=0.0),
    ):
        function = option(function)
    return function


@click.group(help="Behave in many ways.")
def cli() -> None:
    """Behave in many ways."""


@cli.command()
@click.argument("deed", type=click.Choice(list(soak_core.DEEDS)))
@numbers
def do(**given: Any) -> Any:
    """Do something."""
    return soak_core.Job(**given).do()


@cli.command()
@click.argument("words", nargs=-1)
@numbers
async def slow(**given: Any) -> Any:
    """Do something in an event loop."""
    return await soak_core.Job("", **given).do_slowly()


@cli.command()
@numbers
def change(**given: Any) -> None:
    """Change something."""
    soak_core.change(soak_core.Job("", **given))


murli.annotate(change, soak_core.CHANGE)
murli.enable(cli, name="soak", tool_version="1.0")

if __name__ == "__main__":
    mark("p")
    cli()
