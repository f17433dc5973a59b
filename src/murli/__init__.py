"""murli makes command-line tools speak natively to AI agents, and leaves people their terminal.

::

    import argparse, murli

    parser = argparse.ArgumentParser(prog="greet")
    parser.add_argument("name")
    murli.enable(parser)  # a click.Command, a click.Group or a typer.Typer as well
    args, writer = murli.parse(parser)
    if args.name == "nobody":
        raise murli.AgentError.not_found("There is no such person.", "Name somebody else.")
    writer.write_success(f"Hello, {args.name}!", {"greeted": args.name})

At a terminal that prints a line; into a pipe it writes one JSON document, and a failure has an exit
code and advice. `enable` is the one call a tool needs, `Writer` answers, `AgentError` fails,
`about` declares what a command does. Names are resolved when they are first used,
so that a tool pays for what it uses.
"""

from __future__ import annotations

import sys as _sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .public import *  # noqa: F403

__version__ = "0.2.0"

# What ends the program after an answer; tests replace it to see the code.
exit_func = _sys.exit

# Where each name lives, in one text because every entry of a table is paid for at start-up.
_HOMES = """
adapters enable
adapters.handlers pass_writer
adapters.program program
answer Writer get_writer
api parse session
core set_tool_version
declare FlagAnnotation Metadata about annotate
declare.declarations Deprecation Paging Rule
declare.described ArgumentMetadata Example ReturnSchema
declare.exit_codes CommandCode ExitCode ExitCodeEntry
declare.redirects redirect
declare.traits Traits
declare.untrusted untrusted
errors AgentError
failures map_exception
outcome Page ProgressEvent
schemas load_schema
"""
# Names that may be imported too, and are documented with their topics; `dir` does not list them.
_MORE_HOMES = """
answer.logger Logger
commands.agents_md format_agents_md
commands.doctor.conventions check_conventions
commands.doctor run_doctor write_doctor_tty
commands.schema apply_flag_annotation
contracts SCHEMA_VERSION VALID_PROTOCOL_VERSIONS
contracts.envelope ErrorDetail Redirect ResponseEnvelope ResponseMeta
errors EXIT_CANCELLED EXIT_CONFLICT EXIT_NOT_FOUND EXIT_OK EXIT_PARTIAL EXIT_PERMISSION
errors EXIT_RATE_LIMITED EXIT_TIMEOUT EXIT_TOOL_ERROR EXIT_USER_ERROR EncodingError
handlers.files scratch_dir write_file
formats VALID_OUTPUT_FORMATS
formats.text strip_ansi
handlers.batch Batch
handlers.cleanup on_cleanup
handlers.lenient_json json_value
handlers.processes Completed pipeline run
handlers.steps step
profiles.store Profile ProfileStore load_profile_store profile_path
"""


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    for homes in (_HOMES, _MORE_HOMES):
        at = max(homes.find(f" {name} "), homes.find(f" {name}\n"))
        if at > 0:
            home = homes[homes.rfind("\n", 0, at) + 1 : at].partition(" ")[0]
            value: object = getattr(__import__(f"{__name__}.{home}", None, None, [name]), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'murli' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(name for line in _HOMES.splitlines() for name in line.split()[1:])
