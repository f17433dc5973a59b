"""Reports to be written in every format: a small one, one that means harm, and a large one."""

from __future__ import annotations

from murli.conformance.results import (
    FAIL,
    NOT_APPLICABLE,
    NOT_VERIFIED,
    PASS,
    WARN,
    Evidence,
    Finding,
    Node,
    Report,
    Result,
)

OK = b'{"status":"ok","schema_version":"1.0","result":{"items":[]}}\n'
ERROR = (
    b'{"status":"error","schema_version":"1.0","error":{"code":"INVALID_INPUT","message":'
    b'"unknown option --murli-check-no-such-flag","suggestion":"see teller --help"}}\n'
)


def call(*words: str, code: int | None = 0, out: bytes = OK, err: bytes = b"") -> Evidence:
    """Give a process of the small tool that ended by itself."""
    return Evidence(("teller", *words), stdout=out, stderr=err, exit_code=code, duration_ms=84)


def small() -> Report:
    """Give a report with every status, and one finding of every kind."""
    return Report(
        tool=("teller",),
        name="teller",
        contract="murli",
        measured="murli",
        wire="docs",
        version="2.4.0",
        results=(
            Result(
                "describe",
                "Describes itself as one JSON document",
                1,
                ("14.1", "14.2"),
                PASS,
                findings=(Finding(PASS, "", evidence=call("describe")),),
            ),
            Result(
                "unknown-flag",
                "Refuses an option it does not have, on stderr, with exit 1",
                1,
                ("14.6",),
                PASS,
                findings=tuple(
                    Finding(PASS, name, evidence=call(*name.split(), "--no", code=1, err=ERROR))
                    for name in ("", "account", "account list", "account show", "rate")
                ),
            ),
            Result(
                "no-colour",
                "Writes no ANSI sequence when nobody looks",
                1,
                (),
                WARN,
                findings=(
                    Finding(
                        WARN,
                        "rate",
                        "stderr holds an ANSI sequence, which an agent pays for",
                        call("rate", "EUR", err=b"\x1b[33mrates are a day old\x1b[0m\n"),
                    ),
                    Finding(PASS, "account list", evidence=call("account", "list")),
                ),
            ),
            Result(
                "murli.answer.one-document",
                "Writes one document on stdout",
                2,
                ("3.1",),
                FAIL,
                findings=(
                    Finding(
                        FAIL,
                        "account list",
                        "stdout holds 2 documents and 1 line that is not JSON",
                        call("account", "list", out="verbinde … grün\n".encode() + OK + OK),
                    ),
                    Finding(PASS, "account show", evidence=call("account", "show", "7")),
                    Finding(PASS, "rate", evidence=call("rate", "EUR")),
                ),
            ),
            Result(
                "process.stdin-silent",
                "Does not wait for a stdin that is open and silent",
                2,
                ("8.2",),
                FAIL,
                findings=(
                    Finding(
                        FAIL,
                        "account import",
                        "waited for input until it was killed",
                        Evidence(
                            ("teller", "account", "import", "my file.csv"),
                            stdin="silent",
                            env={"NO_COLOR": "1"},
                            event="it started a pager, an editor or a browser",
                            stderr=b"Enter the IBAN: ",
                            exit_code=None,
                            timed_out=True,
                            duration_ms=10000,
                            changed=(".teller/lock",),
                        ),
                    ),
                    Finding(PASS, "account list", evidence=call("account", "list")),
                ),
            ),
            Result(
                "interrupt",
                "Ends its stream with a document when it is interrupted",
                3,
                (),
                NOT_VERIFIED,
                "no command that may be run streams; name one in the profile",
            ),
            Result(
                "murli.stream.lines",
                "A stream is one object a line",
                3,
                ("3.5",),
                NOT_VERIFIED,
                "no command that may be run streams; name one in the profile",
            ),
            Result("paging", "Pages are complete", 3, (), NOT_APPLICABLE, "no command has pages"),
        ),
        nodes=(
            Node("", "Look after accounts"),
            Node("account", "Accounts and what is on them"),
            Node("account import", "Take over accounts from a file", "mutating"),
            Node("account list", "List the accounts", "safe"),
            Node("account remove", "Close an account for good", "destructive"),
            Node("account show", "Show one account", "safe"),
            Node("rate", "Tell an exchange rate", "safe"),
        ),
        duration_ms=12430,
        processes=57,
        notes=("2 commands were not run, because they change something.",),
    )


#: what must not happen, however it is tried
CRIES = (
    "</script><script>document.title='pwned'</script>",
    "\"'><img src=x onerror=\"document.title='pwned'\">",
    "</title></style><svg onload=document.title='pwned'>",
    "<a href=\"javascript:document.title='pwned'\">x</a>",
    "]]><!-- --><?php &amp; &#60;b&#62; %3Cscript%3E",
    "| cell \\| `code` ```` **bold** [link](http://example.invalid/) @everyone #1 $x$",
    "```\n</details>\n# heading\n~~~~\n- item",
    "\x00\x01\x08\x1b[31mred\x1b]0;pwned\x07\x7f\x9b\r\n\t",
    "\u202egnp.exe\u2066\u200b\ufeff\u2028\u061c\U000e0041",
    "\ud800 \udcff \udfff \uffff \ufffe",
    "日本語 שלום 🎺 é",
    "http://example.invalid/ www.example.invalid a@example.invalid",
    " leading and trailing \\ ",
    "",
)


def hostile(cry: str) -> Report:
    """Give a report in which the tool has its way with every text."""
    data = cry.encode("utf-8", "surrogatepass") + b"\xff\xfe"
    evidence = Evidence(
        ("./" + cry, cry, ""),
        stdin="text",
        env={"VARIABLE": cry},
        event=cry,
        stdout=data,
        stderr=data[::-1] + data * 400,
        exit_code=-9,
        changed=(cry, "x"),
    )
    findings = (
        Finding(FAIL, cry, cry, evidence),
        Finding(WARN, f"sub {cry}", cry, evidence),
        Finding(PASS, "sub", cry, evidence),
    )
    return Report(
        tool=("./" + cry,),
        name=cry,
        contract="none",
        measured="agent-spec-2",
        wire=cry,
        version=cry,
        results=(
            Result("failing", cry, 1, (cry,), FAIL, cry, findings),
            Result("warning", cry, 2, (cry,), WARN, cry, findings[1:]),
            Result("passing", cry, 2, (cry,), PASS, cry, findings[2:]),
            Result("open", cry, 3, (), NOT_VERIFIED, cry),
            Result("beside", cry, 3, (), NOT_APPLICABLE, cry),
        ),
        nodes=(Node("", cry), Node("sub", cry, cry), Node(cry, cry)),
        notes=(cry,),
    )


def large(commands: int = 1000, *, poor: bool = False) -> Report:
    """Give a report of a tool of many commands; a *poor* one keeps next to nothing anywhere."""
    groups = commands // 25
    paths = [f"group-{each:02}" for each in range(groups)]
    paths += [
        f"group-{number % groups:02} command-{number:03}" for number in range(commands - groups - 1)
    ]
    results = []
    for number in range(25):
        findings = []
        for at, path in enumerate(paths):
            odd = number % 4 == 1 and int(path[6:8]) % 2 == 1  # some checks, in half of the groups
            bad = poor or (odd and (at * 7 + number) % 31 == 0)
            findings.append(
                Finding(
                    FAIL if bad else PASS,
                    path,
                    "exit code 2 where the document says 1" if bad else "",
                    call(*path.split(), "--murli-check-no-such-flag", code=2, err=ERROR),
                )
            )
        results.append(
            Result(
                f"check-{number:02}",
                f"Keeps the promise of number {number}",
                1 + number // 10,
                ("14.6",),
                FAIL if any(each.status == FAIL for each in findings) else PASS,
                findings=tuple(findings),
            )
        )
    return Report(
        tool=("teller",),
        name="teller",
        contract="murli",
        measured="murli",
        wire="go",
        results=tuple(results),
        nodes=(Node(""), *(Node(path, f"What {path} does", "safe") for path in sorted(paths))),
        duration_ms=912_000,
        processes=25_001,
    )
