"""Which real tools are tried, by which words, and in which versions."""

from __future__ import annotations

from tests_real.release import NEWEST, YEAR_AGO, Release, Tool
from tests_real.tools_argparse import ARGPARSE
from tests_real.tools_click import CLICK
from tests_real.tools_typer import TYPER

#: dispatch by hand: their authors would have to rebuild that, or say that they are programs
PROGRAMS = [
    Tool(
        "jupyter",
        "jupyter-core",
        "",  # the newest is older than that
        "program",
        "jupyter_core.command:main",
        good=("--paths", "--json"),
        fails=("no-such-command",),
    ),
    Tool(
        "scrapy",
        "scrapy",
        "scrapy==2.13.3",
        "program",
        "scrapy.cmdline:execute",
        good=("version",),
        fails=("runspider", "no-such-file.py"),
    ),
    Tool(
        "aws",
        "awscli",
        "awscli==1.42.74",
        "program",
        "awscli.clidriver:main",
        good=("configure", "list"),
        fails=("s3", "ls"),
        variables={"AWS_EC2_METADATA_DISABLED": "true"},
    ),
    Tool(
        "coverage",
        "coverage",
        "coverage==7.11.3",
        "program",
        "coverage.cmdline:main",
        good=("help",),
        fails=("report",),
    ),
    Tool(
        "doit",
        "doit",
        "doit==0.36.0",
        "program",
        "doit.__main__:main",
        good=("list", "-f", "dodo.py"),
        fails=("run", "-f", "dodo.py", "nothing"),
    ),
]

#: that nobody here has enabled: they are tried behind `murli run` alone
OUTSIDE = [
    Tool(
        "pip",
        "pip six",
        "",
        "program",
        good=("list", "--format", "json"),
        missing=("show",),
        fails=("uninstall", "six"),
        own_options=("--no-such-flag",),
    ),
    Tool(
        "ansible-galaxy",
        "ansible-core",
        "",
        "argparse",
        good=("collection", "init", "--init-path", "made", "one.two"),
        missing=("role", "info"),
        fails=("role", "init", "a/b/c/d"),
    ),
    Tool(
        # docopt
        "num2words",
        "num2words",
        "",
        "program",
        good=("42",),
        missing=(),
        fails=("nothing",),
    ),
]

#: ask a server before they do anything else: they can be described, and nothing more
DESCRIBED = [
    Tool("safety", "safety", "safety==3.7.0", "typer", "safety.cli:cli"),
]

TOOLS = [*CLICK, *TYPER, *ARGPARSE]


def releases(tools: list[Tool]) -> list[Release]:
    """Return every tool in the newest version, and in that of a year ago where there is one."""
    return [
        Release(tool, age)
        for tool in tools
        for age in (NEWEST, YEAR_AGO)
        if age == NEWEST or tool.year_ago
    ]


def tool_called(name: str) -> Tool:
    """Return the tool with that console script."""
    (found,) = (each for each in TOOLS if each.name == name)
    return found


def enabling(tool: Tool, agents: str) -> dict[str, str]:
    """Return the variables by which *tool* is enabled from outside."""
    return {"ENABLE_APP": tool.app, "ENABLE_NAME": tool.name, "ENABLE_AGENTS": agents}
