"""Tools as real authors write them: found by attacking the adapter, kept so that it holds."""

from __future__ import annotations

import argparse
import enum
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import murli
from harness import environment, run, run_at_terminal, script
from in_process import listening, make

pytestmark = pytest.mark.warm

HEAD = (
    "import argparse, atexit, json, os, sys\nimport murli\np = argparse.ArgumentParser(prog='t')\n"
)


def program(tmp_path: Path, *lines: str) -> list[str]:
    return script(tmp_path, HEAD + "\n".join(lines) + "\n")


# -- the guard ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            "l.add_argument('--yes', dest='answer', action='store_const', const='yes');"
            "l.add_argument('--no', dest='answer', action='store_const', const='no')",
            ["--no"],
        ),
        (
            "l.add_argument('--dry-run', dest='mode', action='store_const', const='dry',"
            " default='real')",
            [],
        ),
        ("l.add_argument('--force', choices=['never', 'always'], default='never')", []),
        ("l.add_argument('--force', choices=['never', 'always'])", ["--force", "always"]),
        ("l.add_argument('--force', action='count')", []),
        ("l.add_argument('--cmd', nargs=argparse.REMAINDER)", ["--cmd", "rm", "--force", "x"]),
        (
            "l.add_argument('cmd'); l.add_argument('rest', nargs=argparse.REMAINDER)",
            ["rm", "--force", "/x"],
        ),
        ("l.add_argument('--peek', action=Peek, nargs=0)", ["--peek"]),
        ("l.add_argument('--note')", ["--note", "--force", "x"]),
    ],
)
def test_nothing_but_intent_opens_the_guard(tmp_path: Path, options: str, words: list[str]) -> None:
    """Neither a default, another switch, another program's flag nor a look-up means intent."""
    argv = program(
        tmp_path,
        "class Peek(argparse.Action):",
        "    def __call__(self, *a, **k): s.choices['list'].format_usage()",
        "s = p.add_subparsers(dest='command'); l = s.add_parser('delete'); s.add_parser('list')",
        options,
        "murli.annotate(l, murli.Metadata(mutating=True)); murli.enable(p)",
        "p.parse_args(); print('RAN')",
    )
    done = run(argv, "delete", *words)
    assert (done.code, done.out) == (1, "")
    assert "RAN" not in done.err


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("action='store_true'", ["--force"]),
        ("action='store_true'", ["-f"]),
        ("action='count'", ["-ff"]),
        ("action=argparse.BooleanOptionalAction", ["--force"]),
    ],
)
def test_own_force_is_intent(tmp_path: Path, option: str, words: list[str]) -> None:
    """A command's own --force counts however it is defined and spelled."""
    argv = program(
        tmp_path,
        f"p.add_argument('-f', '--force', {option})",
        "murli.annotate(p, murli.Metadata(mutating=True)); murli.enable(p)",
        "p.parse_args(); print('RAN')",
    )
    assert run(argv, *words).document["result"] == "RAN"


def test_intent_is_found_in_any_namespace(tmp_path: Path) -> None:
    """A parser that returns a dict keeps its own --force."""
    argv = program(
        tmp_path,
        "class P(argparse.ArgumentParser):",
        "    def parse_args(self, *a, **k): return vars(super().parse_args(*a, **k))",
        "p = P(); p.add_argument('--force', action='store_true')",
        "murli.annotate(p, murli.Metadata(mutating=True)); murli.enable(p)",
        "print(p.parse_args())",
    )
    assert run(argv, "--force").document["result"] == "{'force': True}"
    assert run(argv).code == 1


# -- endings -----------------------------------------------------------------------------------


def test_a_crash_behind_the_tools_own_hook_is_a_crash(tmp_path: Path) -> None:
    """A tool that installs its own excepthook after parsing does not look successful."""
    argv = program(
        tmp_path,
        "murli.enable(p); p.parse_args()",
        "sys.excepthook = lambda *a: None",
        "print('partial'); raise ValueError('boom')",
    )
    done = run(argv)
    assert (done.code, done.out, done.error["code"]) == (1, "", 1)
    # A person sees what that hook shows, and nothing else.
    person = run(argv, env=environment(MURLI_MODE="human"))
    assert (person.code, person.out, person.err) == (1, "partial\n", "")


@pytest.mark.parametrize("way", ["os._exit(3)", "sys.exit(3)", "raise SystemExit(3)"])
def test_every_exit_is_told(tmp_path: Path, way: str) -> None:
    """A hard exit is answered like a soft one, with what was printed by then."""
    argv = program(tmp_path, "murli.enable(p); p.parse_args()", "print('so far')", way)
    done = run(argv)
    assert (done.code, done.error["code"], done.error["result"]) == (3, 3, "so far")


def test_another_program_in_our_place_is_heard(tmp_path: Path) -> None:
    """A tool that ends in exec loses neither its own output nor the other program's."""
    argv = program(
        tmp_path,
        "murli.enable(p); p.parse_args()",
        "print('before', flush=True); os.execvp('echo', ['echo', 'after'])",
    )
    done = run(argv)
    assert (done.out, done.code) == ("before\nafter\n", 0)


@pytest.mark.parametrize("way", ["sys.exit(3)", "raise SystemExit(3)"])
def test_cleanup_happens_under_every_contract(tmp_path: Path, way: str) -> None:
    """A contract's own exit code costs the tool neither its files nor its atexit functions."""
    argv = program(
        tmp_path,
        "atexit.register(lambda: open('at-exit', 'w').close())",
        "murli.enable(p); p.parse_args()",
        "f = open('data', 'w'); f.write('important')",
        way,
    )
    done = run(argv, env=environment(MURLI_CONTRACT="response"), cwd=tmp_path)
    assert (done.code, done.document["ok"]) == (1, False)
    assert (tmp_path / "data").read_text() == "important"
    assert (tmp_path / "at-exit").exists()


@pytest.mark.skipif(sys.version_info[:2] == (3, 12), reason="3.12 cannot fork at exit")
def test_cleanup_happens_when_the_answer_is_lost(tmp_path: Path) -> None:
    """A full disk under stdout does not keep the tool from its cleanup."""
    argv = program(
        tmp_path,
        "atexit.register(lambda: open('at-exit', 'w').close())",
        "murli.enable(p); p.parse_args(); print('x')",
    )
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            argv, stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, env=environment(), check=False
        )
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"] == "output_failed"
    assert (tmp_path / "at-exit").exists()


def test_the_authors_hook_learns_of_a_crash(tmp_path: Path) -> None:
    """A crash reporter installed before still runs; what it prints is not beside the answer."""
    argv = program(
        tmp_path,
        f"def hook(*a): open({str(tmp_path / 'reported')!r}, 'w').close(); sys.__excepthook__(*a)",
        "sys.excepthook = hook",
        "murli.enable(p); p.parse_args(); raise ValueError('boom')",
    )
    done = run(argv, cwd=tmp_path)
    assert (done.code, json.loads(done.err)["message"]) == (2, "boom")
    assert (tmp_path / "reported").exists()
    shown = run_at_terminal(argv)
    assert "Traceback" in shown.err
    assert shown.code == 2


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ("try: sys.exit(3)\nexcept SystemExit as e:\n    e.code = 4; raise", 4),
        ("sys.exit(2 ** 64)", 255),
        ("sys.exit('')", 1),
        ("p.exit(3, 'disk full\\n')", 3),
    ],
)
def test_odd_exits(tmp_path: Path, lines: str, code: int) -> None:
    """An exit that is changed on the way, too large, or empty, has its code and a message."""
    done = run(program(tmp_path, "murli.enable(p); p.parse_args()", lines))
    assert (done.code, done.error["code"]) == (code, code)
    assert done.error["message"]
    assert done.err.startswith("{"), "no text beside the document"


def test_exits_cross_processes(tmp_path: Path) -> None:
    """A worker process that exits tells its parent, and its text is not lost."""
    argv = program(
        tmp_path,
        "import multiprocessing, concurrent.futures",
        "def work(): sys.exit(3)",
        "if __name__ == '__main__':",
        "    murli.enable(p); p.parse_args()",
        "    fork = multiprocessing.get_context('fork')",
        "    with concurrent.futures.ProcessPoolExecutor(1, mp_context=fork) as pool:",
        "        try: pool.submit(work).result()",
        "        except SystemExit as e: print('worker', e.code, flush=True)",
        "    if os.fork() == 0: sys.exit('child says why')",
        "    os.wait()",
    )
    done = run(argv)
    assert done.document["result"] == "worker 3"
    assert done.err == "child says why\n"


def test_two_parses_one_answer(tmp_path: Path) -> None:
    """A tool that parses in two steps answers once."""
    argv = program(
        tmp_path,
        "p.add_argument('--config'); murli.enable(p); p.parse_known_args()",
        "p.add_argument('--level', type=int); print(p.parse_args().level)",
    )
    assert run(argv, "--level", "3").document["result"] == "3"
    done = run(argv, "--level", "x")
    assert (done.code, json.loads(done.err)["field"]) == (1, "level")


# -- streams -----------------------------------------------------------------------------------


def test_a_file_in_the_place_of_stdout_is_not_ours(tmp_path: Path) -> None:
    """With stdout closed, a file the tool opened before parsing keeps its own content."""
    argv = program(
        tmp_path,
        "f = open('user.txt', 'w')",
        "murli.enable(p); p.parse_args(); f.write('precious'); f.close()",
    )
    done = run(["sh", "-c", 'exec "$@" >&-', "sh", *argv], cwd=tmp_path)
    assert (tmp_path / "user.txt").read_text() == "precious"
    assert (done.code, done.error["error"]) == (2, "output_failed")


def test_a_closed_stderr_does_not_become_stdout(tmp_path: Path) -> None:
    """With stderr closed nothing is written behind the document."""
    argv = program(
        tmp_path,
        "atexit.register(lambda: os.write(1, b'late'))",
        "murli.enable(p); p.parse_args(); print('x')",
    )
    done = run(["sh", "-c", 'exec "$@" 2>&-', "sh", *argv])
    assert done.document["result"] == "x"


def test_a_wrapped_stdout_is_still_stdout(tmp_path: Path) -> None:
    """A tool that wraps sys.stdout before parsing, or changes argv, is answered for."""
    argv = program(
        tmp_path,
        "import io; sys.stdout = io.TextIOWrapper(sys.stdout.buffer, 'utf-8')",
        "p.add_argument('x'); murli.enable(p); a = p.parse_args(['run'] + sys.argv[1:])",
        "print(a.x); raise murli.AgentError.conflict('c')",
    )
    done = run(argv)
    assert (done.code, done.out, done.error["result"]) == (7, "", "run")


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("os.write(1, b'\\x00\\xff')", {"type": "binary", "encoding": "base64", "value": "AP8=",
                                        "size_bytes": 2}),
        ("sys.stdout.reconfigure(encoding='latin-1'); print('caf\\xe9')", "café"),
        ("print('before', flush=True); os.system('echo after > /dev/stdout')", "before\nafter"),
        ("os.closerange(3, 256); print('x')", None),
    ],
)  # fmt: skip
def test_odd_output(tmp_path: Path, line: str, result: Any) -> None:
    """Binary, other encodings and children that reopen stdout give one document."""
    done = run(program(tmp_path, "murli.enable(p); p.parse_args()", line))
    if result is None:
        assert (done.code, done.error["error"]) == (2, "output_failed")
    else:
        assert done.document["result"] == result


# -- parsing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "words", "error"),
    [
        ("p.add_argument('f', type=lambda f: open(f))", ["/no/such"], "not_found"),
        ("p.exit_on_error = False; p.add_argument('--n', type=int)", ["--n", "x"], "flag_error"),
    ],
)
def test_what_parsing_raises_is_answered(
    tmp_path: Path, lines: str, words: list[str], error: str
) -> None:
    """An exception out of the parser itself is a document, also in a session."""
    for end in ("p.parse_args()", "\nwith murli.session(p): pass"):
        done = run(program(tmp_path, lines, f"murli.enable(p); {end}"), *words)
        assert (done.out, done.error["error"]) == ("", error)


def test_a_parser_with_more_parameters() -> None:
    """A parser class whose methods take more than argparse's keeps them."""

    class Configured(argparse.ArgumentParser):
        def parse_args(self, args: Any = None, namespace: Any = None, **more: Any) -> Any:
            return self.parse_known_args(args, namespace, contents="n=3")[0]

        def parse_known_args(
            self, args: Any = None, namespace: Any = None, contents: str = ""
        ) -> Any:
            parsed, extras = super().parse_known_args(args, namespace)
            parsed.contents = contents
            return parsed, extras

    parser = Configured(prog="t")
    murli.enable(parser)
    with listening():
        assert parser.parse_args(["--agent"]).contents == "n=3"


def test_an_error_method_that_raises_is_obeyed() -> None:
    """An author's error() that raises keeps the tool in control."""

    class Throwing(argparse.ArgumentParser):
        def error(self, message: str) -> Any:
            raise LookupError(message)

    parser = Throwing(prog="t")
    murli.enable(parser)
    with listening(), pytest.raises(LookupError):
        parser.parse_args(["--bad"])


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["--color", "--agent", "x"], {"color": "auto", "x": "x"}),
        (["--files", "a", "--agent", "x"], {"files": ["a"], "x": "x"}),
        (["--profile", "d", "x"], {"profile_dir": "d", "x": "x"}),
        (["--agent", "bob", "x"], {"agent_name": "bob", "x": "x"}),
        (["-vn", "describe", "x"], {"v": 1, "n": "describe", "x": "x"}),
        (["--agent=bob", "x"], {"agent_name": "bob", "x": "x"}),
    ],
)
def test_values_stay_where_they_belong(words: list[str], wanted: dict[str, Any]) -> None:
    """Taking our flags out neither joins values nor steals what was the tool's before."""
    parser = make()
    parser.add_argument("--color", nargs="?", const="auto")
    parser.add_argument("--files", nargs="*")
    parser.add_argument("--profile-dir")
    parser.add_argument("--agent-name" if "--agent" in words[0] else "--name")
    parser.add_argument("-v", action="count")
    parser.add_argument("-n")
    parser.add_argument("x", nargs="?")
    with listening() as said:
        found = vars(parser.parse_args(words))
    assert said.code == 0, said.err.getvalue()
    assert {name: found[name] for name in wanted} == wanted
    assert "--murli-separator" not in parser.format_help()


def test_a_forwarder_keeps_what_it_forwards() -> None:
    """parse_known_args leaves flags that may be meant for another program."""
    parser = make()
    words = ["--output", "file.txt", "--force", "--dry-run", "--profile", "x", "--agent"]
    with listening():
        assert parser.parse_known_args(words)[1] == words[:-1]


def test_files_of_arguments(tmp_path: Path) -> None:
    """Our flags count inside an argument file too."""
    (tmp_path / "args").write_text("--force\ndelete\n")
    parser = argparse.ArgumentParser(prog="t", fromfile_prefix_chars="@")
    parser.add_argument("what")
    murli.annotate(parser, murli.Metadata(mutating=True))
    murli.enable(parser)
    with listening() as said:
        assert parser.parse_args([f"@{tmp_path / 'args'}"]).what == "delete"
    with listening() as said:
        parser.parse_args(["@/no/such"])
    assert (said.code, said.error["error"]) == (1, "flag_error")


def test_other_prefix_characters() -> None:
    """Where dashes are no options, a word with dashes is a word."""
    parser = argparse.ArgumentParser(prog="t", prefix_chars="+")
    parser.add_argument("text")
    murli.enable(parser)
    with listening():
        assert parser.parse_args(["--force"]).text == "--force"


def test_prints_while_parsing_do_not_spoil_the_document(tmp_path: Path) -> None:
    """What an action prints is part of the answer, or is the answer when it exits."""
    argv = program(
        tmp_path,
        "class Say(argparse.Action):",
        "    def __call__(self, *a, **k): print('old flag', flush=True)",
        "class List(argparse.Action):",
        "    def __call__(self, parser, *a, **k): print('[1, 2]'); parser.exit()",
        "p.add_argument('--old', action=Say, nargs=0); p.add_argument('--list', action=List,"
        " nargs=0); p.add_argument('--version', action='version', version='t 1.2')",
        "murli.enable(p); p.parse_args(); print('done')",
    )
    assert run(argv, "--old").document["result"] == "old flag\ndone"
    assert run(argv, "--list").document["result"] == [1, 2]
    assert run(argv, "--version").out == "t 1.2\n"
    assert run(argv, "--help").out.startswith("usage: t")


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


def _percent(text: str) -> int:
    if not 0 <= int(text) <= 100:
        raise argparse.ArgumentTypeError("must be between 0 and 100; 50 is half.")
    return int(text)


@pytest.mark.parametrize(
    ("words", "message", "values"),
    [
        (
            ["--percent", "500"],
            'Invalid value "500" for --percent: must be between 0 and 100; 50 is half.',
            None,
        ),
        (["--size", "x"], 'Invalid value "x" for --size.', ["s", "l"]),
        (["--port", "0"], 'Invalid value "0" for --port.', None),
        (["-xz"], "Unknown option -z.", None),
    ],
)
def test_the_authors_words_are_kept(words: list[str], message: str, values: Any) -> None:
    """What a type says about a value is told, enums list their values, huge ranges do not."""
    parser = make()
    parser.add_argument("--percent", type=_percent)
    parser.add_argument("--size", type=Size, choices=list(Size))
    parser.add_argument("--port", type=int, choices=range(1, 65536))
    parser.add_argument("-x", action="store_true")
    with listening() as said:
        parser.parse_args(words)
    assert (said.error["message"], said.error.get("valid_values")) == (message, values)
    with listening() as said:
        parser.parse_args(["describe"])
    flags = {flag["name"]: flag for flag in said.document["flags"]}
    assert (flags["size"]["enum"], flags["port"].get("enum")) == (["s", "l"], None)


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("1.2.3 (Python 3.11)", "1.2.3"),
        ("%(prog)s v2.1 build 7", "2.1"),
        (1.0, "1.0"),
        ("seven", ""),
        ("tool 7", "7"),
    ],
)
def test_versions_as_authors_write_them(version: Any, found: str) -> None:
    """The tool's version is found in what --version says."""
    parser = make()
    parser.add_argument("--version", action="version", version=version)
    with listening() as said, murli.session(parser, []):
        pass
    assert said.document["tool_version"] == found


def test_descriptions_as_authors_write_them() -> None:
    """Percent signs, constants and containers that cannot be looped over are described."""

    class Anything:
        def __contains__(self, value: object) -> bool:
            return True

    parser = argparse.ArgumentParser(prog="t", description="100%% of %(prog)s")
    parser.add_argument("--level", action="store_const", const=3, default=1)
    parser.add_argument("--any", choices=Anything(), metavar="ANY")  # type: ignore[arg-type]
    parser.add_argument("--color", action=argparse.BooleanOptionalAction, default=True)
    murli.enable(parser)
    with listening() as said:
        parser.parse_args(["describe"])
    assert said.document["summary"] == "100% of t"
    assert [(f["type"], f.get("default", ...)) for f in said.document["flags"]] == [
        ("bool", ...),
        ("string", ...),
        ("bool", True),
    ]
    assert said.document["flags"][2]["negation"] == "no-color"
    with listening() as said:
        parser.parse_args(["describe", "--help"])
    assert said.out.getvalue().startswith("usage: t describe")
