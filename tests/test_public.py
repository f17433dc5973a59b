"""What is public, and what a tool pays for it at start-up."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import murli
from harness import environment, run, script

PUBLIC = """
AgentError ArgumentMetadata CommandCode Deprecation Example ExitCode ExitCodeEntry FlagAnnotation
Metadata Page Paging ProgressEvent ReturnSchema Rule Traits Writer about annotate enable
get_writer load_schema map_exception parse pass_writer program redirect session
set_tool_version untrusted
"""

# What programs may import as well; each is documented with its topic.
IMPORTABLE = """
Batch Completed on_cleanup pipeline run scratch_dir write_file json_value step exit_func
EXIT_CANCELLED EXIT_CONFLICT EXIT_NOT_FOUND EXIT_OK EXIT_PARTIAL EXIT_PERMISSION EXIT_RATE_LIMITED
EXIT_TIMEOUT EXIT_TOOL_ERROR EXIT_USER_ERROR EncodingError ErrorDetail Logger Profile ProfileStore
Redirect ResponseEnvelope ResponseMeta SCHEMA_VERSION VALID_OUTPUT_FORMATS VALID_PROTOCOL_VERSIONS
apply_flag_annotation check_conventions format_agents_md load_profile_store profile_path run_doctor
strip_ansi write_doctor_tty
"""

# The standard library's heavier parts, none of which a piped hello-world may load.
DEAR = {
    "asyncio",
    "copy",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "importlib.metadata",
    "inspect",
    "json",
    "logging",
    "pathlib",
    "random",
    "shutil",
    "subprocess",
    "tempfile",
    "threading",
    "traceback",
    "typing",
    "uuid",
}

HELLO = """
import argparse
import murli
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
murli.enable(parser)
args = parser.parse_args()
murli.get_writer().write_success("Hello", {"hello": args.name})
"""

WITHOUT_MURLI = """
import argparse
parser = argparse.ArgumentParser(prog="hello")
parser.add_argument("--name", default="world")
print(parser.parse_args().name)
"""

# What a hello-world answer may load of murli, and nothing else.
MURLI_PARTS = {
    "murli",
    "murli.adapters",
    "murli.adapters.argparse",
    "murli.contracts",
    "murli.formats",
    "murli.formats.plainer",
    "murli.core",
    "murli.process",
    "murli.process.process_guard",
    "murli.call",
    "murli.call.ending",
    "murli.answer",
}


def test_public_names_are_pinned() -> None:
    """The public names are exactly these, and each resolves."""
    assert murli.__all__ == sorted(PUBLIC.split())
    assert dir(murli) == murli.__all__
    for name in murli.__all__:
        assert getattr(murli, name) is not None, name


def test_the_other_names_are_importable() -> None:
    """Names that are not listed resolve all the same, and type checkers know exactly both."""
    for name in IMPORTABLE.split():
        assert getattr(murli, name) is not None, name
        assert name not in dir(murli)
    known = (Path(murli.__file__).parent / "public.py").read_text()
    typed = set(re.findall(r" as (\w+)$", known, re.MULTILINE))
    assert typed == {*PUBLIC.split(), *IMPORTABLE.split()} - {"exit_func"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A name murli does not have raises AttributeError, as any module does."""
    with pytest.raises(AttributeError, match="no attribute 'enabel'"):
        _ = murli.enabel


def test_star_import_works(tmp_path: Path) -> None:
    """`from murli import *` gives every public name."""
    argv = script(tmp_path, "from murli import *\nprint(Writer, enable, AgentError)\n")
    assert run(argv).code == 0


def _loaded(source: str, *args: str) -> set[str]:
    """Give the modules that running *source* loads, beyond an interpreter without site."""
    report = "\nimport sys; sys.stderr.write('\\n' + '\\n'.join(sys.modules))\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _PATH + source + report, *args],
        capture_output=True,
        env=environment(MURLI_TEST=None),
        text=True,
        check=True,
        timeout=30,
    )
    return set(done.stderr.split())


_PATH = f"import sys; sys.path.insert(0, {str(Path(murli.__file__).parents[1])!r})\n"


def test_importing_murli_loads_nothing_else() -> None:
    """`import murli` loads murli itself and no other module."""
    added = _loaded("import murli") - _loaded("pass")
    assert added == {"murli", "__future__"}


ANNOTATED = HELLO.replace(
    "murli.enable",
    "note = murli.FlagAnnotation(env='HELLO_NAME', profileable=True, pattern='[a-z]+')\n"
    "murli.annotate(parser, murli.Metadata(flag_annotations={'name': note}))\nmurli.enable",
)


def test_an_annotated_flag_loads_nothing_that_describes_the_tool() -> None:
    """What is declared about a flag loads no command tree, no table of flags, no store."""
    added = {name for name in _loaded(ANNOTATED) if name.startswith("murli")}
    assert "murli.adapters.argparse.values" in added
    unused = {"murli.declare.tree", "murli.line.flags", "murli.profiles.store", "murli.errors"}
    assert not added & unused


def test_hello_world_loads_little() -> None:
    """A piped hello-world loads the pinned parts of murli and no dear module."""
    added = _loaded(HELLO) - _loaded(WITHOUT_MURLI)
    assert {name for name in added if name.startswith("murli")} == MURLI_PARTS
    assert not added & DEAR
    assert added - MURLI_PARTS <= {"__future__", "atexit"}


def test_murli_needs_no_framework() -> None:
    """No optional framework or library is loaded by anything a tool does."""
    added = _loaded(
        "import sys; sys.argv[1:] = ['describe']\ntry:\n exec('''" + HELLO + "''')\n"
        "except SystemExit: pass"
    )
    assert not added & {"click", "typer", "rich", "jsonschema", "pydantic", "msgspec", "orjson"}


def test_an_app_of_another_kind_is_refused() -> None:
    """enable, parse and session name what they take, and what they got."""
    for verb in (murli.enable, murli.parse, murli.session):
        with pytest.raises(TypeError, match=r"an argparse\.ArgumentParser, not builtins\.dict"):
            verb({})  # type: ignore[arg-type]


def test_wrong_settings_are_refused() -> None:
    """A contract or a progress stream that does not exist is told when murli is enabled."""
    import argparse

    with pytest.raises(ValueError, match="agent-spec-2"):
        murli.enable(argparse.ArgumentParser(), contract="v3")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="auto, stdout or stderr"):
        murli.enable(argparse.ArgumentParser(), progress_stream="both")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "version"),
    [
        ("murli.enable(p)", "2.0.1"),
        ("murli.enable(p, tool_version='3.0')", "3.0"),
        ("murli.enable(p, tool_version='3.0'); murli.set_tool_version('4.0')", "4.0"),
    ],
)
def test_the_tool_version(tmp_path: Path, line: str, version: str) -> None:
    """The version is the most explicit one: set, given to enable, or the module's own."""
    argv = script(
        tmp_path,
        "import argparse, murli\n__version__ = '2.0.1'\n"
        f"p = argparse.ArgumentParser(); {line}; p.parse_args()\n",
    )
    assert run(argv).document["tool_version"] == version
    assert run(argv, "describe").document["tool_version"] == version


def test_the_wheel_holds_what_it_needs(tmp_path: Path) -> None:
    """The packaged schemas and the type marker are where the package is."""
    package = Path(murli.__file__).parent
    assert (package / "py.typed").exists()
    assert json.loads((package / "schemas" / "murli.json").read_text())
