"""A typed module is written for a tool: it says what the tool can be asked, and asks it."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import inspect
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_fakes import Answer, fake, lines
from harness import REPOSITORY, environment, run, tool
from murli.client import ArgumentMistake, AsyncTool, Tool
from murli.client.stubs import NothingKnown, module, write
from murli.client.stubs.names import Scope, class_name, identifier
from murli.client.stubs.types import Types, spelled
from murli.wire.listing import from_description
from properties import examples

MURLI = [sys.executable, "-m", "murli"]
NASTY = 'He said """hi""" \\" \\N{DASH} \\\n\r\n\x00\x1b[2J\u2028\u202e\ud800 {x} %s " \\'


pytestmark = pytest.mark.usefixtures("own_places")


def loaded(source: str, path: Path) -> Any:
    """Import *source* as a module kept at *path*."""
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def described(*commands: dict[str, Any], name: str = "tool") -> dict[str, Any]:
    """Give what a tool with *commands* describes."""
    facts = {"name": name, "schema_version": "1.0", "capabilities": {}}
    return {**facts, "commands": list(commands)}


def written(*commands: dict[str, Any], name: str = "tool", **options: bool) -> str:
    """Give the module for a tool with *commands*."""
    return module(from_description(described(*commands, name=name)), [name], **options)


def parameters(of: Any) -> dict[str, str]:
    """Give the parameters of a method that were the tool's, and their types."""
    found = inspect.signature(of).parameters
    return {name: each.annotation for name, each in found.items() if name != "stdin"}


# -- a tool that is there ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The module that the command writes for the tasks tool, imported."""
    path = tmp_path_factory.mktemp("stubs") / "tasks_stubs.py"
    places = str(path.parent / "places")
    env = environment(XDG_STATE_HOME=places, XDG_CACHE_HOME=places)
    words = f"{sys.executable} {tool('tasks_click')[1]}"
    done = run(MURLI, "stubs", "--async", words, "-o", str(path), env=env)
    assert done.document["result"]["file"] == str(path)
    return loaded(path.read_text(), path)


def test_a_call_through_the_module_works(tasks: Any) -> None:
    """Words, flags of every kind, and flags of the commands above land where they belong."""
    tool_ = tasks.Tasks()
    made = tool_.task.create(title="-saw", weight=1.5, tag=["a", "b"], region="us", force=True)
    assert made.data == {"id": 7, "title": "-saw", "weight": 1.5}
    assert tool_.task.list(region="us").data["region"] == "us"
    assert tool_.run(program=["ls", "-l"]).data == ["ls", "-l"]
    assert tool_.report().data == {"what": "all"}
    planned = tool_.task.create(title="x", weight=1, dry_run=True)
    assert (planned.state, planned.executed) == ("plan", False)


def test_a_call_under_an_event_loop_works(tasks: Any) -> None:
    """The twin has the same methods, to be awaited."""
    found = asyncio.run(tasks.AsyncTasks().report(what="missing"))
    assert (found.exit_code, found.problem.kind) == (5, "not_found")


def test_a_value_the_tool_does_not_take_is_refused(tasks: Any) -> None:
    """Who does not check types is checked when the call is made, before a process is started."""
    with pytest.raises(ArgumentMistake, match="todo, doing, done"):
        tasks.Tasks().task.create(title="x", weight=1.0, status="never")


def test_methods_say_what_they_take(tasks: Any) -> None:
    """Required is what has no default; choices are literals; help is in the docstring."""
    create = tasks.TasksTask.create
    assert parameters(create) == {
        "self": inspect.Parameter.empty,
        "title": "str",
        "weight": "float",
        "region": "str | None",
        "status": "Literal['todo', 'doing', 'done'] | None",
        "count": "int | None",
        "tag": "_builtins.list[str] | tuple[str, ...] | None",
        "token": "str | None",
        "dry_run": "bool | None",
        "force": "bool | None",
    }
    found = inspect.signature(create).parameters.values()
    required = [each.name for each in found if each.default is inspect.Parameter.empty]
    assert required == ["self", "title", "weight"]
    assert {each.kind for each in found if each.name != "self"} == {inspect.Parameter.KEYWORD_ONLY}
    assert "count: how many (default 1)" in create.__doc__


def test_the_tool_can_be_one_that_the_caller_made(tasks: Any, tmp_path: Path) -> None:
    """Limits, environment and policy are the business of `Tool`; the class takes one."""
    own = Tool(tool("tasks_click"), env={**os.environ, "MURLI_CONTRACT": "agent-spec-2"})
    assert tasks.Tasks(own).report().contract == "agent-spec-2"
    assert tasks.Tasks(own).task.tool is own
    assert isinstance(tasks.AsyncTasks().tool, AsyncTool)


def test_a_manifest_does_as_well(tmp_path: Path) -> None:
    """Under another contract the same tool gives the same calls, with what it returns."""
    env = {**os.environ, "MURLI_CONTRACT": "agent-spec-2"}
    source = write(Tool(tool("shop_click"), env=env))
    shop = loaded(source, tmp_path / "shop_stubs.py")
    assert inspect.signature(shop.Shop.find).return_annotation == "Response[list[FindResultItem]]"
    assert shop.FindResultItem.__required_keys__ == {"name", "size"}
    assert "color" in parameters(shop.Shop.find)
    assert "no_color" not in parameters(shop.Shop.find)  # color=False says that


def test_the_module_comes_on_stdout_as_it_is(tmp_path: Path) -> None:
    """Redirected into a file it is a module, not an envelope around one."""
    places = str(tmp_path)
    env = environment(XDG_STATE_HOME=places, XDG_CACHE_HOME=places)
    words = f"{sys.executable} {tool('tasks_click')[1]}"
    done = run(MURLI, "stubs", words, env=env)
    assert "class Tasks(" in done.out
    assert "AsyncTasks" not in done.out
    compile(done.out, "stubs", "exec")


def test_a_tool_that_does_not_tell_is_an_error(tmp_path: Path) -> None:
    """Without `describe` and `manifest` there is nothing to write."""
    one = fake(tmp_path, Answer(b"usage: tool\n", b"", 1))
    with pytest.raises(NothingKnown, match="does not describe itself"):
        write([str(one.path)])
    done = run(MURLI, "stubs", str(one.path), env=environment(XDG_CACHE_HOME=str(tmp_path)))
    assert (done.code, done.error["field"]) == (1, "tool")


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("dry-run", "dry_run"),
        ("class", "class_"),
        ("None", "None_"),
        ("2fa", "_2fa"),
        ("__init__", "init"),
        ("größe", "gr__e"),
        ("ﬁle", "le"),
        ("", "unnamed"),
        ("--", "unnamed"),
        ("a.b c\n", "a_b_c"),
        ("x); import os #", "x___import_os"),
    ],
)
def test_a_name_is_made_an_identifier(text: str, name: str) -> None:
    """Keywords, dashes, digits, letters that Python folds, and names with a meaning to classes."""
    assert identifier(text) == name
    assert identifier(text).isidentifier()


def test_names_that_become_the_same_stay_apart() -> None:
    """The first has the name, the others one like it; what the module needs is never taken."""
    scope = Scope(("tool",))
    assert [scope.take(each) for each in ("a", "a", "a", "tool", "tool")] == [
        "a",
        "a_",
        "a_2",
        "tool_",
        "tool_2",
    ]
    assert [class_name("a", "b-c"), class_name("2"), class_name("none")] == ["ABC", "C2", "None_"]


def test_flags_keep_their_names_whatever_the_parameter_is_called(tmp_path: Path) -> None:
    """A call says the flag as the tool spells it, also where Python needs another word for it."""
    names = ["from", "self", "stdin", "as_type", "dry_count", "a-b", "a.b", "tuple", "x"]
    flags = [{"name": each, "type": "string"} for each in names]
    arguments = [{"name": "list", "type": "[]string"}]
    command = {"name": "list", "flags": flags, "arguments": arguments}
    answer = Answer(lines(described(command)))
    one = fake(tmp_path, answer, Answer(lines({"status": "ok", "schema_version": "1.0"})))
    source = module(from_description(described(command)), [str(one.path)])
    stubs = loaded(source, tmp_path / "names.py")
    method = stubs.Tool_().list
    taken = [name for name in parameters(method) if name != "list"]
    method(**dict.fromkeys(taken, "v"), list=["1", "2"])
    options = [f"--{each}=v" for each in names]
    assert one.calls[-1] == ["list", *options, "1", "2"]


def test_commands_with_the_names_of_types_and_parts_of_the_module(tmp_path: Path) -> None:
    """A method that is called `list` does not turn every list into itself."""
    names = ["list", "str", "Any", "Response", "tool", "Tool", "int", "print"]
    flags = [{"name": "tag", "type": "[]int"}, {"name": "any", "type": "object"}]
    source = written(*({"name": each, "flags": flags} for each in names))
    stubs = loaded(source, tmp_path / "types.py")
    hints = parameters(stubs.Tool_.str)
    assert hints["tag"] == "_builtins.list[_builtins.int] | tuple[_builtins.int, ...] | None"
    assert hasattr(stubs.Tool_, "Any_")


def test_a_group_that_can_be_called_itself_is_callable() -> None:
    """Its commands are attributes, the group itself is called."""
    inner = {"name": "deep", "subcommands": [{"name": "er"}]}
    arguments = [{"name": "what", "type": "string", "required": True}]
    source = written({"name": "grp", "arguments": arguments, "subcommands": [inner]})
    tree = ast.parse(source)
    classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
    assert list(classes) == ["ToolGrpDeep", "ToolGrp", "Tool_"]
    methods = {name: [each.name for each in _functions(node)] for name, node in classes.items()}
    assert methods["ToolGrp"] == ["__init__", "__call__"]
    assert methods["ToolGrpDeep"] == ["__init__", "er"]


def test_a_tool_of_one_command_is_callable() -> None:
    """What has no commands is one."""
    facts = {"name": "cp", "schema_version": "1.0", "capabilities": {}, "commands": []}
    source = module(from_description(facts), ["cp"])
    assert "def __call__" in source


def _functions(node: ast.ClassDef) -> list[Any]:
    return [each for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))]


# -- texts ---------------------------------------------------------------------------------------

_ANY = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    (NASTY, '"', '""', '"""', "\\", "'''", "\n", "list", "class", "", '"""\nimport os\n"""', "\\x")
)
_FLAG = st.fixed_dictionaries(
    {
        "name": _ANY,
        "type": st.sampled_from(("string", "int", "[]string", "bool", "object")) | _ANY,
        "description": _ANY,
        "enum": st.lists(_ANY, max_size=3),
        "default": _ANY | st.integers() | st.none() | st.lists(_ANY, max_size=2),
        "required": st.booleans(),
        "negation": _ANY,
    }
)
_SCHEMA = st.recursive(
    st.fixed_dictionaries({"type": st.sampled_from(("string", "integer", "null")) | _ANY})
    | st.fixed_dictionaries({"enum": st.lists(_ANY | st.integers() | st.floats(), max_size=3)}),
    lambda inner: (
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "title": _ANY,
                "properties": st.dictionaries(_ANY, inner, max_size=3),
                "required": st.lists(_ANY, max_size=2),
            }
        )
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, max_size=3)})
    ),
    max_leaves=6,
)
_COMMAND = st.recursive(
    st.fixed_dictionaries(
        {
            "name": _ANY,
            "summary": _ANY,
            "flags": st.lists(_FLAG, max_size=3),
            "arguments": st.lists(_FLAG, max_size=2),
            "mutating": st.booleans(),
            "returns": st.fixed_dictionaries({"output_schema": _SCHEMA}),
        }
    ),
    lambda inner: st.fixed_dictionaries(
        {"name": _ANY, "summary": _ANY, "subcommands": st.lists(inner, max_size=3)}
    ),
    max_leaves=4,
)


@examples(60)
@given(st.lists(_COMMAND, min_size=1, max_size=3), _ANY, st.booleans())
def test_whatever_a_tool_says_the_module_does_nothing_else(
    commands: list[dict[str, Any]], name: str, with_async: bool
) -> None:
    """Hostile names and texts stay names and texts: the module has the shape of every other."""
    source = written(*commands, name=name, with_async=with_async)
    source.encode()
    tree = ast.parse(source)
    for node in tree.body:
        _hold_to_shape(node)
    exec(compile(tree, "stubs", "exec"), {"__name__": "stubs"})


def _hold_to_shape(node: ast.stmt) -> None:
    """Fail unless *node* is one of the few things that a written module has."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        modules = {"builtins", "__future__", "typing", "murli.client", "murli.client.stubbed"}
        found = [node.module] if isinstance(node, ast.ImportFrom) else [node.names[0].name]
        assert modules.issuperset(map(str, found))
    elif isinstance(node, ast.Assign):
        assert isinstance(node.value, ast.Call)
        assert ast.unparse(node.value.func) == "TypedDict"
    elif isinstance(node, ast.ClassDef):
        for each in node.body:
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                _hold_body_to_shape(each)
            else:
                assert isinstance(each, ast.AnnAssign) or _is_text(each)
    else:
        assert _is_text(node)


def _hold_body_to_shape(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    called = {
        ast.unparse(each.func)
        for statement in function.body
        for each in ast.walk(statement)
        if isinstance(each, ast.Call)
    }
    if function.name == "__init__":
        assert called >= {"super", "super().__init__"}
        assert len(function.body) == len(called & {"super"}) + sum(
            isinstance(each, ast.Assign) for each in function.body
        )
    else:
        assert called == {"self._call"}
        assert _is_text(function.body[0])
        assert len(function.body) == 2


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_a_text_reads_as_the_tool_wrote_it(tmp_path: Path) -> None:
    """Quotes and backslashes are in the docstring; what a terminal would obey is not."""
    stubs = loaded(written({"name": "go", "summary": NASTY}), tmp_path / "nasty.py")
    said = stubs.Tool_.go.__doc__
    assert 'He said """hi""" \\" \\N{DASH} \\' in said
    assert said.rstrip().endswith('{x} %s " \\')
    assert not {"\x00", "\x1b", "\u202e"} & set(said)


# -- types ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "str"),
        ({"type": ["integer", "null"]}, "int | None"),
        ({"type": "array", "items": {"type": "number"}}, "list[float]"),
        ({"type": "array"}, "list[Any]"),
        ({"type": "object"}, "dict[str, Any]"),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, "dict[str, bool]"),
        ({"enum": ["a", 1, None, True]}, "Literal['a', 1, None, True]"),
        ({"enum": [1.5]}, "Any"),
        ({"const": "x"}, "Literal['x']"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "str | None"),
        ({"anyOf": [{"type": "string"}, {}]}, "Any"),
        ({"allOf": [{"type": "string"}]}, "str"),
        ({"$ref": "#/$defs/N", "$defs": {"N": {"type": "integer"}}}, "int"),
        ({"$ref": "https://example.org/"}, "Any"),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, "Result"),
        ({}, "Any"),
        (True, "Any"),
        ({"type": "never heard of"}, "Any"),
    ],
)
def test_a_simple_schema_is_a_type(schema: Any, kind: str) -> None:
    """What JSON Schema says simply, Python says as well; anything else is `Any`."""
    assert spelled(Types(Scope()).of(schema, "Result")) == kind


def test_an_object_is_a_typed_dict() -> None:
    """Keys that may be missing are told apart; keys that are no names are kept."""
    types = Types(Scope())
    text = {"type": "string"}
    types.of({"type": "object", "properties": {"a": text, "b": text}, "required": ["a"]}, "Some")
    types.of({"type": "object", "properties": {"a-b": text, "class": text}}, "Odd")
    spaces: dict[str, Any] = {}
    exec("from typing import *\n" + "\n".join(types.source), spaces)
    assert (spaces["Some"].__required_keys__, spaces["Some"].__optional_keys__) == ({"a"}, {"b"})
    assert spaces["Odd"].__optional_keys__ == {"a-b", "class"}


def test_a_schema_that_was_made_to_grow_stays_small() -> None:
    """References in a circle, and each to the next twice, end in `Any`."""
    name = "#/$defs/n{}"
    two = {
        f"n{n}": {
            "anyOf": [
                {"type": "array", "items": {"$ref": name.format(n + 1)}},
                {"type": "object", "additionalProperties": {"$ref": name.format((n + 1) % 90)}},
            ]
        }
        for n in range(90)
    }
    started = time.monotonic()
    types = Types(Scope())
    assert len(types.of({"$ref": name.format(0), "$defs": two}, "R")) <= 4000
    deep: Any = {"type": "string"}
    for _ in range(200):
        deep = {"type": ["object", "array"], "properties": {"a": deep}, "items": deep}
    types.of(deep, "Deep")
    assert time.monotonic() - started < 5


# -- what a type checker says --------------------------------------------------------------------

DOCS = REPOSITORY / "docs" / "guides" / "calling.md"
_USE = """
from nasty import Tool_
from shop import Shop
from tasks import AsyncTasks, Tasks

tasks = Tasks()
tasks.task.create(title="x", weight=1, status="todo", tag=["a"], count=2)
tasks.task.create(title="x", weight=1, status="never")  # 1
tasks.task.create(weight=1)  # 2
tasks.task.create("x", weight=1)  # 3
found = Shop().find(words=["tea"], region="eu", level="1")
if found.data is not None:
    size: int = found.data[0]["size"]
    size = found.data[0]["name"]  # 4
async def later() -> None:
    (await AsyncTasks().report()).data
Tool_().go(of="x")
"""


def test_the_module_passes_mypy_strictly(tmp_path: Path) -> None:
    """A type checker finds nothing wrong in it, and what is wrong in calls through it."""
    env = {**os.environ, "MURLI_CONTRACT": "agent-spec-2"}
    schema = {
        "type": "object",
        "title": NASTY,
        "properties": {NASTY: {"enum": [NASTY, 1]}, "list": {"type": "array"}, "b": {}},
    }
    flags = [{"name": "of_", "type": "[]int", "enum": ["1", "2"]}, {"name": NASTY, "type": "int"}]
    nasty: list[dict[str, Any]] = [
        {"name": "go", "flags": [{"name": "of_", "type": "string"}]},
        {"name": "list", "summary": NASTY, "flags": flags, "returns": {"output_schema": schema}},
        {"name": NASTY, "subcommands": [{"name": "str", "flags": flags, "mutating": True}]},
    ]
    sources = {
        "tasks": write(tool("tasks_click"), with_async=True),
        "shop": write(Tool(tool("shop_click"), env=env), with_async=True),
        "nasty": written(*nasty, with_async=True),
        "use": _USE,
        # The first thing a reader tries is right as it stands.
        "first": DOCS.read_text().partition("```python\n")[2].partition("```")[0],
    }
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    cache = REPOSITORY / ".mypy_cache"
    words = ["--strict", "--config-file=", f"--cache-dir={cache}/stubs", "--no-error-summary"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, *(f"{name}.py" for name in sources)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    wrong = [line for line in done.stdout.splitlines() if ": error:" in line]
    numbers = [f"use.py:{n}:" for n, line in enumerate(_USE.splitlines(), 1) if "  # " in line]
    assert [line.partition(" ")[0] for line in wrong] == numbers, done.stdout + done.stderr
