"""One call, from the scanned command line to its exit code: states, undoing, and who ends it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import click
import pytest

import murli
from harness import run, script
from murli.adapters.click import ENABLED, Call
from murli.call import CallProcess, Invocation, Request, Running
from murli.core import ADMITTED, BEGUN, CONCLUDING, OVER, RUNNING, SCANNED, current

pytestmark = pytest.mark.warm

if TYPE_CHECKING:
    from pathlib import Path


def made(*words: str, contract: Any = "murli") -> Invocation:
    @click.command()
    def tool() -> None:
        pass

    murli.enable(tool, contract=contract)
    enabled = getattr(tool, ENABLED)
    return Invocation(Call(enabled, tool, {}), enabled.settings, list(words), io.StringIO())


def test_a_call_has_named_states() -> None:
    """A call is scanned, begun, admitted and running, concluding, and over, in that order."""
    states = [SCANNED, BEGUN, ADMITTED, RUNNING, CONCLUDING, OVER]
    assert states == sorted(set(states))
    around, invocation = current(), made()
    assert invocation.state == SCANNED
    assert invocation.begin() is invocation and invocation.state == BEGUN
    invocation.admit(None)
    assert invocation.state == RUNNING
    seen: list[int] = []
    invocation.undo.append(lambda: seen.append(invocation.state))
    assert invocation.finish(None, returned={"a": 1}, restore=True) == 0
    assert (invocation.state, seen, current()) == (OVER, [CONCLUDING], around)


def test_what_is_put_in_place_is_undone_in_reverse() -> None:
    """What was put in place last is undone first; what lasts is undone at the very end."""
    done: list[str] = []
    invocation = made()
    invocation.undo.append(lambda: done.append("first"))
    invocation.process.undo.append(lambda: done.append("lasts"))
    invocation.undo.append(lambda: done.append("second"))
    invocation.process.undo.append(lambda: done.append("lasts too"))
    invocation.undo_all()
    assert done == ["second", "first"]
    invocation.stop_watching()
    assert done[2:] == ["lasts too", "lasts"]
    invocation.stop_watching()
    assert len(done) == 4


def test_no_constructor_ends_the_process() -> None:
    """A call in a contract that does not exist can be made; it is refused when it begins."""
    around, invocation = current(), made("--contract", "agent-spec-10")
    assert invocation.request.unknown_contract == "agent-spec-10"
    with pytest.raises(SystemExit) as ended:
        invocation.begin()
    assert (ended.value.code, invocation.writer._reply.answered, current()) == (1, True, around)


def test_the_parts_of_a_call_stay_small() -> None:
    """None of the objects that a call consists of has more than 35 members."""
    invocation = made()
    parts = (invocation, invocation.request, invocation.running, invocation.process)
    assert [type(part) for part in parts] == [Invocation, Request, Running, CallProcess]
    for part in (*parts, invocation.extras):
        names = {name for name in dir(part) if not name.startswith("__")}
        assert len(names) <= 35, (type(part).__name__, sorted(names))


def test_a_call_of_many_is_a_call_of_its_own(tmp_path: Path) -> None:
    """What a call of exec is told stays with it: the next one begins as if it were the first."""
    source = (
        "import click, murli\n"
        "@click.group(name='tool')\ndef tool(): pass\n"
        "@tool.command()\n@click.option('--name')\n"
        "def hello(name):\n"
        "    murli.get_writer().warn('told', f'warned {name}')\n"
        "    murli.get_writer().write_success('', {'hello': name})\n"
        "murli.enable(tool, contract='agent-spec-2')\ntool()\n"
    )
    requests = b'{"_cmd": "hello", "name": "one"}\n{"_cmd": "hello", "name": "two"}\n'
    lines = run(script(tmp_path, source), "exec", stdin=requests).lines
    assert [line["data"] for line in lines] == [{"hello": "one"}, {"hello": "two"}]
    assert [[each["message"] for each in line["warnings"]] for line in lines] == [
        ["warned one"],
        ["warned two"],
    ]
    assert lines[0]["meta"]["request_id"] != lines[1]["meta"]["request_id"]


LOOKING_BACK = """
import atexit, sys
atexit.register(lambda: print([type(each).__name__ for each in sys.meta_path], file=sys.stderr))
import click, murli
before = [type(each).__name__ for each in sys.meta_path]
@click.command()
def hello():
    print('noticed' if len(sys.meta_path) > len(before) else 'not')
murli.enable(hello)
hello()
"""


def test_an_answered_call_notices_no_module_any_more(tmp_path: Path) -> None:
    """What a program loads behind its answer, Python finds without murli, which lets go of it."""
    done = run(script(tmp_path, LOOKING_BACK))
    assert done.document["result"] == "noticed"
    assert "CallProcess" not in done.err and "Finder" in done.err
