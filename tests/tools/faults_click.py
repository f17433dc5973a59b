"""The careless tool on click."""

from typing import Any

import click
import faults_core

import murli


@click.group()
def cli() -> None:
    pass


@cli.command()
@click.argument("what")
@click.option("--seconds", type=float, default=60.0)
@click.option("--name")
@click.option("--yes", is_flag=True)
def do(**given: Any) -> Any:
    return faults_core.do(**given)


@cli.command()
def mutate() -> None:
    faults_core.mutate()


@cli.command()
def quick() -> None:
    faults_core.do("sleep", 60.0, None, False)


murli.annotate(mutate, faults_core.MUTATE)
murli.annotate(quick, faults_core.QUICK)
murli.enable(cli, name="faults")

if __name__ == "__main__":
    cli()
