"""The ``murli`` command: tools called and checked by their rules, answers explained, stubs written.

It is enabled with murli itself. All words behind the name of a tool are the tool's: neither our
flags nor argparse touch them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import murli

from ..commands.raw import write_raw
from ..wire import CONTRACTS
from . import check as check_command
from . import outside, serving
from .words import DASHES, PROGRAM, Add, add_tool, program_of, split_tool

if TYPE_CHECKING:
    from ..answer import Writer
    from ..client.decisions import Decision
    from ..client.explaining import Explanation
    from ..client.observed import ObservedTool
    from ..client.response import Response
    from ..outcome import Outcome

# How much of a line is shown, and of what a tool wrote beside its answer.
_MOST_SHOWN = 2000
_MOST_BESIDE = 1 << 16
# The longest that a call may take with all its waiting: the tool's own time is `--timeout`.
_A_DAY = 86_400.0
_CONTRACTS = (*CONTRACTS, "plain")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command on *argv*, or on that of the process."""
    parser = make_parser()
    murli.enable(parser, name="murli")
    words = list(sys.argv[1:] if argv is None else argv)
    place = _command_in(words)
    if words[place : place + 1] in (["call"], ["check"], ["mcp"], ["run"]):
        if words[place] == "check":
            words[place + 1 :] = check_command.options_first(words[place + 1 :])
        words[place:] = [DASHES if word == "--" else word for word in words[place:]]
    with murli.session(parser, words) as (args, writer):
        args.handler(args, writer)


def _command_in(words: Sequence[str]) -> int:
    """Return where the command stands: the first word that is no option, nor the value of one."""
    from ..line.flags import names_where

    place, with_value = 0, names_where(lambda flag: flag.takes_value)
    while place < len(words) and words[place].startswith("-"):
        place += 2 if words[place] in with_value else 1
    return place


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        prog="murli",
        description="Call and check tools by the rules of their contracts, explain their answers.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"murli {murli.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)

    def command(
        name: str, summary: str, handler: Callable[..., None], **declared: Any
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        made.set_defaults(handler=handler)
        if declared:
            murli.annotate(made, murli.Metadata(**declared))
        return made

    _add_call(command)
    _add_explain(command)
    check_command.add_parser(command, check, _seconds)
    _add_stubs(command)
    _add_run(command)
    for name, summary in (
        ("card", "Print the commands of a tool, one a line"),
        ("schema", "Describe one"),
    ):
        add_tool(command(name, summary, describe), "a program or a script", "its command")
    outside.add_parsers(command)
    getting = command(
        "get",
        "Read on from an answer that was too long, and is kept",
        get,
        when_to_use="Use when an answer has `kept`: with --query, --fields, --limit, --cursor.",
        danger_level="safe",
        idempotent=True,
        lists=murli.Paging(limit=0),
    )
    getting.add_argument("handle", help="the handle that the answer has")
    serving.add_parser(command, _seconds)
    return parser


def _add_call(command: Add) -> None:
    parser = command(
        "call",
        "Call a tool, and do what its contract says about its answers",
        call,
        agent_description=(
            "Runs a tool and returns its last answer as one document, with the tool's exit "
            "code. Waits, retries and follows redirects as the contract says, and reports that "
            "on stderr."
        ),
        when_to_use="Use in place of the tool itself when you do not want to keep its rules.",
        dry_runnable=True,
        timeout=_A_DAY,
        examples=[murli.Example("murli call riffle query tea", "Ask riffle")],
    )
    add = parser.add_argument
    add("--max-retries", type=_count, help="retries for each error code (default: 3)")
    add("--explain", action="store_true", help="call once at most, and report what would follow")
    about = "the contract of the tool; plain for a tool without one"
    add("--contract", choices=_CONTRACTS, help=about)
    add("--timeout", type=_seconds, help="seconds for each process (default: 300)")
    add("--confirm", action="store_true", help="confirm the change if the tool asks for it")
    field = "FIELD=VALUE"
    add("--until", metavar=field, help="call again until a field has one of these values")
    add("--until-not", metavar=field, help="call again until a field has none of them")
    about = "seconds between two calls (default: 5); --timeout is then for all (default: 600)"
    add("--every", type=_seconds, help=about)
    add("--stdin", action="store_true", help="pass stdin on to the tool")
    add_tool(parser, PROGRAM, "the words of the call, passed on unchanged")


def _add_explain(command: Add) -> None:
    parser = command(
        "explain",
        "Say what to do about an answer that was kept",
        explain,
        agent_description="Reads an answer, and says what to do about it and by which rule.",
        when_to_use="Use when you have run a tool yourself and wonder what to do now.",
        idempotent=True,
        examples=[murli.Example("murli explain answer.json --exit-code 8", "What now?")],
    )
    add = parser.add_argument
    about = "the file with the stdout of the tool; - for stdin"
    add("file", nargs="?", default="-", help=about)
    add("--exit-code", type=int, required=True, help="the exit code of the tool")
    add("--contract", choices=_CONTRACTS, help="the contract of the tool, if known")
    add("--stderr", metavar="FILE", help="the file with the stderr of the tool")
    add("--tool", default="", help="the name of the tool")


def _add_stubs(command: Add) -> None:
    parser = command(
        "stubs",
        "Write a typed Python module for a tool",
        stubs,
        agent_description="Writes a Python class with a typed method for each command.",
        when_to_use="Use before you write Python that calls the tool.",
        idempotent=True,
        examples=[murli.Example("murli stubs riffle -o riffle_stubs.py", "Write the module")],
    )
    about = "also write the class for asyncio"
    parser.add_argument("--async", action="store_true", dest="with_async", help=about)
    parser.add_argument("-o", "--file", help="the file to write (default: stdout)")
    parser.add_argument("tool", help=PROGRAM)


def _add_run(command: Add) -> None:
    parser = command(
        "run",
        "Run a tool that nobody can edit, as if it had enabled murli",
        run,
        agent_description=(
            "Runs a tool of any author under the contract: one document, its own exit status "
            "explained, prompts that fail, `describe` and `--schema` on the tool itself."
        ),
        when_to_use="Use in front of a tool that does not speak a contract itself.",
        timeout=_A_DAY,
        examples=[murli.Example("murli run csvcut -c name data.csv", "One column")],
    )
    add = parser.add_argument
    add("--trust", action="store_true", help="ask no confirmation by names alone")
    add("--contract", choices=CONTRACTS, help="the one to answer in; murli")
    add("--timeout", type=_seconds, help="seconds for the tool")
    add("--yes", action="store_true", help="confirm the call")
    add("--as-program", action="store_true", help="look at no code of the tool")
    add_tool(parser, "a program or a script, as it is called without murli", "its own, untouched")


# -- call ----------------------------------------------------------------------------------------


def call(args: argparse.Namespace, writer: Writer) -> None:
    """Call a tool; answer with its last answer, and end with its exit code."""
    from dataclasses import replace
    from shlex import join

    from ..client.decisions import Policy
    from ..client.observed import ObservedTool
    from ..wire.limits import Limits

    program, words = split_tool(args)
    if writer.is_dry_run():
        whole = [*program, *words]
        writer.write_plan("Would call the tool", {"argv": whole}, text=f"Would run {join(whole)}")
        return
    policy = Policy(confirm=args.confirm)
    if args.max_retries is not None:
        # Who allows more than usual for one error allows it in all.
        in_all = max(args.max_retries, policy.max_retries_in_all)
        policy = replace(policy, max_retries=args.max_retries, max_retries_in_all=in_all)
    tool = ObservedTool(
        program,
        policy=policy,
        limits=Limits() if args.timeout is None else Limits(seconds=args.timeout),
        contract=args.contract or "",
        on_decision=None if args.explain else _report_decision,
    )
    stdin = sys.stdin.buffer.read() if args.stdin else None
    if args.explain:
        explanation = _explained(tool, words, stdin, args.confirm)
        writer.write_success(explanation.reason, explanation.document(), text=explanation.text())
        return
    tool.catalogue()  # what is known of the tool says more about its exit codes
    if args.until or args.until_not:
        response = _waited(tool, words, stdin, args)
    else:
        response = tool.run(*words, stdin=stdin)
    _forward_answer(tool, response, writer)


def run(args: argparse.Namespace, writer: Writer) -> NoReturn:
    """Become a tool; where that fails, say why."""
    from ..retrofit.launch import Options, become
    from ..retrofit.resolving import NotFound

    program, words = split_tool(args)
    options = Options()
    for name in ("contract", "timeout"):
        if getattr(args, name) is not None:
            options.values[f"--{name}"] = str(getattr(args, name))
    options.switches |= {
        f"--{name.replace('_', '-')}"
        for name in ("trust", "as_program", "yes")
        if getattr(args, name)
    }
    try:
        become([*program, *words], options)
    except NotFound as missing:
        raise murli.AgentError.not_found(str(missing), "Name a program or a script.") from None


def describe(args: argparse.Namespace, writer: Writer) -> NoReturn:
    """Describe a tool from outside; where there is none, say so."""
    from ..retrofit.launch import describe as describe_tool

    describe_tool(args.command, [args.tool, *args.words])
    raise murli.AgentError.not_found(f"There is no program {args.tool!r}.", "Name another one.")


def _waited(
    tool: ObservedTool, words: list[str], stdin: bytes | None, args: argparse.Namespace
) -> Response[Any]:
    """Return the answer that is waited for, or why there is none."""
    from ..client.mistakes import ArgumentMistake
    from ..client.waiting import wanted_of

    try:
        wanted = wanted_of(args.until or "", args.until_not or "", args.every, args.timeout)
        return tool.wait(words, stdin, wanted)
    except ArgumentMistake as mistake:
        raise murli.AgentError.user_error(
            mistake.message, mistake.suggestion, field="until"
        ) from None


def _explained(
    tool: ObservedTool, words: list[str], stdin: bytes | None, confirmed: bool
) -> Explanation:
    from ..client.explaining import Explanation, explained
    from ..client.observed import confirms_itself, is_known_to_change

    catalogue = tool.catalogue()
    changes = is_known_to_change(catalogue, words) or confirms_itself(catalogue, words)
    if changes and not confirmed:
        return Explanation(
            "escalate",
            "The call was not made: it would change something.",
            "Add --confirm before the tool to make it, or ask the tool for a dry run.",
            "Only who asked for a change confirms it; no flag is added unasked.",
            (*tool.words, *words),
        )
    response = tool.run(*words, stdin=stdin, follow=False)
    return explained(response, response.decisions[-1], tool.words)


def _report_decision(decision: Decision, response: Response[Any]) -> None:
    """Write what the client does on stderr, in one line."""
    from ..client.explaining import explained

    explanation = explained(response, decision, response.argv[:1])
    wait = "" if explanation.delay_ms is None else f" in {explanation.delay_ms} ms"
    line = f"{explanation.decision.replace('_', ' ')}{wait}: {_sentence(explanation.reason)}"
    command = getattr(decision, "command", "")
    _write_to_stderr("murli: ", f"{line} {f'`{command}`' if command else explanation.advice}")


def _sentence(text: str) -> str:
    text = text.rstrip()
    return text if text.endswith((".", "!", "?", ":", "…")) else f"{text}."


def _write_to_stderr(mark: str, text: str) -> None:
    """Write a line to stderr; *mark* says whose it is."""
    from ..client.explaining import one_line
    from ..formats import put, standard

    line = one_line(text[:_MOST_SHOWN])
    try:
        put(standard("stderr"), f"{mark}{line}\n" if line else "")
    except OSError:  # nobody listens; the answer matters more
        pass


def _forward_answer(tool: ObservedTool, response: Response[Any], writer: Writer) -> NoReturn:
    """Answer with the tool's own document where it stands, else with one of ours."""
    from ..client.answers import is_the_tools
    from ..client.observed import documents_of, serialized, stderr_beside

    ran = tool.ran
    documents = documents_of(ran) if ran is not None and is_the_tools(response, ran) else []
    if ran is None or not documents:
        text, code = _own_answer(tool, response, writer)
    else:
        for line in stderr_beside(ran, documents[-1])[-_MOST_BESIDE:].splitlines():
            _write_to_stderr("| ", line)
        try:
            text = serialized(documents, pretty=not writer._reply.one_line)
        except ValueError as error:
            raise murli.AgentError.tool_error(
                f"The tool's answer is not JSON that can be passed on: {error}.",
                error_type="malformed",
            ) from None
        code = _status(response, documents[-1])
    write_raw(writer, text)
    writer._exit(code)


def _own_answer(tool: ObservedTool, response: Response[Any], writer: Writer) -> tuple[str, int]:
    """Return an answer of our own about the call, and the exit code that goes with it."""
    from ..answer.presentation import presentable
    from ..client.answers import failure_of, payload_of
    from ..outcome import Failure, Success

    payload, failure = payload_of(response, tool.ran), failure_of(response)
    outcome: Outcome = Success("The tool ended with exit code 0.", payload)
    if failure is not None:
        outcome = Failure(presentable(failure), "execution", payload)
    answer = writer._reply.document_of(outcome)
    return writer._reply.text_of(answer) + "\n", answer.exit_code


def _status(response: Response[Any], end: dict[str, Any]) -> int:
    """Return the exit code of the tool; a failure without one has one all the same."""
    code = response.exit_code
    if code is not None and code < 0:
        return 128 - code
    if code or response.problem is None:
        return code or 0
    meta = end.get("meta")
    stated = end.get("code", meta.get("exit_code") if isinstance(meta, dict) else None)
    return stated if type(stated) is int and 0 < stated < 256 else murli.EXIT_TOOL_ERROR


# -- check, explain and stubs ---------------------------------------------------------------------


def check(args: argparse.Namespace, writer: Writer) -> None:
    """Check a tool."""
    program, words = ([], []) if args.tool is None else split_tool(args)
    check_command.run(args, [*program, *words], writer)


def explain(args: argparse.Namespace, writer: Writer) -> None:
    """Answer with what to do about an answer that was kept."""
    from ..client.explaining import explained_answer

    stderr = b"" if args.stderr is None else _content(args.stderr, "stderr")
    stdout = _content(args.file, "file")
    explanation = explained_answer(stdout, stderr, args.exit_code, args.contract or "", args.tool)
    writer.write_success(explanation.reason, explanation.document(), text=explanation.text())


def _content(name: str, field: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise murli.AgentError.user_error(
            f"{name} cannot be read: {error.strerror}.", field=field
        ) from None


def stubs(args: argparse.Namespace, writer: Writer) -> None:
    """Write a module for a tool."""
    from ..client.stubs import NothingKnown, write

    program = program_of(args.tool)
    try:
        text = write(program, with_async=args.with_async)
    except NothingKnown as error:
        raise murli.AgentError.user_error(
            str(error), "Name a tool that has `describe` or `manifest`.", field="tool"
        ) from None
    if args.file is None:
        write_raw(writer, text)
        return
    murli.write_file(args.file, text)
    writer.write_success(f"Wrote {args.file}", {"file": args.file, "lines": text.count("\n")})


def get(args: argparse.Namespace, writer: Writer) -> None:
    """Answer with a result that is kept."""
    from ..compact.kept import load
    from ..compact.reading_on import program

    entry, invocation = load(args.handle), writer._invocation
    if invocation is not None:
        invocation.settings.program = program()
        if entry.get("external") and invocation.metadata is not None:
            outside = invocation.metadata.merged_with(murli.Metadata(external=True))
            invocation.running.metadata = outside
    writer.write_success("", entry["result"], show=True)


# -- values --------------------------------------------------------------------------------------


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("it is 0 or more")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("it is more than 0")
    return number


if __name__ == "__main__":
    main()
