"""Real tools that are built on typer."""

from __future__ import annotations

from tests_real.release import Tool

TYPER = [
    Tool(
        "hf",
        "huggingface_hub",
        "huggingface_hub==1.1.4",
        "typer",
        "huggingface_hub.cli.hf:app",
        good=("version",),
        missing=("download", "--revision"),
        fails=("download", "nobody/nothing", "nowhere.txt"),
        own_options=("--format", "--json", "--quiet", "-q", "--no-truncate", "--type"),
    ),
    Tool(
        "mcp",
        "mcp[cli]",
        "mcp[cli]==1.21.1",
        "typer",
        "mcp.cli:app",
        good=("version",),
        missing=("run",),
        fails=("run", "no-such-file.py"),
    ),
    Tool(
        "fastapi",
        "fastapi fastapi-cli fastapi-cloud-cli",
        "fastapi==0.121.2 fastapi-cli==0.0.16 fastapi-cloud-cli==0.3.1",
        "typer",
        "fastapi_cli.cli:app",
        good=("--version",),  # the others have moved since
        missing=("run", "--port"),
        fails=("run", "no-such-file.py"),
    ),
    Tool(
        "typer",
        "typer",
        "typer==0.20.0",
        "typer",
        "typer.cli:app",
        good=("typed_app.py", "run", "run", "ann", "--yes", "--force", "--debug", "--output", "x"),
        missing=("typed_app.py", "run", "run"),
        fails=("typed_app.py", "run", "fail"),
        unknown=("typed_app.py", "run", "no-such-command"),
        before=("typed_app.py",),
    ),
    Tool(
        "weasel",
        "weasel",
        "weasel==0.4.3",
        "typer",
        "weasel.cli:app",
        good=("document", "project"),
        missing=("clone",),
        fails=("run", "nothing", "project"),
        helpless=(("run",),),
    ),
    Tool(
        "uv-secure",
        "uv-secure",
        "",  # of a year ago: other options, and does not run with the hishel of today
        "typer",
        "uv_secure.run:app",
        good=("--no-check-uv-tool", "--no-check-uv-secure", "lock/uv.lock"),
        missing=("--config",),
        fails=("--no-check-uv-tool", "--no-check-uv-secure", "broken/uv.lock"),
        unknown=("no-such-file.lock",),
        has_commands=False,
    ),
    Tool(
        "langchain",
        "langchain-cli",
        "langchain-cli==0.0.37",
        "typer",
        "langchain_cli.cli:app",
        good=("app", "new", "made", "--non-interactive"),
        missing=("template", "new"),
        fails=("app", "remove", "nowhere"),
    ),
    Tool(
        # What came a year ago, and the last that is built on typer.
        "prefect",
        "prefect==3.6.2 importlib_metadata",  # which it uses, and has not asked for
        "",
        "typer",
        "prefect.cli:app",
        good=("config", "view"),
        missing=("profile", "use"),
        fails=("profile", "inspect", "nowhere"),
        helpless=(("cloud", "ip-allowlist", "add"),),  # which asks for a login instead
    ),
    Tool(
        "sgpt",
        "shell-gpt click",  # which it uses, and has not asked for
        "shell-gpt==1.4.5",
        "typer",
        "typer:Typer",
        good=("--list-roles",),
        missing=("--model",),
        fails=("--top-p", "9"),
        unknown=("--temperature", "9"),
        has_commands=False,
    ),
]
