"""The folder that every call of a real tool is made in."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from pathlib import Path

_PROJECT = """\
title: Answers
commands:
  - name: answer
    help: Say it.
    script:
      - "python --version"
"""
_FILES = {
    "app.py": """\
import click
from flask import Flask

app = Flask(__name__)


@app.get("/answer")
def answer():
    return "42"


@app.cli.command("greet")
@click.option("--name", default="world")
def greet(name):
    "Greet somebody."
    print("Hello,", name)


@app.cli.command("shout")
@click.argument("word")
def shout(word):
    "Say it loudly."
    print(word.upper())
""",
    "served.py": """\
def app(environ, start_response):
    start_response("200 OK", [])
    return [b"42"]
""",
    # An application that ends its server as soon as it has begun.
    "ends.py": """\
import gc

from uvicorn import Server


async def app(scope, receive, send):
    assert scope["type"] == "lifespan"
    await receive()
    print("begun", flush=True)
    await send({"type": "lifespan.startup.complete"})
    for each in gc.get_objects():
        if isinstance(each, Server):
            each.should_exit = True
    await receive()
    await send({"type": "lifespan.shutdown.complete"})
""",
    "typed_app.py": """\
import typer

app = typer.Typer()


@app.command()
def run(name: str, yes: bool = False, force: bool = False, debug: bool = False, output: str = ""):
    print(name, yes, force, debug, output)


@app.command()
def fail():
    raise typer.Exit(3)
""",
    "ugly.py": "answer = {  'a':42 }\n",
    "unsorted.py": "import sys\nimport os\n",
    "schema.json": '{"type": "object"}\n',
    "strict.json": '{"type": "array"}\n',
    "bad.sql": "SELECT  a FROM b where c\n",
    "hosts.ini": "[web]\nweb-1\nweb-2\n",
    "dodo.py": """\
def task_answer():
    "Say it."
    return {"actions": ["echo 42"]}
""",
    "clean.py": '"""Knows the answer."""\n\nANSWER = 42\n',
    "risky.py": "import subprocess\n\nsubprocess.run('ls', shell=True)\n",
    "mistyped.py": "answer: int = 'forty-two'\n",
    "mkdocs.yml": "site_name: Answers\n",
    "broken.yml": "site_name: Answers\ndocs_dir: nowhere\n",
    "projects.yml": "projects: []\n",
    "docs/index.md": "# Answers\n",
    "manual/conf.py": "project = 'Answers'\n",
    "manual/index.rst": "Answers\n=======\n\nForty-two.\n",
    "data.csv": "id,name\n1,ann\n2,bob\n",
    "data.json": '{"answer": 42}\n',
    "good.yaml": "---\nanswer: 42\n",
    "bad.yaml": "answer:   42\nanswer: 43\n",
    "empty.in": "",
    "towncrier.toml": """\
[tool.towncrier]
name = "Answers"
directory = "newsfragments"
""",
    "news/towncrier.toml": """\
[tool.towncrier]
name = "Answers"
directory = "newsfragments"
filename = "NEWS.rst"
""",
    "news/newsfragments/42.feature": "There is an answer.\n",
    "bump.toml": '[tool.bumpversion]\ncurrent_version = "1.2.3"\n',
    "project.yml": _PROJECT,
    "project/project.yml": _PROJECT,
    "lock/uv.lock": 'version = 1\nrequires-python = ">=3.10"\n',
    "broken/uv.lock": "this is no lock file\n",
    "tox.ini": """\
[tox]
skipsdist = true
env_list = answer

[testenv]
description = say the answer
skip_install = true
commands = python -c "print(42)"

[testenv:fails]
skip_install = true
base_python = python0.1
""",
    "alembic.ini": """\
[alembic]
script_location = %(here)s/migrations
sqlalchemy.url = sqlite:///%(here)s/made.db
""",
    "migrations/env.py": """\
from alembic import context
from sqlalchemy import create_engine

engine = create_engine(context.config.get_main_option("sqlalchemy.url"))
with engine.connect() as connection:
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()
""",
    "migrations/script.py.mako": "",
    "migrations/versions/first.py": """\
'''Begin.'''

revision = "abc123"
down_revision = None


def upgrade():
    pass


def downgrade():
    pass
""",
    "home/.cookiecutters/sample/cookiecutter.json": "{}\n",
    "home/.aws/config": "[default]\nregion = eu-central-1\n",
    "home/.config/shell_gpt/.sgptrc": "OPENAI_API_KEY=none\nUSE_LITELLM=false\n",
}
_WHEEL = {
    "sample/__init__.py": "",
    "sample-1.0.dist-info/METADATA": """\
Metadata-Version: 2.1
Name: sample
Version: 1.0
Summary: A sample.
Description-Content-Type: text/markdown

# A sample
""",
    "sample-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "sample-1.0.dist-info/RECORD": "",
}


def lay_out(folder: Path) -> Path:
    """Make *folder* anew with what the tools read; return it."""
    if folder.exists():
        shutil.rmtree(folder)
    for name, text in _FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with sqlite3.connect(folder / "data.db") as database:
        database.execute("create table answers (id integer primary key, text text)")
        database.execute("insert into answers (text) values ('42')")
    database.close()
    (folder / "dist").mkdir()
    with zipfile.ZipFile(folder / "dist" / "sample-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in _WHEEL.items():
            wheel.writestr(name, text)
    (folder / "dist" / "broken-1.0-py3-none-any.whl").write_text("no wheel")
    return folder


def settings(folder: Path) -> dict[str, str]:
    """Return the variables that keep the tools away from the network and from the real home."""
    home = folder / "home"
    return {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "HF_HUB_OFFLINE": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "DVC_NO_ANALYTICS": "1",
        "DO_NOT_TRACK": "1",
        "PAGER": "cat",
        # The order of sets is no difference.
        "PYTHONHASHSEED": "0",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        # Nothing listens there: what wants the network fails at once.
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
        "no_proxy": "127.0.0.1,localhost",
    }
