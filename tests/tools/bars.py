"""A tool whose commands show progress, each as one library draws it, and print one line."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click


@click.group()
def cli() -> None:
    """Work, and show how far it is."""


def show_tqdm(pause: float, **where: Any) -> None:
    """Draw with tqdm."""
    from tqdm.auto import tqdm, trange

    for _ in tqdm(range(20), desc="load", **where):
        time.sleep(pause)
    for _ in trange(1, desc="outer", **where):
        for _ in tqdm(range(3), desc="inner", leave=False, **where):
            pass
    bar = tqdm(desc="files", **where)
    bar.update(3)
    bar.set_postfix(loss=1)
    bar.close()
    tqdm.write("note", end=" ")


def show_click(pause: float, bars: Any = click.progressbar, **where: Any) -> None:
    """Draw with click, or what has the same bars."""
    with bars(range(20), label="load", **where) as items:
        for _ in items:
            time.sleep(pause)
    with bars(length=50, label="sent", **where) as sent:
        sent.update(10)
        sent.update(30)
    with bars((x for x in range(3)), label="files", **where) as items:
        list(items)


def show_rich(pause: float, **where: Any) -> None:
    """Draw with rich."""
    from rich.console import Console
    from rich.live import Live
    from rich.progress import Progress, track

    console = Console(force_terminal=True, **where) if where else Console()
    with console.status("Thinking"):
        pass
    for _ in track(range(20), description="[red]load", console=console):
        time.sleep(pause)
    with Progress(console=Console(force_terminal=True, **where)) as several:
        copied, sent = several.add_task("copied", total=4), several.add_task("sent", total=None)
        several.update(copied, advance=3)
        several.advance(sent, 5)
    print("note", end=" ")
    part = Progress(console=console)
    with Live(part, console=console):
        part.advance(part.add_task("part", total=2))


def show_alive(pause: float, **where: Any) -> None:
    """Draw with alive-progress."""
    from alive_progress import alive_bar, alive_it

    with alive_bar(20, title="load", **where) as bar:
        for number in range(20):
            time.sleep(pause)
            bar.text(f"file {number}")
            bar()
        print("note", end=" ")
    unknown: Any = (x for x in range(3))
    for _ in alive_it(unknown, title="files", **where):
        pass
    with alive_bar(manual=True, title="share", **where) as bar:
        bar(0.5)


SHOWN: dict[str, Callable[..., None]] = {
    "tqdm": show_tqdm,
    "click": show_click,
    "rich": show_rich,
    "alive": show_alive,
}


@cli.command()
@click.argument("library", type=click.Choice(list(SHOWN)))
@click.option("--pause", type=float, default=0.0)
@click.option("--file", type=click.Path(path_type=Path))
def show(library: str, pause: float, file: Path | None) -> None:
    """Draw on the standard streams, or in a file."""
    if file is None:
        SHOWN[library](pause)
    else:
        with open(file, "w") as stream:
            SHOWN[library](pause, file=stream)
    click.echo("done")


@cli.command()
def answered() -> None:
    """Answer, and draw on."""
    from tqdm import tqdm

    import murli

    bar = tqdm(total=2, desc="early")
    murli.get_writer().write_success("", "done")
    bar.update(2)
    bar.close()
    with click.progressbar(range(2), label="late") as items:
        list(items)


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
def unread(file: Path) -> None:
    """Draw for somebody who reads one line, and finish all the same."""
    from tqdm import tqdm

    for _ in tqdm(range(2), desc="load"):
        time.sleep(0.3)
    file.write_text("finished")


@cli.command()
def many() -> None:
    """Draw very many short bars."""
    from tqdm import tqdm

    for number in range(3000):
        list(tqdm(range(2), desc=f"bar {number}"))


@cli.command()
def threads() -> None:
    """Draw from four threads, and from a fork that is none of the tool's."""
    from tqdm import tqdm

    def work(name: str) -> None:
        for _ in tqdm(range(1000), desc=name):
            pass

    with click.progressbar(range(2), label="watched") as items:
        for _ in items:
            child = os.fork()
            if not child:
                work("child")
                with click.progressbar(range(2), label="child") as inner:
                    list(inner)
                os._exit(0)
            os.waitpid(child, 0)
    begun = [threading.Thread(target=work, args=(f"thread {n}",)) for n in range(4)]
    for each in begun:
        each.start()
    for each in begun:
        each.join()
    click.echo("done")


@cli.command()
def secret() -> None:
    """Describe with a secret what is done."""
    from tqdm import tqdm

    list(tqdm(range(2), desc=f"as {os.environ['SOME_TOKEN']}"))


@cli.command()
def slow() -> None:
    """Take longer than anybody waits."""

    def numbers() -> Iterator[int]:
        yield from range(1000)

    with click.progressbar(numbers(), label="load") as items:
        for _ in items:
            time.sleep(0.05)


if not os.environ.get("PLAIN"):
    import murli

    murli.enable(cli, **eval(os.environ.get("CHOICES", "{}")))
if __name__ == "__main__":
    cli(prog_name=Path(sys.argv[0]).stem)
