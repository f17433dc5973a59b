"""The shop on typer."""

from enum import Enum
from typing import Annotated, List, Optional, Tuple  # noqa: UP035

import shop_core
import typer

import murli

app = typer.Typer(help="Keep a shop.")
stock = typer.Typer(help="Work with stock")


class Region(str, Enum):
    eu = "eu"
    us = "us"


class Where(str, Enum):
    shelf = "shelf"
    bin = "bin"


class Mode(str, Enum):
    local = "local"
    remote = "remote"


class Level(str, Enum):
    one = "1"
    two = "2"


class Order(str, Enum):
    name = "name"
    size = "size"


@app.callback()
def main(region: Annotated[Region, typer.Option(help="where the shop is")]) -> None:
    pass


@app.command(help="Find items")
def find(
    words: List[str],  # noqa: UP006
    level: Annotated[Level, typer.Option(help="how well")],
    ratio: Annotated[float, typer.Option(min=0, max=1, help="how near")] = 0.5,
    sort: Order = Order.name,
    order: Annotated[Optional[str], typer.Option(help="the old name")] = None,  # noqa: UP045
    tag: Annotated[Optional[List[str]], typer.Option(help="a label")] = None,  # noqa: UP006, UP045
    near: Annotated[Optional[Tuple[int, int]], typer.Option(help="a place")] = None,  # noqa: UP006, UP045
    color: Annotated[bool, typer.Option(help="colours")] = True,
    loud: Annotated[int, typer.Option("-l", "--loud", count=True, help="say more")] = 0,
    only: Annotated[bool, typer.Option("-x", help="only so")] = False,
    token: Annotated[str, typer.Option(help="who asks")] = "s3cr3t-token",
) -> "list[shop_core.Item]":
    return [shop_core.Item("tea", 1)]


@app.command(help="Move a thing")
def move(where: Where, point: Tuple[int, int], times: Optional[int] = typer.Argument(None)) -> str:  # noqa: UP006, UP045
    return "moved"


@stock.command("count", help="Count the stock")
def count_stock() -> int:
    return 3


@stock.command(help="Add to the stock")
def add(
    name: str,
    mode: Mode = Mode.local,
    host: Optional[str] = None,  # noqa: UP045
    size: Optional[int] = None,  # noqa: UP045
) -> None:
    pass


@stock.command(help="Empty the stock")
def purge() -> None:
    pass


@app.command(help="Nobody said anything about it")
def plain() -> None:
    pass


@app.command(hidden=True)
def secret() -> None:
    pass


app.add_typer(stock, name="stock")
functions = {"find": find, "move": move, "stock count": count_stock}
functions |= {"stock add": add, "stock purge": purge}
for path, function in functions.items():
    murli.annotate(function, shop_core.METADATA[path])
murli.enable(app, tool_version="3.1.4", name="shop")
app(prog_name="shop")
