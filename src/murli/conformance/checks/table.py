"""All checks in one table: what each is called, how much it counts, and which function looks.

Ids are kept: profiles and reports name them. Two checks with the same function ask the same question
under two contracts, and may differ in weight and in the requirements they come from.
"""

# One line a check, however long: this is read by column.
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
#: for checks that can also be made of a tool that speaks no contract at all
ANY = (*CONTRACTS, NONE)
MURLI_OR_NONE = (*MURLI, NONE)
ENVELOPES_OR_NONE = (*ENVELOPES, NONE)

#: id, level, contracts, requirements, function, title
Row = tuple[str, int, tuple[str, ...], str, Look, str]

# fmt: off
_FIRST: tuple[Row, ...] = (
    ("process.help", 1, ANY, "F-048 F-068", process.help_answers, "Help is there for the tool and every command"),
    ("process.promises", 1, ANY, "", process.promises, "The calls an author vouches for end as promised"),
    ("process.reader-gone", 2, ANY, "F-014", process.reader_gone, "A reader that goes away ends it quietly"),
    ("process.reads-leave-no-trace", 2, ANY, "C-002", process.reads_leave_no_trace, "What only reads changes nothing"),
    ("process.stdin-closed", 1, ANY, "F-009", process.stdin_closed, "A closed stdin does no harm"),
    ("process.stdin-silent", 1, ANY, "F-009 F-047", process.stdin_silent, "An open stdin that nobody feeds is not waited for"),
    ("process.version", 1, ANY, "F-068 F-023", process.version_answers, "The version is told"),
    ("family.argument-order", 3, ENVELOPES, "F-067", formats.argument_order, "Options mean the same before and behind the command"),
    ("family.argument-repeat", 3, NEWEST, "F-067", mistakes.repeated_option, "An option with two values is refused"),
    ("family.bare.envelope", 2, ENVELOPES, "F-047 F-068", answers.bare_envelope, "A call without a command is answered, and ends with 0"),
    ("family.danger.declared", 2, ENVELOPES, "C-002", safety.declared_level, "Every command declares whether it changes something"),
    ("family.danger.honest", 3, ENVELOPES, "C-002", safety.honest, "What is called like a change is declared as one"),
    ("family.danger.preview", 2, LATER, "O-021", safety.refusal_foretells, "A refusal tells what would be affected"),
    ("family.danger.refused", 2, ENVELOPES, "O-021", safety.level_refused, "What destroys is refused without confirmation"),
    ("family.data.locale", 2, ENVELOPES, "F-005", lists.locale, "The language of the place changes nothing"),
    ("family.data.stable", 3, ENVELOPES, "F-021", lists.stable, "The same call gives the same data"),
    ("family.deadline.interrupt", 2, ENVELOPES, "F-069", streaming.work_cancelled, "Who is interrupted at work says so"),
    ("family.deadline.time", 2, ENVELOPES, "F-011 F-012", streaming.out_of_time, "Who is given too little time ends in time, and says so"),
    ("family.dry-run.effect", 1, ENVELOPES, "C-004", safety.dry_run_foretells, "A dry run tells what would happen"),
    ("family.dry-run.no-trace", 1, ENVELOPES, "C-004", safety.dry_run_no_trace, "A dry run changes nothing"),
    ("family.exec.dispatch", 3, LATER, "O-050", streaming.batch, "Calls in a batch are answered line by line"),
    ("family.help.envelope", 1, ENVELOPES, "F-048", answers.help_envelope, "Help is an envelope on stdout and a text on stderr"),
    ("family.manifest.answers", 3, ENVELOPES_OR_NONE, "O-041", manifests.answers, "The manifest lists every command in one call"),
    ("family.manifest.etag", 3, ENVELOPES, "O-041", manifests.etag, "The manifest is not sent again while it holds"),
    ("family.manifest.exit-codes", 2, ENVELOPES, "C-001", manifests.exit_codes, "Exit codes promise nothing they cannot keep"),
    ("family.manifest.shape", 3, ENVELOPES, "O-041 F-073", manifests.shape, "The manifest has its shape"),
    ("family.manifest.tree", 3, ENVELOPES, "O-041", manifests.tree, "The manifest is whole"),
    ("family.mistake.bad-type", 2, ENVELOPES, "F-015 C-006", mistakes.bad_type, "A value of the wrong type is refused"),
    ("family.mistake.format", 2, ENVELOPES, "O-001", mistakes.bad_format, "A format that does not exist is refused"),
    ("family.mistake.missing-argument", 2, ENVELOPES, "F-009 C-006", mistakes.missing_argument, "A call that lacks what it needs is refused"),
    ("family.mistake.unknown-command", 1, ENVELOPES, "F-002", mistakes.unknown_command, "A command that does not exist is refused"),
    ("family.mistake.unknown-flag", 1, ENVELOPES_OR_NONE, "F-002", mistakes.unknown_flag, "A flag that does not exist is refused"),
    ("family.paging.continues", 2, ENVELOPES, "F-019 O-003", lists.pages, "The pages of a list are the list"),
    ("family.paging.cursor", 2, ENVELOPES, "O-003", lists.bad_cursor, "A cursor that is none is refused"),
    ("family.schema.answers", 3, ENVELOPES, "C-015 O-013", schemas.every_command, "Every command describes itself"),
    ("family.stream.contract", 3, ENVELOPES, "O-004", streaming.stream_contract, "A stream is items and then one last line"),
    ("family.stream.interrupt", 3, ENVELOPES, "F-069 O-004", streaming.stream_cancelled, "A stream that is interrupted says so in its last line"),
    ("family.version.envelope", 2, ENVELOPES, "F-003 F-068", answers.version_envelope, "The version comes in an envelope"),
    ("murli.answer.failure", 1, MURLI, "3.3 5.3", answers.failure, "A call that fails says why"),
    ("murli.answer.indented", 3, MURLI, "3.1 3.2", answers.indented, "An answer is indented where nothing else was asked for"),
    ("murli.answer.literal", 3, MURLI, "3.1 17.19", answers.literal, "Letters and signs are written as they are"),
    ("murli.answer.newline", 2, MURLI, "3.1", answers.one_newline, "A document ends with one newline"),
    ("murli.answer.one-document", 1, MURLI, "3.2 3.5 17.38", answers.only_answer, "An answer is one document and nothing else"),
    ("murli.deadline.interrupt", 3, MURLI, "5.4", streaming.interrupted_at_work, "Work that is interrupted says so"),
    ("murli.deadline.time", 3, MURLI, "5.3 5.4", streaming.deadline, "Work that is given too little time says so"),
    ("murli.describe.agents-md", 2, MURLI, "14 11.2", describing.agents_md, "AGENTS.md can be printed"),
    ("murli.describe.answers", 1, MURLI_OR_NONE, "14 3.8 11.1", describing.answers, "describe prints one JSON object, as it is"),
    ("murli.describe.capabilities", 1, MURLI, "14 10.1", describing.capabilities, "The description tells what the tool is capable of"),
    ("murli.describe.commands", 1, MURLI, "14 10.1", describing.commands, "Every command is described in full"),
    ("murli.describe.declared", 2, MURLI, "0.1 17.23", safety.declared_description, "Commands that look like changes are declared"),
    ("murli.describe.defaults", 3, MURLI, "10.3", describing.defaults, "Defaults are values of their own type"),
    ("murli.describe.descriptions", 2, MURLI, "11.5", describing.descriptions, "Every command says what it is for"),
    ("murli.describe.dry-run", 3, MURLI, "10.1 17.22", describing.dry_run, "Whether the tool has previews is told"),
    ("murli.describe.every-mode", 3, MURLI, "3.8", describing.every_mode, "describe prints the same document whatever format is asked for"),
    ("murli.describe.name", 1, MURLI, "14 10.2", describing.name, "The description tells what the tool is called"),
    ("murli.describe.own-flags", 3, MURLI, "10.2 8", describing.own_flags, "What the contract itself brings is not listed"),
    ("murli.describe.profiles", 3, MURLI, "10.1 16.20", describing.profiles, "What profiles may hold is told"),
    ("murli.describe.safety", 2, MURLI, "10.1 12", describing.safety, "What is said about safety does not contradict itself"),
    ("murli.describe.safety-honest", 3, MURLI, "17.23", safety.honest, "A command that is called like a change is declared as one"),
    ("murli.describe.schema-version", 1, MURLI, "14 1", describing.schema_version, "The description tells its schema version"),
    ("murli.describe.secrets", 2, MURLI, "16.27 17.3", describing.secrets, "No secret is shown as a default"),
    ("murli.describe.stable", 3, MURLI, "10.2", describing.stable, "describe says the same twice"),
    ("murli.dry-run.no-trace", 2, MURLI, "12 16.10", safety.dry_run_no_trace, "A preview changes nothing"),
    ("murli.dry-run.plans", 2, MURLI, "3.4 16.10", safety.dry_run_plans, "A preview is a plan"),
    ("murli.dry-run.undeclared", 3, MURLI, "16.10 16.16", safety.dry_run_undeclared, "What has no preview does not pretend to give one"),
    ("murli.error.instructive", 2, MURLI, "5.3", errors.instructive, "Who made a mistake is told what to do"),
    ("murli.error.recoverable", 2, MURLI, "5.3 4.2", errors.recoverable, "Mistakes can be put right"),
    ("murli.guard.null-device", 3, MURLI, "17.6 2", safety.guard_null_device, "Writing to the null device confirms nothing"),
    ("murli.guard.refuses", 2, MURLI, "14 12", safety.guard_refuses, "What changes something refuses to run unconfirmed"),
    ("murli.guard.schema", 2, MURLI, "12", safety.guard_schema, "What refuses to run still explains itself"),
    ("murli.guard.text", 3, MURLI, "17.6 12", safety.guard_text, "Asking for text confirms nothing"),
    ("murli.mistake.bad-choice", 3, MURLI, "17.28 5.4", mistakes.bad_choice, "A value that is not among those listed is refused"),
    ("murli.mistake.bad-type", 2, MURLI, "5.3 5.4", mistakes.bad_type, "A word instead of a number is refused"),
    ("murli.mistake.missing-argument", 2, MURLI, "5.3", mistakes.missing_argument, "A call without what it needs is refused"),
    ("murli.mistake.names", 3, MURLI, "5.3 16.22", mistakes.names, "Wrong calls are called by the contract's names"),
    ("murli.mistake.output-format", 1, MURLI, "14 5.3", mistakes.bad_format, "An unknown output format is refused"),
    ("murli.mistake.profile", 3, MURLI, "5.3 16.35", mistakes.profile, "A profile that does not exist is not found"),
    ("murli.mistake.protocol-version", 3, MURLI, "5.3 1", mistakes.protocol_version, "An unknown protocol version is refused"),
    ("murli.mistake.text", 3, MURLI, "3.3 17.16", mistakes.text, "People are told of a mistake in words"),
    ("murli.mistake.unknown-command", 1, MURLI, "14 5.3", mistakes.unknown_command, "An unknown command is refused"),
    ("murli.mistake.unknown-flag", 1, MURLI_OR_NONE, "14 5.3", mistakes.unknown_flag, "An unknown option is refused"),
    ("murli.mistake.valid-values", 2, MURLI, "5.3 5.4", mistakes.valid_values, "Who chose a wrong value is told the right ones"),
    ("murli.output.agent-flag", 2, MURLI, "8 2", formats.agent_flag, "--agent is understood behind the command"),
    ("murli.output.flag-order", 3, MURLI, "8", formats.flag_order, "The contract's options may stand before the command"),
    ("murli.output.json", 2, MURLI, "2 16.4", formats.as_json, "--output json gives exactly one document"),
    ("murli.output.ndjson", 2, MURLI, "2 3.2", formats.as_ndjson, "--output ndjson gives one document a line"),
    ("murli.output.null-device", 3, MURLI, "2 17.6", answers.null_device, "Nobody reads as a person from the null device"),
    ("murli.output.text", 3, MURLI, "2 3.2", formats.as_text, "--output text gives text"),
    ("murli.schema.agrees", 2, MURLI, "10.1 10.5", schemas.agrees, "A schema says of a command what the description says"),
    ("murli.schema.answers", 1, MURLI, "14 5.2", schemas.answers, "Every command prints its schema, without its arguments"),
    ("murli.schema.brief", 3, MURLI, "10.1 10.5", schemas.brief, "The schema of a group is a short list of what is below"),
    ("murli.stream.interrupt", 3, MURLI, "5.4 16.11", streaming.stream_interrupted, "A stream that is interrupted says so"),
    ("murli.stream.lines", 3, MURLI, "3.5 16.11", streaming.stream_lines, "A stream is one object a line, the last one its end"),
    ("murli.success.shape", 1, MURLI, "3.2 3.4", answers.success_shape, "Answers are whole"),
)

#: what looks at the calls that the others have made
_IN_HINDSIGHT: tuple[Row, ...] = (
    ("process.no-escapes", 1, ANY, "F-007 F-008", process.no_escapes, "No terminal codes where there is no terminal"),
    ("process.no-pager", 1, ANY, "F-010 F-055 F-057", process.no_pager, "No pager, editor or browser is started"),
    ("process.no-traceback", 1, ANY, "C-013", process.no_traceback, "No stack trace instead of an answer"),
    ("process.utf-8", 1, ANY, "F-016", process.is_utf_8, "Everything written is UTF-8"),
    ("family.answer.newline", 3, ENVELOPES, "F-072", answers.line_ends, "Lines end as lines do everywhere"),
    ("family.answer.one-document", 1, ENVELOPES, "F-003 F-006", answers.one_document, "stdout is one JSON document, and nothing else"),
    ("family.answer.strict-json", 1, ENVELOPES, "F-003 F-016", answers.strict_on_stdout, "Every document can be read by any JSON parser"),
    ("family.asking.no-trace", 2, ENVELOPES, "F-068 F-076", answers.asking_no_trace, "Asking for help, the version or a schema leaves no trace"),
    ("family.effect.told", 2, ENVELOPES, "C-003", safety.effect, "A change tells its effect"),
    ("family.envelope.exit-code", 1, NEWEST, "F-001 F-004", envelopes.exit_code, "meta.exit_code is the exit code of the process"),
    ("family.envelope.keys", 1, ENVELOPES, "F-004", envelopes.keys, "Every answer has the five keys, and no other"),
    ("family.envelope.ok", 1, ENVELOPES, "F-001", envelopes.ok, "ok is true exactly when the exit code is 0"),
    ("family.envelope.outcome", 1, ENVELOPES, "F-004", envelopes.outcome, "A success has no error, a failure has one and no data"),
    ("family.envelope.types", 1, ENVELOPES, "F-004", envelopes.types, "The five keys hold what they have to hold"),
    ("family.error.code", 1, ENVELOPES, "F-001 F-063", errors.code, "An error that is called like an exit code ends with it"),
    ("family.error.instructive", 1, ENVELOPES, "F-002 C-013", errors.instructive, "Who made a mistake learns how to mend it"),
    ("family.error.redirect", 1, ENVELOPES, "F-001 C-013", errors.redirect, "A redirect comes with exit 13, and with nothing else"),
    ("family.error.retry", 3, ENVELOPES, "C-014 C-030", errors.retry, "An error tells whether and how to try again"),
    ("family.error.shape", 1, ENVELOPES, "C-013", errors.shape, "An error has a code for programs and a message for people"),
    ("family.exit-code.declared", 2, ENVELOPES, "F-001 C-001", manifests.exit_codes_declared, "Every command ends as it declares"),
    ("family.exit-code.range", 1, ENVELOPES, "F-001", errors.exit_range, "Exit codes are those of the table"),
    ("family.meta.duration", 1, ENVELOPES, "F-004 F-039", envelopes.duration, "meta.duration_ms tells how long it took"),
    ("family.meta.identity", 3, LATER, "F-022 F-023 F-024 F-027", envelopes.identity, "meta tells which call of which version this was"),
    ("family.meta.truthful", 3, ENVELOPES, "F-023 F-024 F-027", envelopes.truthful, "What meta tells of the call is so"),
    ("family.meta.types", 3, ENVELOPES, "F-022 F-023 F-024", envelopes.meta_types, "What else is in meta is of its type"),
    ("family.mistake.no-trace", 1, ENVELOPES, "F-001 F-002", mistakes.no_trace, "A refused call has changed nothing"),
    ("family.mistake.phase", 1, ENVELOPES, "F-002", mistakes.phase, "A wrong call fails in validation"),
    ("family.output.valid", 3, ENVELOPES, "C-015", schemas.output_fits, "What is given fits its schema"),
    ("family.paging.told", 2, NEWEST, "F-018", lists.paging, "A list tells which part of the whole it is"),
    ("murli.answer.strict-json", 1, MURLI, "3.1", answers.strict_on_both_streams, "Every document is strict JSON"),
    ("murli.answer.version", 3, MURLI, "3.2 16.3", answers.version, "The version of the tool is the same everywhere"),
    ("murli.answer.wire", 3, MURLI, "15 16.1 16.13", answers.dialect, "One dialect is spoken throughout"),
    ("murli.error.exit-code", 1, MURLI, "3.3 14", errors.exit_code, "The exit code is that of the document"),
    ("murli.error.omits-empty", 3, MURLI, "3.3", errors.omits_empty, "Error documents carry nothing that is empty"),
    ("murli.error.range", 1, MURLI, "1.1", errors.exit_range, "Exit codes are those of the contract"),
    ("murli.error.shape", 1, MURLI, "3.3 4.1", errors.shape, "Error documents are whole"),
    ("murli.error.stream", 1, MURLI, "3.3 14 16.11", errors.stream, "Errors are on stderr"),
    ("murli.log.lines", 3, MURLI, "3.7 6", streaming.log_lines, "What is logged is one object a line"),
    ("murli.progress.shape", 3, MURLI, "3.6", streaming.progress, "Progress has its keys, and no empty ones"),
)
# fmt: on

#: what interrupts a call, or leaves it too little time
_ALONE = (
    streaming.deadline,
    streaming.interrupted_at_work,
    streaming.out_of_time,
    streaming.stream_cancelled,
    streaming.stream_interrupted,
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
