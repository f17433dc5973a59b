"""Prints tables in the ways that tools do; tests run it as it is, on several versions."""

from __future__ import annotations

import datetime
from typing import Any

import click

import murli


@click.group()
def cli() -> None:
    """Print tables."""


def _rich_table(title: str | None = None, rows: int = 3, name: str = "n", **options: Any) -> Any:
    from rich.table import Table

    table = Table(title=title, **options)
    table.add_column("Name")
    table.add_column("Version", justify="right")
    for number in range(rows):
        table.add_row(f"[bold]{name}{number}[/bold]", f"1.{number}0")
    return table


@cli.command()
@click.argument("kind")
def rich(kind: str) -> None:
    from rich.columns import Columns
    from rich.console import Console
    from rich.json import JSON
    from rich.panel import Panel
    from rich.table import Table
    from rich.tree import Tree

    console = Console()
    if kind == "one":
        console.print(_rich_table("Packages"))
    elif kind == "text":
        console.print("Before")
        console.print(_rich_table())
        console.print("[red]after[/red]\nthe end")
    elif kind == "panel":
        console.print(Panel(_rich_table(), title="Users"))
    elif kind == "columns":
        console.print(Columns([_rich_table("A", 2, "a"), _rich_table("B", 3, "b")]))
    elif kind == "wide":
        console.print(_rich_table(name="x" * 200))
    elif kind == "cropped":
        table = Table("Key", "Value")
        table.columns[1].no_wrap = True
        table.add_row("a", "long " * 40)
        Console(soft_wrap=False).print(table, crop=True, no_wrap=True)
    elif kind == "colour":
        Console(force_terminal=True).print(_rich_table())
    elif kind == "nested":
        table = Table("Key", "Value", show_lines=True)
        table.add_row("deps", _rich_table())
        console.print(table)
    elif kind == "names":
        table = Table("Name", "Name", "")
        table.add_row("a", "b", "c")
        console.print(table)
    elif kind == "headless":
        console.print(_rich_table(show_header=False))
    elif kind == "empty":
        console.print(_rich_table(rows=0))
    elif kind == "footer":
        table = _rich_table(rows=1, show_footer=True, caption="All")
        table.columns[0].footer = "Sum"
        console.print(table)
    elif kind == "twice":
        console.print(_rich_table("One", 1))
        console.print(_rich_table("Two", 1))
    elif kind == "grid":
        grid = Table.grid(padding=1)
        grid.add_row("Name:", "murli")
        grid.add_row("Kind:", "library")
        console.print(grid)
    elif kind == "tree":
        tree = Tree("root")
        tree.add("[bold]one[/bold]").add("leaf")
        tree.add("two")
        console.print(tree)
    elif kind == "json":
        console.print(JSON('{"numbers": [1, 2], "text": "%s"}' % ("long " * 40)))
    elif kind == "framed":
        console.print_json('{"numbers": [1, 2]}')
        console.print(Panel(JSON('{"numbers": [1, 2]}'), title="Config"))
        console.print(Panel(Tree("leaf")))
    elif kind == "config":
        console.print("Config:")
        console.print_json('{"numbers": [1, 2]}')
    elif kind == "fails":
        console.print(_rich_table())
        raise ValueError("no")
    elif kind == "returns":
        console.print(_rich_table())
        click.get_current_context().exit(0)


ROWS = [["a", 1, 1.5, None], ["b", 20, 2.25, datetime.date(2026, 1, 2)]]
HEADERS = ["Name", "Count", "Share", "Since"]


@cli.command()
@click.argument("kind")
def tabulate(kind: str) -> None:
    import textwrap

    from tabulate import tabulate as made

    if kind == "one":
        click.echo(made(ROWS, headers=HEADERS))
    elif kind == "grid":
        click.echo("Result: " + made(ROWS, HEADERS, tablefmt="grid") + "\nthe end")
    elif kind == "plain":
        click.echo(made(ROWS, tablefmt="plain"))
    elif kind == "keys":
        rows = [{"a": "1.10", "b": True}, {"a": "2", "b": False}]
        click.echo(made(rows, headers="keys", tablefmt="github", disable_numparse=True))
    elif kind == "indent":
        click.echo("List:\n" + textwrap.indent(made(ROWS, HEADERS), "    "))
    elif kind == "part":
        click.echo("\n".join(made(ROWS, HEADERS).splitlines()[:3]))
    elif kind == "html":
        click.echo(made(ROWS, tablefmt="html"))
    elif kind == "many":
        click.echo(made([[n, f"row {n}"] for n in range(100)], headers=["n", "text"]))


@cli.command()
@click.argument("kind")
def prettytable(kind: str) -> None:
    from prettytable import PrettyTable

    table = PrettyTable(["City", "People", "Since"])
    table.add_row(["Ulm", 126, datetime.date(1200, 5, 1)])
    table.add_row(["Bern", 133.5, None])
    if kind == "one":
        click.echo(table)
    elif kind == "sorted":
        click.echo("Cities")
        click.echo(table.get_string(sortby="City", fields=["City", "People"]))


@cli.command()
def texttable() -> None:
    from texttable import Texttable

    table = Texttable()
    table.add_rows([["Name", "Age"], ["Xa\nvier", 32], ["Bob", 1.5]])
    click.echo(table.draw())


@cli.command()
@click.argument("kind")
def pandas(kind: str) -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "share": [1.5, None, 3.0],
            "name": ["x", "y", None],
            "day": pd.to_datetime(["2026-01-01", None, "2026-01-03"]),
        }
    )
    if kind == "one":
        click.echo(frame)
    elif kind == "index":
        click.echo(frame.set_index("name")[["n"]].to_string())
    elif kind == "some":
        click.echo("Found:")
        click.echo(frame[frame.n > 1][["n"]])
    elif kind == "cut":
        click.echo(pd.DataFrame({f"c{number}": range(500) for number in range(30)}))
    elif kind == "huge":
        click.echo(pd.DataFrame({"c": range(5000)}))
    elif kind == "groups":
        click.echo(frame.groupby("n").agg({"share": ["sum", "max"]}))


murli.enable(cli)
if __name__ == "__main__":
    cli()
