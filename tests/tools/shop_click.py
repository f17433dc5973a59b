"""The shop on click."""

import click
import shop_core

import murli


@click.group(help="Keep a shop.")
@click.option("--region", required=True, type=click.Choice(["eu", "us"]), help="where the shop is")
def main(region: str) -> None:
    pass


@main.command(help="Find items")
@click.argument("words", nargs=-1, required=True)
@click.option("--level", type=click.Choice(["1", "2", "3"]), required=True, help="how well")
@click.option("--ratio", type=click.FloatRange(0, 1), default=0.5, help="how near")
@click.option("--sort", type=click.Choice(["name", "size", "price", "age"]), default="name")
@click.option("--order", help="the old name")
@click.option("--tag", multiple=True, help="a label")
@click.option("--near", nargs=2, type=int, help="a place")
@click.option("--color/--no-color", default=True, help="colours")
@click.option("-l", "--loud", count=True, help="say more")
@click.option("-x", is_flag=True, help="only so")
@click.option("--token", default="s3cr3t-token", show_default=True, help="who asks")
@click.option("--strict", type=bool, help="yes or no")
def find(**values: object) -> "list[shop_core.Item]":
    return [shop_core.Item("tea", 1)]


@main.command(help="Move a thing")
@click.argument("where", type=click.Choice(["shelf", "bin"]))
@click.argument("point", nargs=2, type=int)
@click.argument("times", type=int, required=False)
def move(**values: object) -> str:
    return "moved"


@main.group(help="Work with stock")
def stock() -> None:
    pass


@stock.command("count", help="Count the stock")
def count_stock() -> int:
    return 3


@stock.command(help="Add to the stock")
@click.argument("name")
@click.option("--mode", type=click.Choice(["local", "remote"]), default="local")
@click.option("--host")
@click.option("--size", type=int)
def add(**values: object) -> None:
    pass


@stock.command(help="Empty the stock")
def purge() -> None:
    pass


@main.command(help="Nobody said anything about it")
def plain() -> None:
    pass


@main.command(hidden=True)
def secret() -> None:
    pass


commands = {"find": find, "move": move, "stock": stock}
commands |= {"stock count": count_stock, "stock add": add, "stock purge": purge}
for path, command in commands.items():
    murli.annotate(command, shop_core.METADATA[path])
murli.enable(main, tool_version="3.1.4")
main(prog_name="shop")
