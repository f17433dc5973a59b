"""Reads the code blocks of a page of the documentation, and runs them as a reader would.

A page is one folder: blocks with a file name are written there, the others run there, in order. In
a page with tabs each tab is a folder of its own, and what stands outside of the tabs happens in
all of them.

- ```` ```python title="bak.py" ```` is a file. A title that begins with "in " is a part of one: its
  imports are added, its functions and classes take the place of those of their names, and what is
  new stands above the next of them, or above the call of `enable` or what runs the program.
- ```` ```python ```` without a title runs, in one namespace with the other such blocks of the page.
  ``<!-- before: … -->`` in front of it is code that a reader has and does not have to see.
- ```` ```console ```` is a session at a terminal: each line behind ``$ `` is a command, the lines
  that follow are what it shows. ``…`` stands for the rest of a line, or for any lines.
  ``<!-- keys: y -->`` in front of it is what the reader types.
- ```` ```sh ```` are commands whose output is not shown: make targets and installations exist, all
  else runs and succeeds.
- json and toml are well-formed; a toml block with a title is a file.
- ``<!-- tool: NAME``, code, ``-->`` is a Python program that the reader has installed by that name.
"""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from harness import REPOSITORY

# How wide the terminal of a reader is, and how long a block may take.
COLUMNS, SECONDS = 80, 60.0
_FENCE = re.compile(
    r'^(?P<indent> *)(?P<ticks>```+)(?P<language>\w*)(?: title="(?P<title>[^"]*)")?'
    r"(?P<more>[^\n`]*)\n(?P<text>.*?)^(?P=indent)(?P=ticks)$",
    re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(r"<!-- (before|keys): ?((?:(?!-->).)*)-->\s*$", re.DOTALL)
_TOOL = re.compile(r"^<!-- tool: (\S+)\n(.*?)^-->$", re.DOTALL | re.MULTILINE)
_TAB = re.compile(r'^=== "([^"]+)"$', re.MULTILINE)
_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[=>])")
# The statement of a program in front of which a part of it is put.
_STARTS = re.compile(r"murli\.enable\(|if __name__ ==")
# What divides the outputs of the commands of one block.
_MARK = "\x1e"


class Block(NamedTuple):
    """One block of code, and where it stands."""

    page: Path
    line: int
    language: str
    title: str
    text: str
    tab: str
    before: str  # code that the reader has already
    keys: str  # what the reader types

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(REPOSITORY)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """Return the code blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return list(_blocks(page, text))


def _blocks(page: Path, text: str) -> Iterator[Block]:
    for found in _FENCE.finditer(text):
        indent, above = found["indent"], text[: found.start()]
        lines = [line.removeprefix(indent) for line in found["text"].splitlines(keepends=True)]
        comment = _COMMENT.search(above)
        notes = {comment[1]: comment[2]} if comment else {}
        yield Block(
            page,
            above.count("\n") + 1,
            found["language"],
            found["title"] or "",
            "".join(lines),
            _tab_around(above) if indent else "",
            notes.get("before", ""),
            notes.get("keys", ""),
        )


def _tab_around(above: str) -> str:
    """Return the label of the tab that the end of *above* is in: all behind it is indented."""
    labels = list(_TAB.finditer(above))
    if not labels or re.search(r"^\S", above[labels[-1].end() :], re.MULTILINE):
        return ""
    return labels[-1][1]


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of a reader: nothing of ours, and a home that is empty."""
    return {
        "PATH": f"{folder}/.bin:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder / ".home"),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm",
        "COLUMNS": str(COLUMNS),
        "PS1": "$ ",
    }


def run_page(page: Path, root: Path) -> None:
    """Run the blocks of *page* in folders below *root*."""
    blocks = blocks_of(page)
    for tab in dict.fromkeys([block.tab for block in blocks if block.tab] or [""]):
        folder = root / (tab or "page")
        (folder / ".home").mkdir(parents=True)
        install_tools(page, folder)
        mine = [block for block in blocks if block.tab in ("", tab)]
        for block in mine:
            _RUNNERS[block.language](block, folder)
        run_fragments([block for block in mine if is_fragment(block)], folder)


def install_tools(page: Path, folder: Path) -> None:
    """Put the programs of a page on the path of its reader."""
    (folder / ".bin").mkdir()
    for name, source in _TOOL.findall(page.read_text(encoding="utf-8")):
        program = folder / ".bin" / name
        program.write_text(f"#!{sys.executable}\n{source}", encoding="utf-8")
        program.chmod(0o755)


def is_fragment(block: Block) -> bool:
    """Return whether it runs in the namespace of its page."""
    return block.language == "python" and not block.title


def run_fragments(blocks: list[Block], folder: Path) -> None:
    """Run *blocks* in one namespace, in a process of their own."""
    parts = [
        part
        for b in blocks
        for part in ((f"{b.place} (before)", b.before), (b.place, b.text))
        if part[1].strip()
    ]
    if not parts:
        return
    source = f"""
import linecache
names = {{"__name__": "snippets"}}
for place, text in {parts!r}:
    linecache.cache[place] = (len(text), None, text.splitlines(True), place)
    exec(compile(text, place, "exec"), names)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def write_file(block: Block, folder: Path) -> None:
    """Write a block with a title as that file, or put it into the file it is a part of."""
    if not block.title:
        return
    name = block.title.removeprefix("in ")
    if name == block.title:
        text = block.text
    else:
        text = _with_part((folder / name).read_text(encoding="utf-8"), block.text)
    ast.parse(text, block.place)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def _with_part(whole: str, part: str) -> str:
    """Return the program *whole* with the statements of *part* in their places."""
    new = ""
    for node in ast.parse(part).body:
        text = _text_of(part, node)
        if isinstance(node, ast.Import | ast.ImportFrom):
            whole = text + whole
            continue
        old = [each for each in ast.parse(whole).body if _name(each) == _name(node) is not None]
        if old:
            # What is new and stands above it in the part stands above it in the program.
            whole = _replaced(whole, _first_line(old[0]), old[0].end_lineno, f"{new}{text}")
            new = ""
        else:
            new += f"{text}\n\n"
    starts = [each for each in ast.parse(whole).body if _STARTS.match(_text_of(whole, each))]
    first = _first_line(starts[0]) if starts else whole.count("\n")
    return _replaced(whole, first, first, new)


def _replaced(whole: str, first: int, end: int | None, text: str) -> str:
    lines = whole.splitlines(keepends=True)
    lines[first:end] = [text]
    return "".join(lines)


def _name(node: ast.stmt) -> str | None:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    return getattr(node, "name", None)


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)]) - 1


def _text_of(source: str, node: ast.stmt) -> str:
    lines = source.splitlines(keepends=True)
    return "".join(lines[_first_line(node) : node.end_lineno]).rstrip("\n") + "\n"


def run_session(block: Block, folder: Path) -> None:
    """Run the commands of a session at a terminal, and compare what each shows."""
    steps = _steps(block)
    script = "".join(f"{command}\n(c=$?; printf '{_MARK}'; exit $c)\n" for command, _ in steps)
    shown = _at_terminal(["sh", "-c", script], folder, block.keys)
    outputs = shown.split(_MARK)
    assert len(outputs) == len(steps) + 1, f"{block.place}:\n{shown}"
    for (command, expected), found in zip(steps, outputs, strict=False):
        assert _matches(expected, found), f"{block.place}: $ {command}\n{found}\n-- not\n{expected}"


def _steps(block: Block) -> list[tuple[str, str]]:
    """Return each command of a session with what it shows."""
    head, *steps = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
    assert not head.strip() and steps, f"{block.place}: a session begins with a command"
    found = []
    for step in steps:
        command = re.match(r"(?:.*\\\n)*.*\n?", step)
        assert command
        # A comment behind a command is for the reader.
        found.append((command[0].rstrip("\n"), step[command.end() :]))
    return found


def _matches(expected: str, found: str) -> bool:
    """Return whether a text is as expected; ``…`` is the rest of a line, or any lines."""
    lines = [line.rstrip() for line in expected.strip("\n").splitlines()]
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in lines
    )
    text = "".join(f"{line.rstrip()}\n" for line in found.strip("\n").splitlines())
    return re.fullmatch(pattern, text) is not None


def shown_at_terminal(command: str, folder: Path, keys: str = "") -> str:
    """Return what a reader sees who runs *command* in *folder* and types *keys*."""
    return _at_terminal(["sh", "-c", command], folder, keys)


def _at_terminal(argv: list[str], folder: Path, keys: str) -> str:
    screen, inside = pty.openpty()
    process = subprocess.Popen(
        argv,
        cwd=folder,
        env=environment(folder),
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    typed = keys.strip().encode() + b"\n" if keys else b""
    shown, deadline = bytearray(), time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if select.select([screen], [], [], 0.5)[0]:
            try:
                part = os.read(screen, 65536)
            except OSError:  # nobody holds the other side any more
                break
            if not part:
                break
            shown += part
            if typed and not shown.endswith(b"\n"):  # it asks
                os.write(screen, typed)
                typed = b""
    else:
        os.killpg(process.pid, 9)
    os.close(screen)
    process.wait(SECONDS)
    text = _ESCAPES.sub("", shown.decode("utf-8", "replace")).replace("\r\n", "\n")
    return re.sub(r"[^\n]*\r", "", text)  # what is drawn over


def run_commands(block: Block, folder: Path) -> None:
    """Run commands whose output a page does not show."""
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
        command = line.partition("  #")[0].strip()
        if target := re.fullmatch(r"make ([\w -]+)", command):
            known = re.findall(r"^([\w-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
            assert set(target[1].split()) <= set(known), f"{block.place}: {command}"
        elif extras := re.fullmatch(r"pip install (?:murli|'?\.)(?:\[([\w,]+)\])?'?", command):
            for extra in (extras[1] or "").split(",") if extras[1] else ():
                assert re.search(rf"^{extra} = \[", project, re.MULTILINE), (
                    f"{block.place}: {extra}"
                )
        elif command and not command.startswith("git clone "):
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=folder,
                env=environment(folder),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
            assert done.returncode == 0, f"{block.place}: {command}\n{done.stdout}{done.stderr}"


def read_json(block: Block, folder: Path) -> None:
    """Hold a JSON block to its syntax; it may have one document on each line."""
    lines = block.text.splitlines()
    for document in lines if all(line.startswith("{") for line in lines) else [block.text]:
        json.loads(document)


def read_toml(block: Block, folder: Path) -> None:
    """Hold a TOML block to its syntax; one with a title is a file."""
    import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(block.text)
    if block.title:
        (folder / block.title).write_text(block.text, encoding="utf-8")


def _nothing(block: Block, folder: Path) -> None:
    """Leave prose in a block alone."""


_RUNNERS = {
    "python": write_file,
    "console": run_session,
    "sh": run_commands,
    "json": read_json,
    "toml": read_toml,
    "text": _nothing,
}
