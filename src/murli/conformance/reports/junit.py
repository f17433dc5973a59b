"""A report as JUnit XML for continuous integration: one test case per check."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from ..results import FAIL, NOT_APPLICABLE, NOT_VERIFIED, WARN, Finding, Report, Result
from .terminal import reproduction
from .wording import WORDS, command_name, fix_of, reference_of, spoken, visible

# Such systems store all of it, some in a database.
_MOST_FINDINGS = 50


def junit(report: Report) -> str:
    """Return the report as one test suite.

    A failed check is a failure. An unverified or inapplicable one is skipped with the reason, so
    that it does not count as a pass. A warning passes, and is in the output of its case.
    """
    numbers = {
        "tests": str(len(report.results)),
        "failures": str(report.count(FAIL)),
        "errors": "0",
        "skipped": str(report.count(NOT_VERIFIED) + report.count(NOT_APPLICABLE)),
        "time": _seconds(report.duration_ms),
    }
    root = Xml.Element("testsuites", {"name": "murli check", **numbers})
    suite = Xml.SubElement(root, "testsuite", {"name": visible(report.name), **numbers})
    properties = Xml.SubElement(suite, "properties")
    for name in ("version", "contract", "measured", "wire", "level", "score"):
        _property(properties, name, str(getattr(report, name)))
    _property(properties, "spoken", spoken(report))
    for result in report.results:
        _case(suite, report, result)
    Xml.indent(root)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return head + Xml.tostring(root, encoding="unicode") + "\n"


def _property(properties: Xml.Element, name: str, value: str) -> None:
    Xml.SubElement(properties, "property", {"name": name, "value": visible(value)})


def _case(suite: Xml.Element, report: Report, result: Result) -> None:
    seen = {id(each.evidence): each.evidence for each in result.findings if each.evidence}
    case = Xml.SubElement(
        suite,
        "testcase",
        {
            "classname": visible(f"{report.measured}.level{result.level}"),
            "name": visible(f"{result.id}: {result.title}"),
            "time": _seconds(sum(each.duration_ms for each in seen.values())),
        },
    )
    if result.status in (NOT_VERIFIED, NOT_APPLICABLE):
        word = WORDS[result.status]
        reason = f"{word}: {result.reason}" if result.reason else word
        Xml.SubElement(case, "skipped", {"message": visible(reason)})
    elif result.status == FAIL:
        first = next(iter(result.troubles), Finding(FAIL, detail=result.reason))
        message = f"{command_name(first.command)}: {first.detail}"
        failure = Xml.SubElement(
            case, "failure", {"type": visible(result.id), "message": visible(message)}
        )
        failure.text = _troubles(result)
    elif result.status == WARN:
        Xml.SubElement(case, "system-out").text = _troubles(result)


def _troubles(result: Result) -> str:
    """Return the problems and how to reproduce each; control characters are escaped."""
    lines = []
    for finding in result.troubles[:_MOST_FINDINGS]:
        named = f"{command_name(finding.command)}: {finding.detail}"
        lines.append(f"{WORDS[finding.status]}: {named}")
        if finding.evidence is not None:
            lines += (f"  {line}" for line in reproduction(finding.evidence))
    if (more := len(result.troubles) - _MOST_FINDINGS) > 0:
        lines.append(f"and {more} more")
    if fix_of(result):
        lines += [f"Fix: {fix_of(result)}", f"See: {reference_of(result)}"]
    return "\n".join(visible(line) for line in lines) + "\n"


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.3f}"
