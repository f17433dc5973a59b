"""A skill as text: SKILL.md, and the reference files that it leads to where there is much to say.

An agent always sees the name and the description, reads SKILL.md when these fit its task, and a
reference file when it wants to call one of the commands in there.
"""

from __future__ import annotations

import json
import re

from ..formats.text import clean_line
from .markdown import danger_in, facts_of, needs_confirmation, sections_of, shell, usage_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

#: the file that is a skill, and where the others are
MAIN, REFERENCES = "SKILL.md", "references"
#: behind this line the text is somebody's own
END = "<!-- End of what"

# What may be in the frontmatter, as published.
_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 1024
_NOT_A_NAME = ("anthropic", "claude")
# How much of the commands stands in SKILL.md itself: a body has fewer than 500 lines.
_MOST_LINES, _MOST_LETTERS = 250, 14_000
# From how many on commands are not listed one by one.
_MOST_LISTED = 150
_MOST_NAMED = 30
_LONGEST_FILE = 400
_LONGEST_SUMMARY = 100
_MOST_FILES = 200


def skill_files(document: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return the files of a skill called *name* by their paths in its folder.

    *document* is that of ``describe``, completed as for AGENTS.md.
    """
    tool, through = document["name"], document.get("called_through")
    commands = document.get("commands") or []
    sections = [list(_sections(each, tool)) for each in commands]
    own = _joined(facts_of(document))
    files: dict[str, str] = {}
    describe = describing(document)
    whole = _joined(["## Commands", *(part for each in sections for part in each)])
    listed = whole if commands else ""
    if commands and not _fits(whole):
        places = _placed(sections)
        listed = _joined(["## Commands", *_index(commands, places, describe)])
        files = {path: _reference(tool, describe, parts) for path, parts in places}
    if not _fits(own):
        path = f"{REFERENCES}/options.md"
        files[path] = _reference(tool, describe, [own])
        own = f"The options of `{tool}` itself: [{path}]({path})."
    body = [
        f"# {tool}",
        _line(document.get("summary", "")),
        "## Calls",
        f"Write `{through}` before every call: `{through} {tool} ...`." if through else "",
        *usage_of(document),
        own,
        f"`{describe} COMMAND` prints all that is known of a command as JSON.",
        *_exit_codes(document),
        *_safety(document),
        listed,
    ]
    head = f"---\nname: {name}\ndescription: {json.dumps(_description(document))}\n---\n\n"
    return {MAIN: head + _joined([*body, _end(tool)]) + "\n", **files}


def _fits(text: str) -> bool:
    """Return whether *text* is short enough for SKILL.md itself."""
    return _count(text) <= _MOST_LINES and len(text) <= _MOST_LETTERS


def describing(document: Mapping[str, Any]) -> str:
    """Return the words that describe the tool."""
    tool = document["name"]
    return f"murli describe {tool}" if document.get("called_through") else f"{tool} describe"


def skill_name(text: str) -> str:
    """Return *text* as a skill may be called, ``""`` where nothing is left of it."""
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST_NAME].strip("-")
    return "" if any(word in name for word in _NOT_A_NAME) else name


def parted(text: str) -> tuple[str, str]:
    """Return a generated *text* up to its end mark, with that, and the rest, which is not ours.

    Both are ``""`` where it has no such mark.
    """
    found = re.search(rf"^{re.escape(END)}.*\n?", text, re.MULTILINE)
    if found is None:
        return "", ""
    return text[: found.end()].rstrip("\n") + "\n", text[found.end() :]


def _end(tool: str) -> str:
    return f"{END} `{tool} describe --skill` wrote. Your own text may follow. -->"


# -- the frontmatter ----------------------------------------------------------------------------


def _description(document: Mapping[str, Any]) -> str:
    """Return what the skill is for: what an agent decides by whether to read it."""
    tool = document["name"]
    parts = [_sentence(document.get("summary", "") or f"The command-line tool {tool}")]
    when = _line(document.get("when_to_use", ""))
    parts += [_sentence(when)] if when else []
    leaves = (each for _, each in _called(document, "") if not each.get("subcommands"))
    does = list(dict.fromkeys(filter(None, map(_purpose, leaves))))
    use = " ".join([*parts, f"Use when a task calls for `{tool}`"])
    found = f"{use}."
    for count in range(1, len(does) + 1):
        longer = f"{use}: {'; '.join(does[:count])}."
        if len(longer) > _LONGEST_DESCRIPTION - 24:
            break
        found = longer
    # What looks like the end of the frontmatter, or like a tag, is not allowed in it.
    found = re.sub(r"-{3,}", "--", found.replace("<", "").replace(">", ""))
    return found if len(found) <= _LONGEST_DESCRIPTION else f"{found[: _LONGEST_DESCRIPTION - 2]} …"


def _purpose(command: Mapping[str, Any]) -> str:
    """Return what a command does as part of a sentence."""
    text = _line(command.get("summary", "")).rstrip(".")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


# -- the body -----------------------------------------------------------------------------------


def _exit_codes(document: Mapping[str, Any]) -> Iterator[str]:
    codes = [f"- {code}: {meaning}" for code, meaning in document["exit_codes"].items()]
    if codes:
        yield "## Exit codes"
        yield "\n".join(codes)


def _safety(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield which commands change something, and what to do about that."""
    known: dict[str, list[str]] = {}
    guarded = False
    entries = list(_called(document, "")) or [(document["name"], document)]
    for path, command in entries:
        known.setdefault(danger_in(command) or "only reads", []).append(path)
        guarded = guarded or needs_confirmation(command)
    yield "## Safety"
    yield "Call what changes something only where the user wants exactly that." + (
        " What needs `--yes` is refused without it: add it only then." if guarded else ""
    )
    lines = []
    for danger, paths in sorted(known.items(), key=lambda each: (each[0] != "only reads", each)):
        lines.append(f"- {danger}: {_named(paths)}")
    yield "\n".join(lines)


def _named(paths: Sequence[str]) -> str:
    """Return the names of commands, of many only the first."""
    shown = ", ".join(f"`{path}`" for path in paths[:_MOST_NAMED])
    more = len(paths) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _called(document: Mapping[str, Any], above: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each command that can be called, with the words that name it."""
    for each in document.get("commands") or document.get("subcommands") or ():
        path = f"{above}{each['name']}"
        if not each.get("subcommands") or each.get("runs"):
            yield path, each
        yield from _called(each, f"{path} ")


def _sections(command: Mapping[str, Any], tool: str) -> Iterator[str]:
    """Yield the sections of *command* and of those below it, each as one text."""
    lines: list[str] = []
    for part in sections_of(command, tool, ""):
        if part.startswith("### ") and lines:
            yield _joined(lines)
            lines = []
        lines.append(part)
    yield _joined(lines)


def _placed(sections: Sequence[Sequence[str]]) -> list[tuple[str, list[str]]]:
    """Return a reference file for each run of *sections*, with what stands in it.

    One for several short ones, several for a group that is long.
    """
    files: list[list[str]] = []
    size = 0
    for texts in sections:
        if not files or size + sum(map(_count, texts)) > _LONGEST_FILE // 2:
            files.append([])
            size = 0
        for text in texts:
            if files[-1] and size + _count(text) > _LONGEST_FILE:
                files.append([])
                size = 0
            files[-1].append(text)
            size += _count(text)
    names: dict[str, int] = {}
    placed = []
    for texts in files:
        first = skill_name(_path_of(texts[0]).partition(" ")[0]) or "commands"
        names[first] = names.get(first, 0) + 1
        number = f"-{names[first]}" if names[first] > 1 else ""
        placed.append((f"{REFERENCES}/{first}{number}.md", texts))
    return placed


def _index(
    commands: Sequence[Mapping[str, Any]], places: Sequence[tuple[str, list[str]]], describe: str
) -> Iterator[str]:
    """Yield where each command is described."""
    place = {_path_of(text): path for path, texts in places for text in texts}
    leaves = list(_called({"commands": commands}, ""))
    yield "Read the file of a command before you call it."
    if len(leaves) <= _MOST_LISTED:
        yield "\n".join(_listed(path, each, place[path]) for path, each in leaves)
        return
    yield f"`{describe} --search WORDS` finds commands by words."
    files = [(path, _named([*map(_path_of, texts)])) for path, texts in places[:_MOST_FILES]]
    yield "\n".join(f"- [{path}]({path}): {names}" for path, names in files)


def _listed(path: str, command: Mapping[str, Any], place: str) -> str:
    summary = _line(command.get("summary", ""))
    if len(summary) > _LONGEST_SUMMARY:
        summary = f"{summary[: _LONGEST_SUMMARY - 1]}…"
    danger = danger_in(command)
    marks = f" ({danger})" if danger else ""
    return f"- [`{path}`]({place}){marks}" + (f": {summary}" if summary else "")


def _path_of(section: str) -> str:
    return section.partition("\n")[0].removeprefix("### ")


def _reference(tool: str, describe: str, parts: Sequence[str]) -> str:
    head = [f"# {tool}", shell(f"{describe} COMMAND    # all of it as JSON")]
    return _joined([*head, *parts, _end(tool)]) + "\n"


def _joined(parts: Sequence[str] | Iterator[str]) -> str:
    return "\n\n".join(filter(None, parts))


def _count(text: str) -> int:
    return text.count("\n") + 2


def _line(text: str) -> str:
    return " ".join(clean_line(text).split())


def _sentence(text: str) -> str:
    text = _line(text)
    return text if text.endswith((".", "!", "?")) else f"{text}."
