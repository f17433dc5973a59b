"""Which real tools are tried, by which words, and in which versions."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests_real.environments import environment, is_made, slug

# What the frameworks were a year before this was written, 16 November 2025.
FRAMEWORKS_A_YEAR_AGO = ("click<=8.3.1", "rich<=14.2.0", "rich-click<=1.9.4", "typer<=0.20.0")
NEWEST, YEAR_AGO = "newest", "year-ago"
# Enables the parser that parses the words of the program.
PARSER = "argparse:ArgumentParser"

Words = tuple[str, ...]


@dataclass(frozen=True)
class Tool:
    """A tool from the index: how it is installed and enabled, and calls that change nothing."""

    #: the console script
    name: str
    requirement: str
    #: the newest release of that day; empty where it does not install any more, is the newest, or
    #: would try nothing else
    year_ago: str
    framework: str
    #: what is enabled, for ``ENABLE_APP``
    app: str = PARSER
    #: a call that prints to stdout and ends with 0
    good: Words = ()
    #: a call that lacks an argument or a value
    missing: Words = ()
    #: a call that is well formed and fails all the same
    fails: Words = ()
    #: a call with a command, a file or a choice that does not exist
    unknown: Words = ("no-such-command",)
    bad: Words = ("--no-such-flag",)
    has_commands: bool = True
    #: whether the tool, and not its framework, says what is wrong with a call
    refuses_itself: bool = False
    #: options that the tool takes out of the words by itself: its framework does not know them;
    #: and what its help only mentions
    own_options: Words = ()
    #: commands whose --help is about something else than their options
    helpless: tuple[Words, ...] = ()
    #: what stands between the tool and its commands
    before: Words = ()
    #: commands that the tool parses without the parser that was enabled
    bypassed: tuple[Words, ...] = ()
    #: variables that only this tool needs
    variables: dict[str, str] = field(default_factory=dict, compare=False)

    def command(self, path: Iterable[str]) -> Words:
        """Return the words that call the command at *path*."""
        path = tuple(path)
        return (*self.before, *path) if path else ()

    @property
    def calls(self) -> dict[str, Words]:
        """What the tool is called with, by what it is."""
        return {
            "good": self.good,
            "bad": self.bad,
            "missing": self.missing,
            "unknown": self.unknown,
            "fails": self.fails,
        }


@dataclass(frozen=True)
class Release:
    """A tool in one version."""

    tool: Tool
    age: str

    def __str__(self) -> str:
        return f"{self.tool.name}-{self.age}"

    @property
    def is_installed(self) -> bool:
        """Whether its environment has been made."""
        return is_made(*self._environment())

    def python(self) -> str:
        """Return the interpreter of its environment; the first call installs it."""
        return environment(*self._environment())

    def _environment(self) -> tuple[str, str, list[str], tuple[str, ...]]:
        is_newest = self.age == NEWEST
        requirement = self.tool.requirement if is_newest else self.tool.year_ago
        limits = () if is_newest else FRAMEWORKS_A_YEAR_AGO
        return slug(requirement), sys.executable, requirement.split(), limits


CLICK = [
    Tool(
        "sqlite-utils",
        "sqlite-utils",
        "sqlite-utils==3.38",
        "click",
        "sqlite_utils.cli:cli",
        good=("tables", "data.db", "--counts"),
        missing=("rows",),
        fails=("rows", "data.db", "missing"),
    ),
    Tool(
        "flask",
        "flask",
        "flask==3.1.2",
        "click",
        "flask.cli:cli",
        good=("routes",),
        missing=("shout",),
        fails=("--app", "nowhere", "routes"),
    ),
    Tool(
        "black",
        "black",
        "black==25.11.0",
        "click",
        "black:main",
        good=("--code", "answer = {  'a':42 }"),
        missing=("--line-length",),
        fails=("--check", "ugly.py"),
        unknown=("no-such-file.py",),
        has_commands=False,
    ),
    Tool(
        "mkdocs",
        "mkdocs",
        "mkdocs==1.6.1",
        "click",
        "mkdocs.__main__:cli",
        good=("get-deps", "-p", "projects.yml"),
        missing=("new",),
        fails=("build", "-f", "broken.yml"),
    ),
    Tool(
        "uvicorn",
        "uvicorn",
        "uvicorn==0.38.0",
        "click",
        "uvicorn.main:main",
        good=("ends:app", "--port", "0"),
        missing=("--port",),
        fails=("nowhere:app",),
        unknown=("ends:app", "--loop", "no-such-loop"),
        has_commands=False,
    ),
    Tool(
        "datasette",
        "datasette",
        "datasette==0.65.2",
        "click",
        "datasette.cli:cli",
        good=("inspect", "data.db"),
        missing=("uninstall",),
        fails=("--get", "/nowhere.json", "data.db"),
        unknown=("publish", "no-such-command"),
    ),
    Tool(
        "llm",
        "llm",
        "llm==0.27.1 openai<=2.8.0",
        "click",
        "llm.cli:cli",
        good=("models", "default"),
        missing=("aliases", "set"),
        fails=("prompt", "-m", "nowhere", "hi"),
        unknown=("logs", "list", "--count", "many"),
    ),
    Tool(
        "cookiecutter",
        "cookiecutter",
        "cookiecutter==2.6.0",
        "click",
        "cookiecutter.cli:main",
        good=("--list-installed",),
        missing=("--checkout",),
        fails=("nowhere", "--no-input"),
        unknown=("nowhere", "key"),
        has_commands=False,
    ),
    Tool(
        "celery",
        "celery",
        "celery==5.5.3",
        "click",
        "celery.bin.celery:celery",
        good=("report",),
        missing=("call",),
        fails=("-A", "nowhere", "report"),
    ),
    Tool(
        "pip-compile",
        "pip-tools",
        "pip-tools==7.5.2 pip<=25.3",
        "click",
        "piptools.scripts.compile:cli",
        good=("--output-file", "-", "--quiet", "--strip-extras", "empty.in"),
        missing=("--output-file",),
        fails=("--all-extras", "--extra", "more", "empty.in"),
        unknown=("no-such-file.in",),
        has_commands=False,
        variables={"PIP_NO_INDEX": "1"},
    ),
    Tool(
        "rq",
        "rq",
        "rq==2.6.0",
        "click",
        "rq.cli:main",
        good=("--version",),
        missing=("enqueue",),
        fails=("info", "--url", "redis://127.0.0.1:9"),
    ),
    Tool(
        "towncrier",
        "towncrier",
        "towncrier==25.8.0",
        "click",
        "towncrier._shell:cli",
        good=("build", "--draft", "--version", "1.0", "--date", "2026-01-01", "--dir", "news"),
        missing=("build", "--version"),
        fails=("build", "--draft", "--dir", "nowhere"),
    ),
    Tool(
        "rich",
        "rich-cli",
        "rich-cli==1.8.1",
        "click",
        "rich_cli.__main__:main",
        good=("--print", "hello"),
        missing=("--width",),
        fails=("no-such-file.py",),
        unknown=("data.json", "--box", "no-such-box"),
        has_commands=False,
    ),
    Tool(
        "bump-my-version",
        "bump-my-version",
        "bump-my-version==1.2.4",
        "rich-click",
        "bumpversion.cli:cli",
        good=("show", "--config-file", "bump.toml", "current_version"),
        missing=("bump", "--config-file"),
        fails=("bump", "--config-file", "bump.toml", "nothing"),
    ),
    Tool(
        "litecli",
        "litecli",
        "litecli==1.17.0",
        "click",
        "litecli.main:cli",
        good=("data.db", "--execute", "select text from answers"),
        missing=("--execute",),
        fails=("data.db", "--execute", "select nothing from nowhere"),
        unknown=("data.db", "one-word-more"),
        has_commands=False,
    ),
    Tool(
        "dask",
        "dask distributed",
        "dask==2025.11.0 distributed==2025.11.0",
        "click",
        "dask.cli:cli",
        good=("config", "list"),
        missing=("config", "get"),
        fails=("config", "get", "nowhere"),
    ),
    Tool(
        "modal",
        "modal",
        "modal==1.2.2",
        "click",
        "modal.cli.entry_point:entrypoint_cli",
        good=("config", "show"),
        missing=("secret", "delete"),
        fails=("run", "no-such-file.py"),
        own_options=("-4", "-m"),  # those of other programs, in examples
    ),
    Tool(
        "sqlfluff",
        "sqlfluff",
        "",
        "click",
        "sqlfluff.cli.commands:cli",
        good=("version",),
        missing=("lint",),
        fails=("lint", "--dialect", "ansi", "bad.sql"),
    ),
    Tool(
        "check-jsonschema",
        "check-jsonschema",
        "",
        "click",
        "check_jsonschema.cli.main_command:main",
        good=("--schemafile", "schema.json", "data.json"),
        missing=("--schemafile",),
        fails=("--schemafile", "strict.json", "data.json"),
        unknown=("--builtin-schema", "no-such-schema", "data.json"),
        has_commands=False,
    ),
    Tool(
        "streamlit",
        "streamlit",
        "",
        "click",
        "streamlit.web.cli:main",
        good=("version",),
        missing=("run",),
        fails=("run", "no-such-file.py"),
    ),
    Tool(
        # Handles exceptions around its own call.
        "esptool",
        "esptool",
        "",
        "rich-click",
        "esptool.__init__:cli",  # which its script loads beside esptool itself
        good=("version",),
        missing=("image-info",),
        fails=("image-info", "data.json"),
    ),
]

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
        "",  # of a year ago: does not run with what it asks for today
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

ARGPARSE = [
    Tool(
        "pip-licenses",
        "pip-licenses click",
        "pip-licenses==5.5.0 click",
        "argparse",
        good=("-p", "click"),
        missing=("--format",),
        fails=("--fail-on", "MIT"),
        unknown=("--format", "no-such-format"),
        has_commands=False,
    ),
    Tool(
        "pipx",
        "pipx",
        "pipx==1.8.0",
        "argparse",
        good=("environment",),
        missing=("install",),
        fails=("runpip", "missing", "list"),
        bypassed=(("inject",), ("help",)),
    ),
    Tool(
        "http",
        "httpie",
        "",
        "argparse",
        "httpie.cli.definition:parser",
        good=("--ignore-stdin", "--offline", "GET", "http://127.0.0.1:9/answers", "name==ann"),
        missing=(),
        fails=("--ignore-stdin", "GET", "http://127.0.0.1:9/answers"),
        bad=("--no-such-flag", "http://127.0.0.1:9/"),
        unknown=("--style", "no-such-style", "http://127.0.0.1:9/"),
        has_commands=False,
    ),
    Tool(
        "twine",
        "twine",
        "twine==6.2.0",
        "argparse",
        good=("check", "dist/sample-1.0-py3-none-any.whl"),
        missing=(),
        fails=("check", "dist/broken-1.0-py3-none-any.whl"),
        bad=("--no-such-flag", "check", "dist/sample-1.0-py3-none-any.whl"),
        has_commands=False,  # each has a parser of its own, behind that of the tool
    ),
    Tool(
        "pre-commit",
        "pre-commit",
        "pre-commit==4.4.0",
        "argparse",
        good=("sample-config",),
        missing=("try-repo",),
        fails=("run",),
    ),
    Tool(
        "csvcut",
        "csvkit",
        "csvkit==2.1.0",
        "argparse",
        good=("-c", "name", "data.csv"),
        missing=("-c",),
        fails=("-c", "nothing", "data.csv"),
        unknown=("no-such-file.csv",),
        has_commands=False,
    ),
    Tool(
        "csvjson",
        "csvkit",
        "csvkit==2.1.0",
        "argparse",
        good=("--no-inference", "data.csv"),
        missing=("--indent",),
        fails=("--key", "nothing", "data.csv"),
        unknown=("no-such-file.csv",),
        has_commands=False,
    ),
    Tool(
        "yamllint",
        "yamllint",
        "yamllint==1.37.1",
        "argparse",
        good=("--list-files", "good.yaml"),
        missing=(),
        fails=("bad.yaml",),
        bad=("--no-such-flag", "good.yaml"),
        unknown=("--format", "no-such-format", "good.yaml"),
        has_commands=False,
    ),
    Tool(
        "bandit",
        "bandit",
        "bandit==1.8.6",
        "argparse",
        good=("--quiet", "--format", "json", "ugly.py"),
        missing=("--configfile",),
        fails=("--quiet", "risky.py"),
        unknown=("--format", "no-such-format", "ugly.py"),
        has_commands=False,
    ),
    Tool(
        "alembic",
        "alembic",
        "alembic==1.17.2",
        "argparse",
        good=("history",),
        missing=("upgrade",),
        fails=("upgrade", "nowhere"),
    ),
    Tool(
        "mypy",
        "mypy",
        "mypy==1.18.2",
        "argparse",
        good=("ugly.py",),
        missing=("--python-version",),
        fails=("mistyped.py",),
        unknown=("no-such-file.py",),
        has_commands=False,
        variables={"MYPY_CACHE_DIR": "/dev/null"},
    ),
    Tool(
        "pylint",
        "pylint",
        "pylint==4.0.3",
        "argparse",
        good=("clean.py",),
        missing=("--jobs",),
        fails=("ugly.py",),
        unknown=("no-such-file.py",),
        has_commands=False,
    ),
    Tool(
        "sphinx-build",
        "sphinx",
        "sphinx==8.2.3",
        "argparse",
        good=("-b", "dummy", "manual", "built"),
        missing=("manual",),
        fails=("-b", "dummy", "nowhere", "built"),
        bad=("--no-such-flag", "manual", "built"),
        unknown=("-b", "no-such-builder", "manual", "built"),
        has_commands=False,
    ),
    Tool(
        "dvc",
        "dvc",
        "dvc==3.64.0",
        "argparse",
        good=("version",),
        missing=("remote", "add"),
        fails=("status",),
        bad=("version", "--no-such-flag"),
    ),
    Tool(
        "gunicorn",
        "gunicorn",
        "gunicorn==23.0.0",
        "argparse",
        good=("--print-config", "served:app"),
        missing=("--bind",),
        fails=("--check-config", "nowhere:app"),
        unknown=("--check-config", "served:no_such_app"),
        has_commands=False,
    ),
    Tool(
        "tox",
        "tox",
        "tox==4.32.0",
        "argparse",
        "tox.config.cli.parse:_get_parser()",
        good=("list",),
        missing=("run", "-e"),
        fails=("run", "-e", "fails"),
        refuses_itself=True,
    ),
    Tool(
        "virtualenv",
        "virtualenv",
        "virtualenv==20.35.4",
        "argparse",
        "virtualenv.config.cli.parser:VirtualEnvConfigParser",
        good=("--no-seed", "made"),
        missing=(),
        fails=("--python", "no-such-python", "made"),
        bad=("--no-such-flag", "made"),
        unknown=("--creator", "no-such-creator", "made"),
        has_commands=False,
    ),
    Tool(
        # Has a --profile of its own.
        "isort",
        "isort",
        "",
        "argparse",
        good=("--stdout", "risky.py"),
        missing=("--line-length",),
        fails=("--check-only", "unsorted.py"),
        unknown=("--py", "no-such-version", "clean.py"),
        has_commands=False,
        own_options=("--vn", "--version-number"),  # which print the version, and end
    ),
    Tool(
        # A parser without help reads a few options before the tool's own is made.
        "flake8",
        "flake8",
        "",
        "argparse",
        good=("--exit-zero", "ugly.py"),
        missing=("--filename",),
        fails=("ugly.py",),
        unknown=("no-such-file.py",),
        has_commands=False,
    ),
    Tool(
        # Prints its help by itself, and has bound sys.argv when it was loaded.
        "pygmentize",
        "pygments",
        "",
        "argparse",
        good=("-f", "html", "clean.py"),
        missing=("-l",),
        fails=("-f", "no-such-formatter", "clean.py"),
        unknown=("no-such-file.py",),
        has_commands=False,
    ),
    Tool(
        # Parses again, with other words, what its parser has refused by an error() that raises.
        "pdm",
        "pdm",
        "",
        "argparse",
        good=("config", "check_update"),
        missing=("init", "--license"),
        fails=("run", "nothing"),
        refuses_itself=True,
    ),
    Tool(
        # Gives every exit of its parser a status of its own; has a command called schema.
        "cz",
        "commitizen",
        "",
        "argparse",
        good=("example",),
        missing=("check", "--rev-range"),
        fails=("check", "--message", "nothing"),
        bad=("check", "--no-such-flag"),
        refuses_itself=True,
    ),
    Tool(
        # Writes to a stream that is a default.
        "griffe",
        "griffe",
        "",
        "argparse",
        good=("dump", "-s", ".", "clean"),
        missing=("dump",),
        fails=("dump", "no_such_package"),
        bad=("dump", "clean", "--no-such-flag"),
    ),
    Tool(
        "watchmedo",
        "watchdog[watchmedo]",
        "",
        "argparse",
        good=("generate-tricks-yaml", "watchdog.tricks.LoggerTrick"),
        missing=("auto-restart",),
        fails=("tricks", "no-such.yaml"),
    ),
    Tool(
        "ansible-inventory",
        "ansible-core",
        "",
        "argparse",
        good=("-i", "hosts.ini", "--list"),
        missing=("-i",),
        fails=("-i", "hosts.ini", "--host", "no-such-host"),
        unknown=("-i", "hosts.ini", "--host", "no-such-host"),
        has_commands=False,
    ),
]

#: dispatch by hand: their authors would have to rebuild that, or say that they are programs
PROGRAMS = [
    Tool(
        "jupyter",
        "jupyter-core",
        "",
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
        "",
        "program",
        "coverage.cmdline:main",
        good=("help",),
        fails=("report",),
    ),
    Tool(
        "doit",
        "doit",
        "",
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
