"""The soak's tool on typer."""

from soak.marks import mark, start

start()

from typing import Annotated, Any, List, Optional  # noqa: E402, UP035

import typer  # noqa: E402

import murli  # noqa: E402
from soak.tools import soak_core  # noqa: E402

app = typer.Typer(help="Behave in many ways.", add_completion=False)


@app.command()
def do(deed: str, seed: int = 0, size: int = 100, seconds: float = 0.0) -> Any:
    """Do something."""
    if deed not in soak_core.DEEDS:
        raise typer.BadParameter(f"no deed is called {deed!r}")
    return soak_core.Job(deed, seed, size, seconds).do()


@app.command()
async def slow(
    words: Annotated[Optional[List[str]], typer.Argument()] = None,  # noqa: UP006, UP045
    seed: int = 0,
    size: int = 100,
    seconds: float = 0.0,
) -> Any:
    """Do something in an event loop."""
    return await soak_core.Job("", seed, size, seconds).do_slowly()


@app.command()
def change(seed: int = 0, size: int = 100, seconds: float = 0.0) -> None:
    """Change something."""
    soak_core.change(soak_core.Job("", seed, size, seconds))


murli.annotate(change, soak_core.CHANGE)
murli.enable(app, name="soak", tool_version="1.0")

if __name__ == "__main__":
    mark("p")
    app()
