"""The shop on argparse."""

import argparse

import shop_core

import murli

parser = argparse.ArgumentParser(prog="shop", description="Keep a shop.")
parser.add_argument("--region", required=True, choices=["eu", "us"], help="where the shop is")
top = parser.add_subparsers(dest="command", required=True)

find = top.add_parser("find", help="Find items")
find.add_argument("words", nargs="+", help="what to look for")
find.add_argument("--level", type=int, choices=[1, 2, 3], required=True, help="how well")
find.add_argument("--ratio", type=float, default=0.5, help="how near")
# A set: its order is another in every process.
find.add_argument("--sort", choices={"name", "size", "price", "age"}, default="name")
find.add_argument("--order", help="the old name")
find.add_argument("--tag", action="append", help="a label")
find.add_argument("--near", nargs=2, type=int, help="a place")
find.add_argument("--color", action=argparse.BooleanOptionalAction, default=True, help="colours")
find.add_argument("-l", "--loud", action="count", default=0, help="say more")
find.add_argument("-x", action="store_true", help="only so")
find.add_argument("--token", default="s3cr3t-token", help="who asks (default: %(default)s)")

move = top.add_parser("move", help="Move a thing", aliases=["shift"])
move.add_argument("where", choices=["shelf", "bin"])
move.add_argument("point", nargs=2, type=int, help="x and y")
move.add_argument("times", nargs="?", type=int)

stock = top.add_parser("stock", help="Work with stock")
below = stock.add_subparsers(dest="stock_command", required=True)
count = below.add_parser("count", help="Count the stock")
add = below.add_parser("add", help="Add to the stock")
add.add_argument("name")
add.add_argument("--mode", choices=["local", "remote"], default="local")
add.add_argument("--host")
add.add_argument("--size", type=int)
purge = below.add_parser("purge", help="Empty the stock")

top.add_parser("plain", help="Nobody said anything about it")
top.add_parser("secret", help=argparse.SUPPRESS)

commands = {"find": find, "move": move, "stock": stock}
commands |= {"stock count": count, "stock add": add, "stock purge": purge}
for path, command in commands.items():
    murli.annotate(command, shop_core.METADATA[path])
murli.enable(parser, tool_version="3.1.4")

with murli.session(parser) as (arguments, writer):
    writer.write_success("Done.", [{"name": "tea", "size": 1}])
