"""What a help text says: commands, options and arguments, in whatever shape it is laid out.

The shapes are those of argparse, optparse, click (rich boxes too), cobra, clap, commander, docopt,
GNU and manual pages. They have in common that a line is indented, begins with what is typed, and
says what that does behind a gap of two blanks or on the lines below. A text is never trusted: it is
bounded and cleaned, and what is not understood is left out.
"""

from __future__ import annotations

import re

from ..declare import spelled_name
from ..declare.tree import spellings
from ..formats import cleaned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MOST_CHARACTERS = 1 << 19
_MOST_LINES, _MOST_FOUND = 8000, 2000
_LONGEST_SUMMARY = 500
# How far the options of one block stand apart, with a column for short ones.
_MOST_ASTRAY = 12

_BOX = re.compile(r"[│┃|╎]\s?(.*?)\s*[│┃|╎]?$")
_BOX_TITLE = re.compile(r"[╭┌┏+][─━-]+ (.+?) [─━-]+[╮┐┓+]$")
_OPTION = re.compile(r"-{1,2}[A-Za-z0-9?@#%]|--\[")
_SPELLING = re.compile(r"(-{1,2}(?:\[no-?\])?[A-Za-z0-9?@#%][\w.:+-]*|-\?)")
_GAP = re.compile(r"\s{2,}|\t+")
_COMMAND = re.compile(r"[a-z0-9][\w.:+-]*(?:, ?[a-z0-9][\w.:+-]*)*\*?$", re.IGNORECASE)
# What stands for a value in the shape of a word: that of cobra is the name of a type.
_VALUE = re.compile(
    r"<[^>]*>(?:\.\.\.)?|\[[^\]]*\](?:\.\.\.)?|\{[^}]*\}|[A-Z][A-Z0-9_.,:|/=-]*(?:\.\.\.)?|"
    r"(?:string|strings|stringArray|stringSlice|stringToString|int|int32|int64|ints|uint\w*|"
    r"float\w*|duration|bytes|list|map|bool|filter|file|path|url|ip\w*|count)$"
)
_DEFAULT = re.compile(r"[\[(]default(?:s to|:| is|=)? ?\"?([^\])\"]+?)\"?[\])]", re.IGNORECASE)
_CHOICES = re.compile(
    r"\[possible values: ([^\]]+)\]|\(choices: ([^)]+)\)|\{([\w.,:+-]+,[\w.,:+-]+)\}"
)
_NO_SECTION = ("example", "environment", "see also", "note", "learn more", "exit")
_USAGE = re.compile(r"(?:usage|or) ?:\s*(.*)$", re.IGNORECASE)
_PLACE = re.compile(r"(\[)?<?\[?([A-Za-z][\w -]*?)>?\]?(\.\.\.)?\]?(\.\.\.)?$")
_PLACES = re.compile(
    r"\[?<[^>]+>(?:\.\.\.)?\]?(?:\.\.\.)?|\[[\w -]+(?:\.\.\.)?\](?:\.\.\.)?|"
    r"\b[A-Z][A-Z_-]+\b(?:\.\.\.)?"
)
_EXPLAINED = re.compile(
    r"\b(?:sub)?command\b[\])>}\"'`]* (?:--help|-h)\b|\bhelp [\[<{]?(?:sub)?command\b|"
    r"^ +help\b.{2,}\b(?:sub)?commands?\b",
    re.IGNORECASE | re.MULTILINE,
)
_EXPECTS_COMMAND = re.compile(r"(?:<|\[|\b)(?:sub)?commands?(?:>|\]|\b)", re.IGNORECASE)
_NO_ARGUMENT = ("option", "flag", "command", "subcommand", "arg", "global option")


def parsed(text: str, name: str) -> dict[str, Any]:
    """Return what *text*, the help of the command called *name*, says; as plain data.

    The keys are those of a `Command`: ``summary``, ``flags``, ``arguments``, and ``commands`` with
    their names, summaries and aliases.
    """
    lines = [_unboxed(line) for line in _clean(text).splitlines()[:_MOST_LINES]]
    found: dict[str, Any] = {"summary": "", "flags": [], "arguments": [], "commands": []}
    usage = _usage(lines)
    expects_command = _EXPECTS_COMMAND.search(usage) is not None
    for section, block in _sections(lines):
        kind = _kind_of(section, expects_command)
        if kind == "commands":
            found["commands"] += _commands(block)
        elif kind == "arguments":
            found["commands"] += _argparse_commands(block)
            found["arguments"] += _arguments(block)
        if kind not in ("none", "arguments"):
            found["flags"] += _flags(block)
    found["summary"] = _summary(lines, name)
    found["flags"] += _flags_of_usage(usage)
    shown = {each["name"].casefold(): each for each in _arguments_of_usage(usage)}
    for each in found["arguments"]:  # which of them may be left out, the usage says better
        known = shown.get(each["name"].casefold(), each)
        each.update(required=known["required"], values=min(known["values"], each["values"]))
    found["arguments"] = found["arguments"] or list(shown.values())
    for key, identity in (("flags", "spellings"), ("commands", "name"), ("arguments", "name")):
        found[key] = _unique(found[key], identity)[:_MOST_FOUND]
    if found["commands"]:
        found["arguments"] = []
    return found


def explains_commands(text: str) -> bool:
    """Return whether a help says that there is one of each command: ``tool COMMAND --help``."""
    return _EXPLAINED.search(_clean(text[:MOST_CHARACTERS])) is not None


def _clean(text: str) -> str:
    """Return a text that shows nothing but itself: overstrikes, escapes and controls are gone."""
    text = re.sub(r".\x08", "", text[:MOST_CHARACTERS])
    text = re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.", "", text)
    return cleaned(text).expandtabs(8)


def _unboxed(line: str) -> str:
    title = _BOX_TITLE.match(line.strip())
    if title:
        return f"{title[1]}:"
    found = _BOX.match(line.strip()) if line.strip()[:1] in "│┃╎" and line.strip() else None
    return f"  {found[1]}" if found else line.rstrip()


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the blocks of indented lines, with the line that is above each."""
    heading, block = "", list[str]()
    usual = min((_indent(line) for line in lines if line.strip()), default=0)
    is_free = True
    for line in lines:
        indent = _indent(line) - usual
        is_name = not indent and _GAP.search(line) and _kind_of(heading, False) == "commands"
        is_heading = not _OPTION.match(line.strip()) and (
            (indent == 0 and (is_free or line.endswith(":")) and not is_name)
            or (0 < indent <= 4 and line.endswith(":"))
        )
        is_free = not line.strip()
        if line.strip() and is_heading:
            if block:
                yield heading, block
            heading, block = line.strip(), []
        elif line.strip():
            block.append(line)
    if block:
        yield heading, block


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _kind_of(heading: str, has_commands: bool) -> str:
    title = heading.casefold().rstrip(":")
    if title.startswith(_NO_SECTION) or title in ("aliases", "options and environment"):
        return "none"
    if re.search(r"\b(sub)?(commands?|topics)\b", title) and "option" not in title:
        return "commands"
    if re.match(r"(positional )?(arguments?|positionals?|args)\b", title):
        return "arguments"
    if title.startswith(("usage", "or")):
        return "usage"
    if "option" in title or "flag" in title or "argument" in title:
        return "options"
    # git groups its commands below plain sentences.
    return "commands" if has_commands and not heading.endswith(".") else "options"


# -- commands ------------------------------------------------------------------------------------


def _commands(block: list[str]) -> Iterator[dict[str, Any]]:
    text = " ".join(line.strip() for line in block)
    if re.fullmatch(r"[\w.:+-]+(?:, ?[\w.:+-]+){3,},?", text):  # npm lists the names alone
        for name in re.split(r", ?", text.rstrip(",")):
            yield {"name": name, "summary": "", "aliases": []}
        return
    usual = min(map(_indent, block))
    # argparse has the names that may be chosen on a line of their own, and more below it.
    if block[0].strip().startswith("{"):
        yield from _argparse_commands(block)
        return
    for place, line in enumerate(block):
        if _indent(line) > usual + 2:
            continue
        head, *rest = _GAP.split(line.strip(), maxsplit=1)
        words = head.replace("|", ", ").split()
        while len(words) > 1 and _PLACE.match(words[-1]) and words[-1][:1] in "<[":
            words.pop()  # commander writes the arguments behind the name
        head = " ".join(words)
        below = block[place + 1].strip() if place + 1 < len(block) else ""
        is_followed = bool(rest) or (
            place + 1 < len(block) and _indent(block[place + 1]) > _indent(line)
        )
        if not _COMMAND.match(head) or not (is_followed or len(words) == 1):
            continue
        names = [each.strip().rstrip("*") for each in head.split(",")]
        summary = (rest[0] if rest else below if is_followed else "").strip()
        summary = re.sub(r"^(?:[-:]|\(.*?\)) +", "", summary)
        yield {"name": names[0], "summary": summary[:_LONGEST_SUMMARY], "aliases": names[1:]}


def _argparse_commands(block: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the commands that ``{add,rm}`` lists, and what is said of them below it."""
    summaries: dict[str, str] = {}
    inside, usual = False, 0
    text = " ".join(line.strip() for line in block)
    listed = re.match(r"(?:\w+ )?\{([^}]+)\}", text)
    if listed is None:
        return
    chosen = [name.strip() for name in listed[1].split(",")]
    for line in block:
        head, *rest = _GAP.split(line.strip(), maxsplit=1)
        name, _, alias = head.partition(" (")
        if head.startswith("{"):
            inside, usual = True, _indent(line)
        elif inside and _indent(line) > usual and name in chosen:
            summaries[name] = rest[0] if rest else ""
            for other in alias.rstrip(")").split(", ") if alias else ():
                summaries.setdefault(f"\0{other}", name)
    aliases = {other[1:]: name for other, name in summaries.items() if other[:1] == "\0"}
    if not summaries and len(block) > 1 and not re.match(r"\{[^}]+\}$", block[0].strip()):
        return  # choices of an argument
    for name in chosen:
        if name not in aliases:
            own = [other for other, of in aliases.items() if of == name]
            summary = summaries.get(name, "")[:_LONGEST_SUMMARY]
            yield {"name": name, "summary": summary, "aliases": own}


# -- options -------------------------------------------------------------------------------------


def _flags(block: list[str]) -> Iterator[dict[str, Any]]:
    options = [_indent(line) for line in block if _OPTION.match(line.strip())]
    furthest = min(options, default=0) + _MOST_ASTRAY
    for place, line in enumerate(block):
        text = line.strip()
        # Far to the right it is the word of a sentence.
        if not _OPTION.match(text) or _indent(line) > furthest:
            continue
        head, *rest = _GAP.split(text, maxsplit=1)
        if rest and re.match(r"-{1,2}\w", rest[0]) and head.endswith(","):
            again = _GAP.split(rest[0], maxsplit=1)  # a column for short options
            head, rest = f"{head} {again[0]}", again[1:]
        if rest and _VALUE.fullmatch(rest[0].split()[0]) and len(_GAP.split(rest[0], 1)) == 2:
            value, _, more = rest[0].partition(" ")  # a column for values, as in rich boxes
            head, rest = f"{head} {value}", [more.strip()]
        described = rest[:1]
        for more in block[place + 1 :]:
            if _OPTION.match(more.strip()) or _indent(more) <= _indent(line):
                break
            described.append(more.strip())
            if len(described) > 3:
                break
        yield from _flag(head, " ".join(described)[:_LONGEST_SUMMARY])


def _flag(head: str, description: str) -> Iterator[dict[str, Any]]:
    written: list[str] = []
    value, negated = "", []
    head = re.sub(r"^(-\w(?: ?[A-Z<]\S*)?) (?=--[A-Za-z])", r"\1, ", head)  # as in docopt
    for part in re.split(r",\s*| / | \| |(?<=\w)/(?=-)|\|(?=-)", head.rstrip(":;")):
        match = _SPELLING.match(part.strip())
        if match is None:
            if not written:
                return
            continue
        name, rest = match[1], part.strip()[match.end() :].strip()
        name = name.rstrip(".:")
        if "[no" in name:
            name = re.sub(r"\[no-?\]", "", name)
            negated.append(f"--no-{name.lstrip('-')}")
        written.append(name)
        rest = rest.removeprefix("=")
        if rest.startswith(("[=", "[<")):
            value = value or rest[1:].lstrip("=").rstrip("]")
        elif rest:
            first = rest.split()[0]
            attached = part.strip()[match.end() : match.end() + 1] in ("=", "[", "<")
            if attached or _VALUE.match(first) or len(rest.split()) <= 2:
                value = value or rest
    names = [name for name in written if not _negates(name, written)]
    if not names:
        return
    name, short = spelled_name(names, "")
    found: dict[str, Any] = {"name": name, **spellings(names, name, short)}
    found["spellings"] = sorted({*written, *negated})
    found["description"] = description
    negations = [*negated, *(each for each in written if each not in names)]
    if negations:
        found["negation"] = negations[0].lstrip("-")
    found["type"] = "string" if value else "bool"
    choices = _CHOICES.search(description) or _CHOICES.search(value)
    if choices and value:
        listed = next(filter(None, choices.groups()))
        found["choices"] = [each.strip(" \"'") for each in listed.split(",")]
    default = _DEFAULT.search(description)
    if default and value:
        found["default"] = default[1].strip()
    if value in ("true", "false"):
        found.update(type="bool", default=value == "true")
    if value.endswith("..."):
        found["repeats"] = True
    if re.search(r"[\[(]required[\])]", description, re.IGNORECASE):
        found["required"] = True
    yield found


def _negates(name: str, written: list[str]) -> bool:
    return name.startswith("--no-") and f"--{name[5:]}" in written


def _flags_of_usage(usage: str) -> Iterator[dict[str, Any]]:
    for part in re.findall(r"\[(-[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\]", usage):
        pieces = [piece.strip() for piece in part.split("|")]
        if all(piece.startswith("-") for piece in pieces):
            for piece in pieces:
                spelled, _, value = piece.partition(" ")
                yield from _flag(f"{spelled} {value}".strip(), "")


# -- arguments -----------------------------------------------------------------------------------


def _usage(lines: list[str]) -> str:
    """Return the first usage that the text shows, on one line."""
    for place, line in enumerate(lines):
        match = _USAGE.match(line.strip())
        if match is None and line.strip().casefold() not in ("usage", "synopsis"):
            continue
        shown = [match[1] if match else ""]
        for more in lines[place + 1 : place + 30]:
            if (not more.strip() and any(shown)) or (more.strip() and not _indent(more)):
                break
            if _USAGE.match(more.strip()) or (any(shown) and _OPTION.match(more.strip())):
                break
            shown.append(more.strip())
            if not match and any(shown):
                break
        return " ".join(filter(None, shown))
    return ""


def _arguments(block: list[str]) -> Iterator[dict[str, Any]]:
    usual = min(map(_indent, block))
    for line in block:
        head, *rest = _GAP.split(line.strip(), maxsplit=1)
        if _indent(line) > usual + 2 or _OPTION.match(head) or head.startswith("{"):
            continue
        match = _PLACE.match(head.lstrip("* "))
        if match is not None and len(match[2].split()) == 1:
            description = (rest[0] if rest else "")[:_LONGEST_SUMMARY]
            many = bool(match[3] or match[4])
            yield _argument(match[2], description, match[1] is None, many)


def _arguments_of_usage(usage: str) -> Iterator[dict[str, Any]]:
    # What is typed only with an option is no argument.
    usage = re.sub(r"\[-[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*\]", " ", usage)
    usage = re.sub(r"\s-{1,2}[\w-]+[= ]<[^>]*>", " ", usage)
    for word in _PLACES.findall(usage):
        match = _PLACE.match(word)
        if match is None or match[2].strip().casefold().rstrip("s") in _NO_ARGUMENT:
            continue
        name = match[2].strip().replace(" ", "-")
        yield _argument(name, "", not word.startswith("["), "..." in word)


def _argument(name: str, description: str, required: bool, many: bool) -> dict[str, Any]:
    values = -1 if many else 1
    return {"name": name, "description": description, "required": required, "values": values}


# -- the rest ------------------------------------------------------------------------------------


def _summary(lines: list[str], name: str) -> str:
    """Return the first line that says what the command does."""
    in_usage = False
    for line in lines:
        text = line.strip()
        if re.match(r"[\w.-]+\(\d\w*\)\s", text):  # the first line of a manual page
            continue
        if _USAGE.match(text) or text.casefold() in ("usage", "usage:", "name", "name:"):
            in_usage = text.casefold().startswith("usage")
            continue
        if not text or (in_usage and _indent(line)):
            in_usage = in_usage and bool(text)
            continue
        if _OPTION.match(text) or text.endswith(":") or text == name:
            if text.endswith(":") and _kind_of(text, False) != "options":
                return ""
            continue
        text = re.sub(rf"^(?:[\w-]+-)?{re.escape(name)}(?: --? |: )", "", text)
        return text[:_LONGEST_SUMMARY]
    return ""


def _unique(found: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    seen: set[str] = set()
    kept = []
    for each in found:
        names = each[key] if isinstance(each[key], list) else [each[key]]
        if seen.isdisjoint(names):
            kept.append(each)
            seen.update(names)
    return kept
