"""All checks in one table: id, title, level, contracts, requirements and function.

Ids never change: profiles and reports name them. Two checks with the same function ask the same
question under two contracts, and may differ in level and requirements.
"""

# One line per check, however long: the table is read by column.
# ruff: noqa: E501

from __future__ import annotations

from ..judging import Check, Look
from ..results import CONTRACTS
from ..target import ENVELOPES, NONE
from . import (
    answers,
    describing,
    envelopes,
    errors,
    formats,
    lists,
    manifests,
    mistakes,
    process,
    safety,
    schemas,
    streaming,
)

MURLI = CONTRACTS[:1]
#: the revisions of the envelope in which meta describes the call, and the last of them
LATER = ENVELOPES[1:]
NEWEST = ENVELOPES[2:]
#: for checks that apply also to tools without a contract
ANY = (*CONTRACTS, NONE)
MURLI_OR_NONE = (*MURLI, NONE)
ENVELOPES_OR_NONE = (*ENVELOPES, NONE)

#: id, level, contracts, requirements, function, title
Row = tuple[str, int, tuple[str, ...], str, Look, str]

# fmt: off
_FIRST: tuple[Row, ...] = (
    ("process.help", 1, ANY, "F-048 F-068", process.help_answers, "Help exists for the tool and every command"),
    ("process.promises", 1, ANY, "", process.promises, "Calls that the profile vouches for end as promised"),
    ("process.reader-gone", 2, ANY, "F-014", process.reader_gone, "The tool ends quietly when its reader closes the pipe"),
    ("process.reads-leave-no-trace", 2, ANY, "C-002", process.reads_leave_no_trace, "Read-only commands change nothing"),
    ("process.stdin-closed", 1, ANY, "F-009", process.stdin_closed, "The tool works with stdin closed"),
    ("process.stdin-silent", 1, ANY, "F-009 F-047", process.stdin_silent, "The tool does not wait for an open stdin that sends nothing"),
    ("process.version", 1, ANY, "F-068 F-023", process.version_answers, "The tool reports its version"),
    ("family.argument-order", 3, ENVELOPES, "F-067", formats.argument_order, "Options mean the same before and after the command"),
    ("family.argument-repeat", 3, NEWEST, "F-067", mistakes.repeated_option, "An option with two different values is rejected"),
    ("family.bare.envelope", 2, ENVELOPES, "F-047 F-068", answers.bare_envelope, "A call without a command returns an envelope and exit code 0"),
    ("family.danger.declared", 2, ENVELOPES, "C-002", safety.declared_level, "Every command declares its danger level"),
    ("family.danger.honest", 3, ENVELOPES, "C-002", safety.honest, "Commands with destructive names are not declared safe"),
    ("family.danger.preview", 2, LATER, "O-021", safety.refusal_foretells, "A refusal says what would be affected"),
    ("family.danger.refused", 2, ENVELOPES, "O-021", safety.refuses, "Destructive commands must require confirmation"),
    ("family.data.locale", 2, ENVELOPES, "F-005", lists.locale, "The locale does not change the data"),
    ("family.data.stable", 3, ENVELOPES, "F-021", lists.stable, "The same call returns the same data"),
    ("family.deadline.interrupt", 2, ENVELOPES, "F-069", streaming.work_cancelled, "An interrupted command reports that it was cancelled"),
    ("family.deadline.time", 2, ENVELOPES, "F-011 F-012", streaming.out_of_time, "A command that exceeds its timeout ends in time and says so"),
    ("family.dry-run.effect", 1, ENVELOPES, "C-004", safety.dry_run_foretells, "A dry run says what would happen"),
    ("family.dry-run.no-trace", 1, ENVELOPES, "C-004", safety.dry_run_no_trace, "A dry run changes nothing"),
    ("family.exec.dispatch", 3, LATER, "O-050", streaming.batch, "exec answers each request on its own line"),
    ("family.help.envelope", 1, ENVELOPES, "F-048", answers.help_envelope, "Help is an envelope on stdout and text on stderr"),
    ("family.manifest.answers", 3, ENVELOPES_OR_NONE, "O-041", manifests.answers, "The manifest lists every command in one call"),
    ("family.manifest.etag", 3, ENVELOPES, "O-041", manifests.etag, "The manifest returns not_modified while its etag holds"),
    ("family.manifest.exit-codes", 2, ENVELOPES, "C-001", manifests.exit_codes, "Declared exit codes do not contradict themselves"),
    ("family.manifest.shape", 3, ENVELOPES, "O-041 F-073", manifests.shape, "The manifest matches its schema"),
    ("family.manifest.tree", 3, ENVELOPES, "O-041", manifests.tree, "The command tree in the manifest is complete"),
    ("family.mistake.bad-type", 2, ENVELOPES, "F-015 C-006", mistakes.bad_type, "A value of the wrong type is rejected"),
    ("family.mistake.format", 2, ENVELOPES, "O-001", mistakes.bad_format, "An unknown output format is rejected"),
    ("family.mistake.missing-argument", 2, ENVELOPES, "F-009 C-006", mistakes.missing_argument, "A missing required argument is rejected"),
    ("family.mistake.unknown-command", 1, ENVELOPES, "F-002", mistakes.unknown_command, "An unknown command is rejected"),
    ("family.mistake.unknown-flag", 1, ENVELOPES_OR_NONE, "F-002", mistakes.unknown_flag, "An unknown option is rejected"),
    ("family.paging.continues", 2, ENVELOPES, "F-019 O-003", lists.pages, "The pages of a list add up to the whole list"),
    ("family.paging.cursor", 2, ENVELOPES, "O-003", lists.bad_cursor, "An invalid cursor is rejected"),
    ("family.schema.answers", 3, ENVELOPES, "C-015 O-013", schemas.every_command, "Every command prints its schema"),
    ("family.stream.contract", 3, ENVELOPES, "O-004", streaming.stream_contract, "A stream is items and one final line"),
    ("family.stream.interrupt", 3, ENVELOPES, "F-069 O-004", streaming.stream_cancelled, "An interrupted stream says so in its final line"),
    ("family.version.envelope", 2, ENVELOPES, "F-003 F-068", answers.version_envelope, "The version is returned in an envelope"),
    ("murli.answer.failure", 1, MURLI, "3.3 5.3", answers.failure, "A failed call says why it failed"),
    ("murli.answer.indented", 3, MURLI, "3.1 3.2", answers.indented, "JSON is indented unless another format was requested"),
    ("murli.answer.literal", 3, MURLI, "3.1 17.19", answers.literal, "Characters are written literally, not escaped"),
    ("murli.answer.newline", 2, MURLI, "3.1", answers.one_newline, "A document ends with one newline"),
    ("murli.answer.one-document", 1, MURLI, "3.2 3.5 17.38", answers.only_answer, "An answer is one document and nothing else"),
    ("murli.deadline.interrupt", 3, MURLI, "5.4", streaming.work_cancelled, "An interrupted command reports that it was cancelled"),
    ("murli.deadline.time", 3, MURLI, "5.3 5.4", streaming.deadline, "A command that exceeds its timeout says so"),
    ("murli.describe.agents-md", 2, MURLI, "14 11.2", describing.agents_md, "The tool can print an AGENTS.md"),
    ("murli.describe.answers", 1, MURLI_OR_NONE, "14 3.8 11.1", describing.answers, "describe prints one JSON object without an envelope"),
    ("murli.describe.capabilities", 1, MURLI, "14 10.1", describing.capabilities, "The description lists the tool's capabilities"),
    ("murli.describe.commands", 1, MURLI, "14 10.1", describing.commands, "The description covers every command in full"),
    ("murli.describe.declared", 2, MURLI, "0.1 17.23", safety.declared_description, "Commands with names that suggest a change are declared"),
    ("murli.describe.defaults", 3, MURLI, "10.3", describing.defaults, "Defaults have the type of their option"),
    ("murli.describe.descriptions", 2, MURLI, "11.5", describing.descriptions, "Every command has a summary"),
    ("murli.describe.dry-run", 3, MURLI, "10.1 17.22", describing.dry_run, "The description says whether the tool supports dry runs"),
    ("murli.describe.every-mode", 3, MURLI, "3.8", describing.every_mode, "describe prints the same document in every output format"),
    ("murli.describe.name", 1, MURLI, "14 10.2", describing.name, "The description has the tool's name"),
    ("murli.describe.own-flags", 3, MURLI, "10.2 8", describing.own_flags, "The contract's own flags are not listed as the tool's"),
    ("murli.describe.profiles", 3, MURLI, "10.1 16.20", describing.profiles, "The description lists the flags that profiles can save"),
    ("murli.describe.safety", 2, MURLI, "10.1 12", describing.safety, "Safety declarations do not contradict each other"),
    ("murli.describe.safety-honest", 3, MURLI, "17.23", safety.honest, "Commands with destructive names are not declared read-only"),
    ("murli.describe.schema-version", 1, MURLI, "14 1", describing.schema_version, "The description has its schema version"),
    ("murli.describe.secrets", 2, MURLI, "16.27 17.3", describing.secrets, "No default shows a secret"),
    ("murli.describe.stable", 3, MURLI, "10.2", describing.stable, "describe prints the same document twice"),
    ("murli.dry-run.no-trace", 2, MURLI, "12 16.10", safety.dry_run_no_trace, "A dry run changes nothing"),
    ("murli.dry-run.plans", 2, MURLI, "3.4 16.10", safety.dry_run_plans, "A dry run returns a plan"),
    ("murli.dry-run.undeclared", 3, MURLI, "16.10 16.16", safety.dry_run_undeclared, "Commands without a dry run reject --dry-run"),
    ("murli.error.instructive", 2, MURLI, "5.3", errors.instructive, "Errors for wrong calls say how to correct them"),
    ("murli.error.recoverable", 2, MURLI, "5.3 4.2", errors.recoverable, "Errors for wrong calls are marked recoverable"),
    ("murli.guard.null-device", 3, MURLI, "17.6 2", safety.guard_null_device, "Redirecting to the null device does not count as confirmation"),
    ("murli.guard.refuses", 2, MURLI, "14 12", safety.refuses, "Mutating commands must require confirmation"),
    ("murli.guard.schema", 2, MURLI, "12", safety.guard_schema, "--schema works without confirmation"),
    ("murli.guard.text", 3, MURLI, "17.6 12", safety.guard_text, "--output text does not count as confirmation"),
    ("murli.mistake.bad-choice", 3, MURLI, "17.28 5.4", mistakes.bad_choice, "A value outside the listed choices is rejected"),
    ("murli.mistake.bad-type", 2, MURLI, "5.3 5.4", mistakes.bad_type, "A word in place of a number is rejected"),
    ("murli.mistake.missing-argument", 2, MURLI, "5.3", mistakes.missing_argument, "A missing required argument is rejected"),
    ("murli.mistake.names", 3, MURLI, "5.3 16.22", mistakes.names, "Errors for wrong calls have the contract's error names"),
    ("murli.mistake.output-format", 1, MURLI, "14 5.3", mistakes.bad_format, "An unknown output format is rejected"),
    ("murli.mistake.profile", 3, MURLI, "5.3 16.35", mistakes.profile, "An unknown profile returns not_found"),
    ("murli.mistake.protocol-version", 3, MURLI, "5.3 1", mistakes.protocol_version, "An unknown protocol version is rejected"),
    ("murli.mistake.text", 3, MURLI, "3.3 17.16", mistakes.text, "With --output text an error is plain text"),
    ("murli.mistake.unknown-command", 1, MURLI, "14 5.3", mistakes.unknown_command, "An unknown command is rejected"),
    ("murli.mistake.unknown-flag", 1, MURLI_OR_NONE, "14 5.3", mistakes.unknown_flag, "An unknown option is rejected"),
    ("murli.mistake.valid-values", 2, MURLI, "5.3 5.4", mistakes.valid_values, "An error for a wrong value lists the valid ones"),
    ("murli.output.agent-flag", 2, MURLI, "8 2", formats.agent_flag, "--agent works after the command"),
    ("murli.output.flag-order", 3, MURLI, "8", formats.flag_order, "The contract's options work before the command"),
    ("murli.output.json", 2, MURLI, "2 16.4", formats.as_json, "--output json prints exactly one document"),
    ("murli.output.ndjson", 2, MURLI, "2 3.2", formats.as_ndjson, "--output ndjson prints one document a line"),
    ("murli.output.null-device", 3, MURLI, "2 17.6", answers.null_device, "stdout on the null device is not treated as a terminal"),
    ("murli.output.text", 3, MURLI, "2 3.2", formats.as_text, "--output text prints text"),
    ("murli.schema.agrees", 2, MURLI, "10.1 10.5", schemas.agrees, "--schema agrees with describe"),
    ("murli.schema.answers", 1, MURLI, "14 5.2", schemas.answers, "Every command prints its schema without its required arguments"),
    ("murli.schema.brief", 3, MURLI, "10.1 10.5", schemas.brief, "The schema of a group lists its commands in brief"),
    ("murli.stream.interrupt", 3, MURLI, "5.4 16.11", streaming.stream_cancelled, "An interrupted stream says so"),
    ("murli.stream.lines", 3, MURLI, "3.5 16.11", streaming.stream_lines, "A stream is one object a line, and the last one ends it"),
    ("murli.success.shape", 1, MURLI, "3.2 3.4", answers.success_shape, "A success has every required key"),
)

#: checks of the calls that the other checks have made
_IN_HINDSIGHT: tuple[Row, ...] = (
    ("process.no-escapes", 1, ANY, "F-007 F-008", process.no_escapes, "No terminal escape codes are written to a pipe"),
    ("process.no-pager", 1, ANY, "F-010 F-055 F-057", process.no_pager, "No pager, editor or browser is started"),
    ("process.no-traceback", 1, ANY, "C-013", process.no_traceback, "No stack trace takes the place of an error"),
    ("process.utf-8", 1, ANY, "F-016", process.is_utf_8, "All output is UTF-8"),
    ("family.answer.newline", 3, ENVELOPES, "F-072", answers.line_ends, "Lines end with a newline, not CRLF"),
    ("family.answer.one-document", 1, ENVELOPES, "F-003 F-006", answers.one_document, "stdout is one JSON document and nothing else"),
    ("family.answer.strict-json", 1, ENVELOPES, "F-003 F-016", answers.strict_on_stdout, "Every document is strict JSON"),
    ("family.asking.no-trace", 2, ENVELOPES, "F-068 F-076", answers.asking_no_trace, "Help, version and schema calls leave no files behind"),
    ("family.effect.told", 2, ENVELOPES, "C-003", safety.effect, "A change reports its effect"),
    ("family.envelope.exit-code", 1, NEWEST, "F-001 F-004", envelopes.exit_code, "meta.exit_code equals the exit code of the process"),
    ("family.envelope.keys", 1, ENVELOPES, "F-004", envelopes.keys, "Every envelope has exactly the five keys"),
    ("family.envelope.ok", 1, ENVELOPES, "F-001", envelopes.ok, "ok is true exactly when the exit code is 0"),
    ("family.envelope.outcome", 1, ENVELOPES, "F-004", envelopes.outcome, "A success has no error; a failure has an error and no data"),
    ("family.envelope.types", 1, ENVELOPES, "F-004", envelopes.types, "The five keys have the right types"),
    ("family.error.code", 1, ENVELOPES, "F-001 F-063", errors.code, "An error code that names an exit code comes with that exit code"),
    ("family.error.instructive", 1, ENVELOPES, "F-002 C-013", errors.instructive, "Errors for wrong calls say how to correct them"),
    ("family.error.redirect", 1, ENVELOPES, "F-001 C-013", errors.redirect, "error.redirect and exit code 13 appear together"),
    ("family.error.retry", 3, ENVELOPES, "C-014 C-030", errors.retry, "Errors say whether and how to retry"),
    ("family.error.shape", 1, ENVELOPES, "C-013", errors.shape, "Every error has a code and a message"),
    ("family.exit-code.declared", 2, ENVELOPES, "F-001 C-001", manifests.exit_codes_declared, "Commands end with exit codes that they declare"),
    ("family.exit-code.range", 1, ENVELOPES, "F-001", errors.exit_range, "Exit codes are in the contract's table"),
    ("family.meta.duration", 1, ENVELOPES, "F-004 F-039", envelopes.duration, "meta.duration_ms is the duration of the call"),
    ("family.meta.identity", 3, LATER, "F-022 F-023 F-024 F-027", envelopes.identity, "meta identifies the call and the tool's version"),
    ("family.meta.truthful", 3, ENVELOPES, "F-023 F-024 F-027", envelopes.truthful, "The values in meta are correct"),
    ("family.meta.types", 3, ENVELOPES, "F-022 F-023 F-024", envelopes.meta_types, "The other values in meta have the right types"),
    ("family.mistake.no-trace", 1, ENVELOPES, "F-001 F-002", mistakes.no_trace, "A rejected call has changed nothing"),
    ("family.mistake.phase", 1, ENVELOPES, "F-002", mistakes.phase, "A wrong call fails in the validation phase"),
    ("family.output.valid", 3, ENVELOPES, "C-015", schemas.output_fits, "Data matches the declared output schema"),
    ("family.paging.told", 2, NEWEST, "F-018", lists.paging, "Every list has pagination facts"),
    ("murli.answer.strict-json", 1, MURLI, "3.1", answers.strict_on_both_streams, "Every document is strict JSON"),
    ("murli.answer.version", 3, MURLI, "3.2 16.3", answers.version, "The tool's version is the same in every document"),
    ("murli.answer.wire", 3, MURLI, "15 16.1 16.13", answers.dialect, "All documents use the same spelling of the contract"),
    ("murli.error.exit-code", 1, MURLI, "3.3 14", errors.exit_code, "The code in an error equals the exit code"),
    ("murli.error.omits-empty", 3, MURLI, "3.3", errors.omits_empty, "Errors have no empty values"),
    ("murli.error.range", 1, MURLI, "1.1", errors.exit_range, "Exit codes are in the contract's table"),
    ("murli.error.shape", 1, MURLI, "3.3 4.1", errors.shape, "Errors have every required key"),
    ("murli.error.stream", 1, MURLI, "3.3 14 16.11", errors.stream, "Errors are written to stderr"),
    ("murli.log.lines", 3, MURLI, "3.7 6", streaming.log_lines, "Each log line is one JSON object"),
    ("murli.progress.shape", 3, MURLI, "3.6", streaming.progress, "Progress events have the required keys and no empty values"),
)
# fmt: on

#: checks that interrupt a call, or give it a short timeout
_ALONE = (
    streaming.deadline,
    streaming.work_cancelled,
    streaming.out_of_time,
    streaming.stream_cancelled,
    streaming.stream_cancelled,
    streaming.work_cancelled,
)

CHECKS = tuple(
    Check(
        id,
        title,
        level,
        contracts,
        tuple(requirements.split()),
        look,
        in_hindsight,
        look in _ALONE,
    )
    for in_hindsight, rows in ((False, _FIRST), (True, _IN_HINDSIGHT))
    for id, level, contracts, requirements, look, title in rows
)
