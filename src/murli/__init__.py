"""murli makes command-line tools speak natively to AI agents, and leaves people their terminal.

Public names are resolved when they are first used, so that a tool pays for what it uses.
"""

from __future__ import annotations

import sys as _sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .public import *  # noqa: F403

__version__ = "0.1.0"

# What ends the program after an answer; tests replace it to see the code.
exit_func = _sys.exit

# Where each public name lives, in one text because every entry of a table is paid for at start-up.
_HOMES = """\
adapters enable
adapters.program program
api get_writer parse pass_writer session
asides Page ProgressEvent
batch Batch
cleanup on_cleanup
commands.agents_md format_agents_md
commands.conventions check_conventions
commands.doctor run_doctor write_doctor_tty
commands.schema apply_flag_annotation
contracts SCHEMA_VERSION
contracts.envelope ErrorDetail Redirect ResponseEnvelope ResponseMeta
declarations Deprecation Paging Rule
errors AgentError EXIT_CANCELLED EXIT_CONFLICT EXIT_NOT_FOUND EXIT_OK EXIT_PARTIAL EXIT_PERMISSION
errors EXIT_RATE_LIMITED EXIT_TIMEOUT EXIT_TOOL_ERROR EXIT_USER_ERROR EncodingError
exit_codes CommandCode ExitCode ExitCodeEntry
files scratch_dir write_file
formats.text strip_ansi
lenient_json json_value
logger Logger
metadata ArgumentMetadata Example FlagAnnotation Metadata ReturnSchema annotate
processes Completed pipeline run
profiles.store Profile ProfileStore load_profile_store profile_path
redirects redirect
runtime set_tool_version
runtime.mapping map_exception
schemas load_schema
steps step
traits Traits
untrusted untrusted
writer VALID_OUTPUT_FORMATS VALID_PROTOCOL_VERSIONS Writer
"""


def __getattr__(name: str) -> object:
    if name == "__all__":
        return __dir__()
    for line in _HOMES.splitlines():
        home, *names = line.split()
        if name in names:
            value: object = getattr(__import__(f"{__name__}.{home}", None, None, [name]), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'murli' has no attribute {name!r}")


def __dir__() -> list[str]:
    names = [name for line in _HOMES.splitlines() for name in line.split()[1:]]
    return sorted([*names, "exit_func"])
