"""Ten questions to the office, answered through plain click, the one line, and annotations.

Every call is a process on pipes, and what it prints decides which call is next. Whoever asks
starts without knowing the tool: through plain click by reading the help of the root, and of each
group and command before its first use, through murli by reading the help of the root alone.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import office_store as store

HERE = Path(__file__).parent
WAYS = {"plain click": "office_plain.py", "one line": "office_line.py"}
WAYS["annotated"] = "office_annotated.py"
# An export takes as long as three looks at it: as somebody would look who expects a minute.
EXPORT_SECONDS, LOOK_SECONDS = 1.2, 0.4
Answer = Any


class Office:
    """An office of one's own, and what was called and read there."""

    def __init__(self, entry: str, folder: Path) -> None:
        self.entry = entry
        self.folder = folder
        self.calls: list[tuple[str, int]] = []
        self._known: set[str] = set()
        (folder / "office.json").write_text(json.dumps(store.seed()))

    def data(self) -> dict[str, list[store.Row]]:
        """Return the data as they are."""
        data: dict[str, list[store.Row]] = json.loads((self.folder / "office.json").read_text())
        return data

    def words(self) -> list[str]:
        """Return what calls the tool."""
        return [sys.executable, str(HERE / self.entry)]

    def run(self, line: str, answer: str = "") -> subprocess.CompletedProcess[str]:
        """Call the tool, and count."""
        ours = ("MURLI", "COLUMNS", "PYTHONDONTWRITE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        done = subprocess.run(
            [*self.words(), *shlex.split(line)],
            input=answer,
            env={
                **kept,
                "OFFICE_DATA": str(self.folder),
                "OFFICE_EXPORT_SECONDS": str(EXPORT_SECONDS),
                "PYTHONIOENCODING": "utf-8",
            },
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        size = len(done.stdout.encode()) + len(done.stderr.encode())
        self.calls.append((f"office {line}", size))
        return done

    def learn(self, command: str) -> None:
        """Read the help of *command*, of its group and of the root, unless that was read."""
        words = command.split()
        for known in range(len(words) + 1):
            line = " ".join([*words[:known], "--help"])
            if line not in self._known:
                self._known.add(line)
                assert self.run(line).returncode == 0, line


# -- through plain click --------------------------------------------------------------------


class Plain(Office):
    """What is printed for people is taken apart."""

    def table(self, command: str, more: str = "") -> list[dict[str, str]]:
        """Return the rows of the table that *command* prints."""
        self.learn(command)
        names: list[str] = []
        rows = []
        for line in self.run(f"{command} {more}").stdout.splitlines():
            if line.startswith("┃"):
                names = [cell.strip() for cell in line.strip("┃").split("┃")]
            elif line.startswith("│"):
                cells = [cell.strip() for cell in line.strip("│").split("│")]
                rows.append(dict(zip(names, cells, strict=True)))
        return rows

    def fields(self, command: str, more: object) -> dict[str, str]:
        """Return what *command* prints a line each."""
        self.learn(command)
        done = self.run(f"{command} {more}")
        pairs = (line.partition(":") for line in (done.stdout + done.stderr).splitlines())
        return {name: value.strip() for name, _, value in pairs}

    def do(self, command: str, more: object = "") -> str:
        """Make a change; where that is asked for, say yes."""
        self.learn(command)
        done = self.run(f"{command} {more}")
        if "[y/N]" in done.stdout + done.stderr:
            done = self.run(f"{command} {more}", "y\n")
        assert done.returncode == 0, done
        return done.stdout

    def unpaid(self) -> Answer:
        """Whose invoices over 3000 are unpaid?"""
        rows = self.table("invoices list", "--unpaid")
        return sorted({int(row["Customer"]) for row in rows if int(row["Amount"]) > 3000})

    def ship(self) -> Answer:
        """Ship order 1042 if it is packed."""
        if self.fields("orders show", 1042)["Status"] == "packed":
            self.do("orders ship", 1042)

    def is_done(self) -> Answer:
        """Is export 7 done?"""
        return self.fields("exports status", 7)["Status"] == "done"

    def south(self) -> Answer:
        """How many of these five articles are in the south?"""
        return {sku: int(self.fields("stock show", sku)["South"]) for sku in SKUS}

    def test_customers(self) -> Answer:
        """Delete the customers with mail to example.test."""
        for row in self.table("customers list"):
            if row["Email"].endswith("@example.test"):
                self.do("customers delete", row["Id"])

    def export(self) -> Answer:
        """Export the invoices, and fetch the file when done."""
        self.learn("exports start")
        number = self.fields("exports start", "invoices")["Export"]
        while self.fields("exports status", number)["Status"] != "done":
            time.sleep(LOOK_SECONDS)
        return self.do("exports fetch", number)

    def renamed(self) -> Answer:
        """Settle 3017; it was once `invoices mark-paid`."""
        self.do("invoices pay", 3017)  # the help of the group, read before, has no mark-paid

    def misspelled(self) -> Answer:
        """How many SOFAS-07 are in the north?"""
        found = self.fields("stock show", "SOFAS-07")
        if "North" not in found:
            near = found["Error"].rpartition("Did you mean ")[2].rstrip("?")
            found = self.fields("stock show", near)
        return int(found["North"])

    def remind(self) -> Answer:
        """Send reminders of the three largest overdue invoices."""
        rows = self.table("reports overdue")
        for row in sorted(rows, key=lambda row: -int(row["Amount"]))[:3]:
            self.do("invoices remind", row["Id"])

    def purge(self) -> Answer:
        """What would `admin purge` delete?"""
        self.learn("admin purge")
        return [int(row["Id"]) for row in self.table("orders list", "--status cancelled")]


# -- through murli --------------------------------------------------------------------------


class Line(Office):
    """The help of the root has it all, and an answer is a document."""

    def ask(self, line: str, answer: str = "") -> Any:
        """Return the document that a call answers with."""
        self.learn("")
        done = self.run(line, answer)
        text = done.stdout or done.stderr
        return json.loads(text if text.startswith("{\n") else text.splitlines()[-1])

    def rows(self, line: str, *names: str) -> list[dict[str, Any]]:
        """Return the fields *names* of the rows of a list, all its pages, by these names."""
        document = self.ask(f"{line} --fields {','.join(names)} --limit 0")
        return [{key.lower(): row[key] for key in row} for row in document["result"]]

    def fields(self, document: Any) -> dict[str, str]:
        """Return the fields in a result, also where they were printed."""
        result = document["result"]
        if isinstance(result, dict) and "lines" not in result:
            return {name.lower(): str(value) for name, value in result.items()}
        lines = result["lines"] if isinstance(result, dict) else result.splitlines()
        pairs = (line.partition(":") for line in lines)
        return {name.lower(): value.strip() for name, _, value in pairs}

    def do(self, line: str) -> Any:
        """Make a change that is meant; where a question remains, answer it."""
        document = self.ask(f"{line} --yes")
        if document.get("error") == "input_required":
            document = self.ask(f"{line} --yes", "y\n")
        if "redirect" in document:
            document = self.ask(document["redirect"]["command"].removeprefix("office "))
        assert document["status"] == "ok", document
        return document

    def each(self, line: str, values: list[Any]) -> list[Any]:
        """Return what becomes of each of *values*, one call each."""
        return [self.do(f"{line} {value}")["result"] for value in values]

    def unpaid(self) -> Answer:
        rows = self.rows("invoices list --unpaid", "customer", "amount")
        return sorted({int(row["customer"]) for row in rows if int(row["amount"]) > 3000})

    def ship(self) -> Answer:
        if self.fields(self.ask("orders show 1042"))["status"] == "packed":
            self.do("orders ship 1042")

    def is_done(self) -> Answer:
        return self.fields(self.ask("exports status 7"))["status"] == "done"

    def south(self) -> Answer:
        return {sku: int(self.fields(self.ask(f"stock show {sku}"))["south"]) for sku in SKUS}

    def test_customers(self) -> Answer:
        rows = self.rows("customers list", "id", "email")
        tests = [row["id"] for row in rows if row["email"].endswith("@example.test")]
        self.each("customers delete", tests)

    def export(self) -> Answer:
        number = self.fields(self.do("exports start invoices"))["export"]
        status = f"exports status {number} --until status=done --every {LOOK_SECONDS}"
        assert self.fields(self.ask(status))["status"] == "done"
        return self.ask(f"exports fetch {number}")["result"]

    def renamed(self) -> Answer:
        self.do("invoices pay 3017")  # the card has no mark-paid

    def misspelled(self) -> Answer:
        document = self.ask("stock show SOFAS-07")
        if document["status"] == "error":
            near = document["message"].rpartition("Did you mean ")[2].rstrip("?")
            document = self.ask(f"stock show {near}")
        return int(self.fields(document)["north"])

    def remind(self) -> Answer:
        rows = self.rows("reports overdue", "id", "amount")
        largest = sorted(rows, key=lambda row: -int(row["amount"]))[:3]
        self.each("invoices remind", [row["id"] for row in largest])

    def purge(self) -> Answer:
        return [int(row["id"]) for row in self.rows("orders list --status cancelled", "id")]


class Annotated(Line):
    """Several values go into one call, answers name the next one, and a plan shows a deletion."""

    def each(self, line: str, values: list[Any]) -> list[Any]:
        """Return what becomes of each of *values*, in one call."""
        results = self.do(f"{line} {' '.join(map(str, values))}")["result"]["results"]
        return [item["result"] for item in results]

    def south(self) -> Answer:
        found = self.ask(f"stock show {' '.join(SKUS)} --fields south")["result"]["results"]
        return {each["item"]: each["result"]["south"] for each in found}

    def export(self) -> Answer:
        document = self.do("exports start invoices")
        for _ in range(2):  # what comes next is in the answer
            document = self.ask(document["next"][0].removeprefix("office "))
        return document["result"]

    def renamed(self) -> Answer:
        self.do("invoices mark-paid 3017")  # the card says that this is `pay` now

    def purge(self) -> Answer:
        return self.ask("admin purge --dry-run")["plan"]["would_delete"]


# -- what is right --------------------------------------------------------------------------

SKUS = ["CHAIR-03", "DESK-11", "LAMP-02", "SHELF-16", "SOFA-07"]
WAY_OF = {"plain click": Plain, "one line": Line, "annotated": Annotated}
QUESTIONS = (
    *("unpaid", "ship", "is_done", "south", "test_customers"),
    *("export", "renamed", "misspelled", "remind", "purge"),
)


def check(question: str, answer: Answer, old: Any, new: Any) -> None:
    """Fail unless *answer* is right and the data are *new* as they should be."""
    stock = {row["sku"]: row for row in old["stock"]}
    invoices = old["invoices"]
    if question == "unpaid":
        due = {row["customer"] for row in invoices if not row["paid"] and row["amount"] > 3000}
        assert answer == sorted(due), answer
    elif question == "ship":
        assert {row["id"]: row for row in new["orders"]}[1042]["status"] == "shipped"
    elif question == "is_done":
        assert answer is True
    elif question == "south":
        assert answer == {sku: stock[sku]["south"] for sku in SKUS}, answer
    elif question == "test_customers":
        kept = [row for row in old["customers"] if row["id"] not in (17, 33, 58)]
        assert new["customers"] == kept
    elif question == "export":
        assert f"Wrote {len(invoices)} rows" in str(answer), answer
    elif question == "renamed":
        assert {row["id"]: row for row in new["invoices"]}[3017]["paid"] is True
    elif question == "misspelled":
        assert answer == stock["SOFA-07"]["north"], answer
    elif question == "remind":
        assert len(new["mails"]) == len(old["mails"]) + 3
    else:
        cancelled = [row["id"] for row in old["orders"] if row["status"] == "cancelled"]
        assert answer == cancelled and new["orders"] == old["orders"], answer


def measure(way: str) -> dict[str, list[tuple[str, int]]]:
    """Return the calls that each question needed, with the bytes that each printed."""
    needed = {}
    with tempfile.TemporaryDirectory() as folder:
        office = WAY_OF[way](WAYS[way], Path(folder))
        for question in QUESTIONS:
            before, so_far = office.data(), len(office.calls)
            answer = getattr(office, question)()
            check(question, answer, before, office.data())
            needed[question] = office.calls[so_far:]
    return needed


def measured() -> dict[str, dict[str, list[tuple[str, int]]]]:
    """Return what `measure` returns for every way."""
    with ThreadPoolExecutor() as pool:
        return dict(zip(WAYS, pool.map(measure, WAYS), strict=True))


def row(name: str, found: list[list[tuple[str, int]]]) -> str:
    """Return a row of the table: calls and bytes of each way."""
    cells = (f"{len(calls):>6} {sum(size for _, size in calls):>8,}" for calls in found)
    return f"{name:<53}" + "".join(cells)


def main() -> None:
    """Print the table, or its end with ``--short``."""
    found = measured()
    short = "--short" in sys.argv[1:]
    print(f"{'calls, and bytes printed':<53}" + "".join(f"{way:>15}" for way in WAYS))
    for question in ["south", "export"] if short else QUESTIONS:
        text = getattr(Plain, question).__doc__ or ""
        print(row(text.rstrip("."), [calls[question] for calls in found.values()]))
    everything = [[*chain.from_iterable(calls.values())] for calls in found.values()]
    helps = [[c for c in calls if c[0].endswith("--help")] for calls in everything]
    print(row("calls for help, all ten questions", helps))
    print(row("all ten questions", everything))
    if "--calls" in sys.argv[1:]:
        for way, calls in zip(found, everything, strict=True):
            print(f"\n{way}")
            print("\n".join(f"{size:>8,}  {line}" for line, size in calls))


if __name__ == "__main__":
    main()
