"""Sidecars: what somebody else declares about a tool, and how far it is believed."""

from __future__ import annotations

import importlib
import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness import Run, environment, lay_out, run, run_at_terminal
from murli.retrofit.sidecars import load
from retrofit_tools import MURLI, TOOLS, bare_python, install, on_path, served

tomllib: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

TOOL = """#!/bin/sh
case "$1" in
  --help) printf 'Usage: stock [command]\\n\\nCommands:\\n'
          printf '  sell  Sell\\n  drop  Drop\\n  list  List\\n'
          printf '\\nOptions:\\n  --key TEXT  the key\\n' ;;
  list) printf 'NAME       COUNT\\ntea        3\\ngreen tea  4\\n' ;;
  rows) printf '%b' "$2" ;;
  page) case "$3" in 2) echo '{"rows": [3], "at": {}}' ;;
          *) printf '{"rows": [1, 2], "at": {"next": "%s"}}' "${CURSOR:-2}" ;; esac ;;
  none) exit 4 ;;
  away) echo "no connection" >&2; exit 5 ;;
  *) echo "did $*" ;;
esac
"""

SIDECAR = """
summary = "Keep a stock."
sensitive = ["--key"]
exit_codes = { 4 = "nothing there", 5 = "unavailable" }

[commands.sell]
danger = "destructive"
examples = [{ call = "stock sell tea", does = "Sell tea" }]

[commands.list]
output = "lines"
danger = "safe"
"""
PACKAGED = sorted(Path(str(each)) for each in files("murli").joinpath("sidecars").iterdir())


@pytest.fixture
def stock(tmp_path: Path) -> Path:
    """A program on PATH, and a folder for the call."""
    path = tmp_path / "bin" / "stock"
    lay_out(tmp_path, {"bin/stock": TOOL, "work/x": ""})
    path.chmod(0o755)
    return tmp_path


def call(stock: Path, *words: str, **more: str | None) -> Run:
    home = str(stock / "home")
    env = environment(PATH=on_path(stock / "bin"), HOME=home, **more)
    return run([*MURLI, "stock"], *words, env=env, cwd=stock / "work")


def test_a_sidecar_declares(stock: Path) -> None:
    """Danger, what a status means, how output is laid out, secrets and examples."""
    lay_out(stock, {"home/.config/murli/sidecars/stock.toml": SIDECAR})
    assert call(stock, "sell", "tea").error["error"] == "confirmation_required"
    env = environment(PATH=on_path(stock / "bin"), HOME=str(stock / "home"))
    done = run([*MURLI, "--yes", "stock", "sell", "tea"], env=env)
    assert done.document["result"] == "did sell tea"
    none = call(stock, "none").document
    assert (none["exit_status"], none["message"]) == (4, "nothing there")
    away = call(stock, "away")
    assert (away.code, away.error["error"]) == (2, "unavailable")
    lines = ["NAME       COUNT", "tea        3", "green tea  4"]
    assert call(stock, "list").document["result"] == lines
    assert "hunter2" not in call(stock, "buy", "--key", "hunter2").out
    described = {each["name"]: each for each in call(stock, "describe").document["commands"]}
    assert "destructive" in str(described["sell"]["safety"])
    assert described["sell"]["examples"][0]["command"] == "stock sell tea"


LAYOUTS: list[tuple[str, str, Any]] = [
    ("columns", "NAME       COUNT\\ntea        3\\n", [{"name": "tea", "count": "3"}]),
    ("columns", "tea\\ncoffee\\n", "tea\ncoffee"),  # no names above: nothing gets lost
    ("columns", '[{"name": "tea"}]', [{"name": "tea"}]),
    ("csv", 'a,b\\n1,"x\\ny"\\n', [{"a": "1", "b": "x\ny"}]),
    ("tsv", "a\\tb\\n1\\t2\\n", [{"a": "1", "b": "2"}]),
    ("lines", "tea\\ncoffee\\n", ["tea", "coffee"]),
]


@pytest.mark.parametrize(("layout", "text", "result"), LAYOUTS)
def test_what_is_laid_out_as_declared_is_data(
    stock: Path, layout: str, text: str, result: Any
) -> None:
    """Rows, lines and columns; what is laid out otherwise this time is left as it is."""
    own = f'[commands.rows]\noutput = "{layout}"\n'
    lay_out(stock, {"home/.config/murli/sidecars/stock.toml": own})
    assert call(stock, "rows", text).document["result"] == result


PAGES = """
[commands.page]
paging = { next = "at.next", with = "--after" }
[redirects]
"ls" = "list"
"remote sell" = { to = "sell", reason = "deprecated", message = "Remotes are gone." }
"""


def test_a_sidecar_pages_and_redirects(stock: Path) -> None:
    """The call for the next page has the tool's own option; a command that has moved is named."""
    lay_out(stock, {"home/.config/murli/sidecars/stock.toml": PAGES})
    page = call(stock, "page").document["page"]
    assert (page["next_cursor"], page["rest"]) == ("2", "stock page --after 2")
    assert "page" not in call(stock, "page", "--after", "2").document
    part = call(stock, "page", "--limit", "1").document
    assert (part["result"]["rows"], part["page"]["total"]) == ([1], 2)
    assert "page" not in call(stock, "page", CURSOR="--yes").document  # an option is no cursor
    moved = call(stock, "ls", "--deep")
    assert moved.error["redirect"]["command"] == "stock list --deep"
    assert moved.stdout == b""
    described = call(stock, "describe").document
    assert {each["name"] for each in described["commands"]} >= {"sell", "drop", "list"}


def test_what_is_not_known_of_a_status_is_said(stock: Path) -> None:
    """A status means what a sidecar says, else what is usual; of any other that is not known."""
    own = '[commands.away]\nexit_codes = { 5 = "unavailable" }\n'
    lay_out(stock, {"home/.config/murli/sidecars/stock.toml": own})
    away, none = call(stock, "away"), call(stock, "none")
    assert (away.code, "sidecar" in away.error["suggestion"]) == (2, True)
    assert (none.code, "is not known" in none.error["suggestion"]) == (4, True)
    found = {}
    for command in ("sh", "-c", "exit 77"), ("sh", "-c", "exit 3"):
        done = run([*MURLI, "--contract", "agent-spec-2", *command])
        found[command[2]] = json.loads(done.stdout)["error"]["context"]
    assert found == {
        "exit 77": {"exit_status": 77, "exit_status_known_by": "convention"},
        "exit 3": {"exit_status": 3, "exit_status_known_by": "unknown"},
    }


def test_the_nearest_sidecar_counts(stock: Path) -> None:
    """That of the project comes before the user's."""
    user, project = 'exit_codes = { 4 = "user" }', 'exit_codes = { 4 = "project" }'
    lay_out(stock, {"home/.config/murli/sidecars/stock.toml": user})
    assert call(stock, "none").document["message"] == "user"
    lay_out(stock, {".murli/sidecars/stock.toml": project})
    assert call(stock, "none").document["message"] == "project"


def test_a_project_makes_a_guard_no_laxer(stock: Path) -> None:
    """One that came with somebody's files does not say what is safe; the user's own may."""
    lax = '[commands.drop]\ndanger = "safe"\n'
    lay_out(stock, {"work/.murli/sidecars/stock.toml": lax})
    assert call(stock, "drop").error["error"] == "confirmation_required"
    (stock / "work/.murli/sidecars/stock.toml").unlink()
    lay_out(stock, {"home/.config/murli/sidecars/stock.toml": lax})
    assert call(stock, "drop").document["result"] == "did drop"


@pytest.mark.parametrize(
    "lax",
    [
        'danger = "safe"',
        'danger = "mutating"',
        '[commands.remote]\ndanger = "safe"',
        '[commands."remote drop"]\ndanger = "safe"',
        '[redirects]\n"remote list" = "remote list"',
        'kind = "program"',
        '[redirects]\n"remote" = "drop"',
    ],
)
def test_a_project_has_no_way_around_the_guard(stock: Path, lax: str) -> None:
    """Not for the tool as a whole, not for a group, not by another name or another way to run."""
    lay_out(stock, {"work/.murli/sidecars/stock.toml": f"{lax}\n"})
    done = call(stock, "remote", "drop", "x")
    assert (done.code, done.stdout) == (1, b"")
    assert "drop" not in str(done.error.get("redirect", ""))


def test_what_is_safe_of_a_group_is_not_safe_below_it(stock: Path) -> None:
    """What the user's own says of one command says nothing of another; of the tool it does."""
    own = "home/.config/murli/sidecars/stock.toml"
    lay_out(stock, {own: '[commands.remote]\ndanger = "safe"\n'})
    assert call(stock, "remote", "drop").error["error"] == "confirmation_required"
    lay_out(stock, {own: 'danger = "safe"\n'})
    assert call(stock, "remote", "drop").document["result"] == "did remote drop"


@pytest.mark.parametrize(
    "text",
    [
        'args = ["--yes"]',
        '[commands.sell]\nargs = ["--yes"]',
        '[commands.sell]\nargv = ["sell", "--force"]',
        'confirm = "--yes"',
        'danger = "harmless"',
        "commands = 3",
        "exit_codes = { 4 = 4 }",
        '[redirects]\nlist = "sell --yes"',
        '[redirects]\nlist = "sell; drop"',
        '[redirects]\nlist = { to = "sell", options = { "--dry-run" = "--yes" } }',
        '[redirects]\nlist = "sell"\nsell = "list"',
        "redirects = { list = 3 }",
        '[commands.list]\npaging = { next = "at", with = "--yes" }',
        '[commands.list]\npaging = { next = "at", with = "--no-confirm" }',
        '[commands.list]\npaging = { next = "at", with = "-fy" }',
        '[commands.list]\npaging = { next = "at", with = "--all --yes" }',
        '[commands.list]\npaging = { next = "at" }',
        "not toml",
    ],
)
def test_a_sidecar_has_no_place_for_words_of_a_call(stock: Path, text: str) -> None:
    """What it does not know it refuses, and nothing is run: no argument can be slipped in."""
    lay_out(stock, {"home/.config/murli/sidecars/stock.toml": text})
    done = call(stock, "sell", "tea")
    assert (done.code, done.stdout) == (1, b"")
    assert "stock.toml" in done.error["message"]


def test_a_sidecar_declares_about_tools_of_python(tmp_path: Path) -> None:
    """On the commands of each framework, as their author would have."""
    python = bare_python(tmp_path / "bare")
    home = tmp_path / "home"
    for name, source in TOOLS.items():
        tool = install(python, f"books-{name}", source)
        own = (
            'sensitive = ["--name", "--key"]\n[redirects]\n"remove book" = "delete"\n'
            '[commands.show]\ndanger = "destructive"\nexit_codes = { 9 = "unavailable" }\n'
            '[commands.delete]\ndanger = "safe"\noutput = "lines"\n'
        )
        lay_out(home, {f".config/murli/sidecars/{tool.name}.toml": own})
        refused = served(tool, "show", "emma", HOME=str(home))
        assert refused.error["error"] == "confirmation_required", name
        done = served(tool, "delete", "emma", HOME=str(home))
        assert done.document["result"] == ["deleted emma"], name
        moved = served(tool, "remove", "book", "emma", HOME=str(home))
        assert moved.error["redirect"]["command"].endswith("delete emma"), name
        schema = served(tool, "show", "--schema", HOME=str(home)).document
        assert schema["exit_statuses"] == [{"status": 9, "ok": False, "meaning": "unavailable"}]


@pytest.mark.parametrize("path", PACKAGED, ids=lambda path: path.stem)
def test_the_packaged_sidecars_are_valid(path: Path) -> None:
    """They say nothing unknown, by the schema as by murli itself."""
    load(str(path), "package")
    schema = json.loads(files("murli").joinpath("schemas/sidecar.json").read_text())
    jsonschema.validate(tomllib.loads(path.read_text()), schema)


def test_grep_that_finds_nothing_has_not_failed(tmp_path: Path) -> None:
    """Its 1 is an answer, its 2 a mistake of the caller."""
    lay_out(tmp_path, {"text": "tea\n"})
    done = run([*MURLI, "grep", "coffee", "text"], cwd=tmp_path)
    assert (done.code, done.document["message"]) == (0, "nothing was found")
    done = run([*MURLI, "grep", "coffee", "missing"], cwd=tmp_path)
    assert (done.code, done.error["error"]) == (1, "user_error")


def test_a_sidecar_is_drafted_and_checked(stock: Path) -> None:
    """What names suggest is written down, and what no longer fits is reported."""
    env = environment(PATH=on_path(stock / "bin"), HOME=str(stock / "home"))
    murli = MURLI[:-1]
    drafted = run([*murli, "sidecar", "init", "stock"], env=env)
    declared = tomllib.loads(drafted.out)
    assert declared["commands"] == {"drop": {"danger": "destructive"}}
    file = stock / "stock.toml"
    assert run([*murli, "sidecar", "init", "stock", "-o", str(file)], env=env).code == 0
    checked = run([*murli, "sidecar", "check", "stock", "--file", str(file)], env=env)
    assert checked.document["result"]["mismatches"] == []
    file.write_text(drafted.out + '\n[commands."buy"]\ndanger = "mutating"\n')
    checked = run([*murli, "sidecar", "check", "stock", "--file", str(file)], env=env)
    assert (checked.error["error"], "'buy'" in checked.error["message"]) == (
        "sidecar_outdated",
        True,
    )
    missing = run([*murli, "sidecar", "check", "stock"], env=env)
    assert missing.error["error"] == "not_found"


def test_a_wrapped_tool_answers_under_its_own_name(stock: Path) -> None:
    """The shim runs the program it hides; a person sees no difference."""
    shims = stock / "shims"
    env = environment(PATH=on_path(shims, stock / "bin"), HOME=str(stock / "home"))
    env["MURLI_SHIMS"] = str(shims)
    murli = MURLI[:-1]
    wrapped = run([*murli, "wrap", "stock"], env=env).document
    assert wrapped["result"] == {"shim": str(shims / "stock"), "on_path": True}
    assert run(["stock", "buy", "a b", "$x"], env=env).document["result"] == "did buy a b $x"
    assert run_at_terminal(["stock", "buy"], env=env).out == "did buy\n"
    assert run([*murli, "wrap", "stock"], env=env).code == 0  # once more changes nothing
    assert run(["stock", "buy"], env=env).document["result"] == "did buy"
    assert run([*murli, "unwrap", "stock"], env=env).code == 0
    assert run(["stock", "buy"], env=env).out == "did buy\n"
    assert run([*murli, "unwrap", "stock"], env=env).error["error"] == "not_found"
    lay_out(shims, {"stock": "#!/bin/sh\n"})
    assert "no shim" in run([*murli, "wrap", "stock"], env=env).error["message"]
    assert (shims / "stock").read_text() == "#!/bin/sh\n"
    shown = run_at_terminal(
        [*murli, "shell"], env={**env, "SHELL": "/bin/sh"}, keys=b"echo $PATH; exit\n"
    )
    assert str(shims) in shown.out
