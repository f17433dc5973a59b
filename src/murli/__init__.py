"""murli makes command-line tools speak natively to AI agents, and leaves people their terminal.

Public names are resolved when they are first used, so that a tool pays for what it uses.
"""

from __future__ import annotations

import sys as _sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .adapters import enable as enable
    from .api import get_writer as get_writer
    from .api import parse as parse
    from .api import pass_writer as pass_writer
    from .api import session as session
    from .asides import Page as Page
    from .asides import ProgressEvent as ProgressEvent
    from .batch import Batch as Batch
    from .cleanup import on_cleanup as on_cleanup
    from .commands.agents_md import format_agents_md as format_agents_md
    from .commands.conventions import check_conventions as check_conventions
    from .commands.doctor import run_doctor as run_doctor
    from .commands.doctor import write_doctor_tty as write_doctor_tty
    from .commands.schema import apply_flag_annotation as apply_flag_annotation
    from .contracts import SCHEMA_VERSION as SCHEMA_VERSION
    from .contracts.envelope import ErrorDetail as ErrorDetail
    from .contracts.envelope import Redirect as Redirect
    from .contracts.envelope import ResponseEnvelope as ResponseEnvelope
    from .contracts.envelope import ResponseMeta as ResponseMeta
    from .declarations import Deprecation as Deprecation
    from .declarations import Paging as Paging
    from .declarations import Rule as Rule
    from .errors import EXIT_CANCELLED as EXIT_CANCELLED
    from .errors import EXIT_CONFLICT as EXIT_CONFLICT
    from .errors import EXIT_NOT_FOUND as EXIT_NOT_FOUND
    from .errors import EXIT_OK as EXIT_OK
    from .errors import EXIT_PARTIAL as EXIT_PARTIAL
    from .errors import EXIT_PERMISSION as EXIT_PERMISSION
    from .errors import EXIT_RATE_LIMITED as EXIT_RATE_LIMITED
    from .errors import EXIT_TIMEOUT as EXIT_TIMEOUT
    from .errors import EXIT_TOOL_ERROR as EXIT_TOOL_ERROR
    from .errors import EXIT_USER_ERROR as EXIT_USER_ERROR
    from .errors import AgentError as AgentError
    from .errors import EncodingError as EncodingError
    from .exit_codes import CommandCode as CommandCode
    from .exit_codes import ExitCode as ExitCode
    from .exit_codes import ExitCodeEntry as ExitCodeEntry
    from .files import scratch_dir as scratch_dir
    from .files import write_file as write_file
    from .formats.text import strip_ansi as strip_ansi
    from .lenient_json import json_value as json_value
    from .logger import Logger as Logger
    from .metadata import ArgumentMetadata as ArgumentMetadata
    from .metadata import Example as Example
    from .metadata import FlagAnnotation as FlagAnnotation
    from .metadata import Metadata as Metadata
    from .metadata import ReturnSchema as ReturnSchema
    from .metadata import annotate as annotate
    from .processes import Completed as Completed
    from .processes import pipeline as pipeline
    from .processes import run as run
    from .profiles.store import Profile as Profile
    from .profiles.store import ProfileStore as ProfileStore
    from .profiles.store import load_profile_store as load_profile_store
    from .profiles.store import profile_path as profile_path
    from .redirects import redirect as redirect
    from .runtime import set_tool_version as set_tool_version
    from .runtime.mapping import map_exception as map_exception
    from .schemas import load_schema as load_schema
    from .steps import step as step
    from .traits import Traits as Traits
    from .untrusted import untrusted as untrusted
    from .writer import VALID_OUTPUT_FORMATS as VALID_OUTPUT_FORMATS
    from .writer import VALID_PROTOCOL_VERSIONS as VALID_PROTOCOL_VERSIONS
    from .writer import Writer as Writer

__version__ = "0.1.0"

# What ends the program after an answer; tests replace it to see the code.
exit_func = _sys.exit

_HOME = {
    "AgentError": "errors",
    "ArgumentMetadata": "metadata",
    "Batch": "batch",
    "CommandCode": "exit_codes",
    "Completed": "processes",
    "Deprecation": "declarations",
    "EXIT_CANCELLED": "errors",
    "EXIT_CONFLICT": "errors",
    "EXIT_NOT_FOUND": "errors",
    "EXIT_OK": "errors",
    "EXIT_PARTIAL": "errors",
    "EXIT_PERMISSION": "errors",
    "EXIT_RATE_LIMITED": "errors",
    "EXIT_TIMEOUT": "errors",
    "EXIT_TOOL_ERROR": "errors",
    "EXIT_USER_ERROR": "errors",
    "EncodingError": "errors",
    "ErrorDetail": "contracts.envelope",
    "Example": "metadata",
    "ExitCode": "exit_codes",
    "ExitCodeEntry": "exit_codes",
    "FlagAnnotation": "metadata",
    "Logger": "logger",
    "Metadata": "metadata",
    "Page": "asides",
    "Paging": "declarations",
    "Profile": "profiles.store",
    "ProfileStore": "profiles.store",
    "ProgressEvent": "asides",
    "Redirect": "contracts.envelope",
    "ResponseEnvelope": "contracts.envelope",
    "ResponseMeta": "contracts.envelope",
    "ReturnSchema": "metadata",
    "Rule": "declarations",
    "SCHEMA_VERSION": "contracts",
    "Traits": "traits",
    "VALID_OUTPUT_FORMATS": "writer",
    "VALID_PROTOCOL_VERSIONS": "writer",
    "Writer": "writer",
    "annotate": "metadata",
    "apply_flag_annotation": "commands.schema",
    "check_conventions": "commands.conventions",
    "enable": "adapters",
    "format_agents_md": "commands.agents_md",
    "get_writer": "api",
    "json_value": "lenient_json",
    "load_profile_store": "profiles.store",
    "load_schema": "schemas",
    "map_exception": "runtime.mapping",
    "on_cleanup": "cleanup",
    "parse": "api",
    "pass_writer": "api",
    "pipeline": "processes",
    "profile_path": "profiles.store",
    "redirect": "redirects",
    "run": "processes",
    "run_doctor": "commands.doctor",
    "scratch_dir": "files",
    "session": "api",
    "set_tool_version": "runtime",
    "step": "steps",
    "strip_ansi": "formats.text",
    "untrusted": "untrusted",
    "write_doctor_tty": "commands.doctor",
    "write_file": "files",
}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted([*_HOME, "exit_func"])
    if name not in _HOME:
        raise AttributeError(f"module 'murli' has no attribute {name!r}")
    home = __import__(f"{__name__}.{_HOME[name]}", None, None, [name])
    value: object = getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOME, "exit_func"])
