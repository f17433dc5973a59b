"""The careless tool on typer."""

from typing import Any, Optional

import faults_core
import typer

import murli

app = typer.Typer()


@app.command()
def do(
    what: str,
    seconds: float = 60.0,
    name: Optional[str] = None,  # noqa: UP045
    yes: bool = typer.Option(False, "--yes"),
) -> Any:
    return faults_core.do(what, seconds, name, yes)


@app.command()
def mutate() -> None:
    faults_core.mutate()


@app.command()
def quick() -> None:
    faults_core.do("sleep", 60.0, None, False)


murli.annotate(mutate, faults_core.MUTATE)
murli.annotate(quick, faults_core.QUICK)
murli.enable(app, name="faults")

if __name__ == "__main__":
    app()
