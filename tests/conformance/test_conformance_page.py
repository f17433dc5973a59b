"""The page of a report in a real browser: it can be used, it asks for nothing, it runs nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import Browser, Tab, browser
from murli.conformance.reports import page
from murli.conformance.reports.page_commands import grown
from murli.conformance.results import Report
from report_samples import CRIES, hostile, large, small

pytestmark = pytest.mark.slow
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
#: what is in view: not hidden, and not in anything that is
SEEN = "const seen = each => each.checkVisibility();"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all of these tests."""
    with browser(tmp_path_factory.mktemp("browser")) as running:
        yield running


@pytest.fixture
def tab(chromium: Browser) -> Iterator[Tab]:
    """An empty tab of the size of a small screen."""
    found = chromium.tab()
    found.size(1280, 900)
    yield found
    found.close()


@pytest.fixture
def opened(tab: Tab, tmp_path: Path) -> Iterator[Opened]:
    """Open reports as pages; none of them may have complained or asked for anything."""
    found = Opened(tab, tmp_path / "report.html")
    yield found
    found.was_quiet()


class Opened:
    """The page of a report in a tab."""

    def __init__(self, tab: Tab, file: Path) -> None:
        self.tab = tab
        self._file = file

    def __call__(self, report: Report, anchor: str = "") -> Tab:
        """Open the page of *report*, at *anchor*."""
        self._file.write_text(page(report), "utf-8")
        self.tab.open(self._file.as_uri() + (f"#{anchor}" if anchor else ""))
        return self.tab

    def was_quiet(self) -> None:
        """Fail if anything was said to the console, or anything but the page was asked for."""
        assert self.tab.complaints == []
        assert {each.split("#")[0] for each in self.tab.requests} <= {self._file.as_uri()}


def names(tab: Tab) -> list[str]:
    """Give the paths of the commands that can be seen in the tree."""
    found: list[str] = tab.evaluate(
        f"(() => {{ {SEEN} return [...document.querySelectorAll('nav [role=treeitem]')]"
        ".filter(seen).map(each => each.querySelector('.word').textContent) })()"
    )
    return found


def heading(tab: Tab) -> list[str]:
    """Give the headings of the sections that can be seen."""
    found: list[str] = tab.evaluate(
        f"(() => {{ {SEEN} return [...document.querySelectorAll('main h2')]"
        ".filter(seen).map(each => each.firstChild.textContent.trim() + ' ' +"
        " (each.querySelector('b') || {textContent: ''}).textContent) })()"
    )
    return [each.strip() for each in found]


def items(tab: Tab) -> list[str]:
    """Give the ids of the checks whose entries can be seen in the results."""
    found: list[str] = tab.evaluate(
        f"(() => {{ {SEEN} return [...document.querySelectorAll('main .id')]"
        ".filter(seen).map(each => each.textContent) })()"
    )
    return found


ALL = ["teller", "account", "import", "list", "remove", "show", "rate"]


def test_tree_has_every_command(opened: Opened) -> None:
    """All commands are in the tree; at first the list of all checks is shown, what failed first."""
    tab = opened(small())
    assert names(tab) == ALL
    assert heading(tab) == ["All checks"]
    assert items(tab)[:2] == ["murli.answer.one-document", "process.stdin-silent"]
    assert tab.evaluate("document.querySelectorAll('main > section').length") == len(ALL) + 1


def test_click_shows_what_was_found(opened: Opened) -> None:
    """A click on a command shows its findings, with what reproduces them, and nothing else."""
    tab = opened(small())
    tab.click('nav a[href="#c-account-import"]')
    tab.settle("location.hash === '#c-account-import'")
    assert heading(tab) == ["teller account import"]
    told = tab.evaluate("document.querySelector('main').innerText")
    for each in (
        "Does not wait for a stdin that is open and silent",
        "waited for input until it was killed",
        "tail -f /dev/null | env NO_COLOR=1 teller account import 'my file.csv'",
        "did not end within 10.0 s",
        ".teller/lock",
        "Enter the IBAN:",
    ):
        assert each in told
    assert "murli.answer.one-document" not in told
    current = "document.querySelector('nav [aria-current]').hash"
    assert tab.evaluate(current) == "#c-account-import"


def test_keys_walk_the_tree(opened: Opened) -> None:
    """The tree is one stop of the tab key; arrows walk in it, open and close; enter selects."""
    tab = opened(small())
    focused = "document.activeElement.hash || document.activeElement.className"
    tab.press("Tab")
    assert tab.evaluate(focused) == "#results"
    for _ in range(7):
        tab.press("Tab")
    assert tab.evaluate(focused) == "#overview"
    tab.press("Tab")
    assert tab.evaluate(focused) == "#tool"
    tab.press("ArrowDown", "ArrowDown", "ArrowDown")
    assert tab.evaluate(focused) == "#c-account-list"
    tab.press("Enter")
    tab.settle("location.hash === '#c-account-list'")
    assert heading(tab) == ["teller account list"]
    tab.press("ArrowLeft", "ArrowLeft")
    assert tab.evaluate(focused) == "#c-account"
    assert names(tab) == ["teller", "account", "rate"]
    tab.press("ArrowRight", "End")
    assert tab.evaluate(focused) == "#c-rate"
    tab.press("Home")
    assert tab.evaluate(focused) == "#tool"
    assert names(tab) == ALL
    # Whatever was walked over, there is still one stop.
    assert tab.evaluate("document.querySelectorAll('nav ul [tabindex=\"0\"]').length") == 1


def test_twist_closes_without_selecting(opened: Opened) -> None:
    """A click on the sign in front of a command closes and opens what is below it."""
    tab = opened(small())
    tab.click('nav a[href="#c-account"] .twist')
    assert names(tab) == ["teller", "account", "rate"]
    assert heading(tab) == ["All checks"]
    tab.click('nav a[href="#c-account"] .twist')
    assert names(tab) == ALL


def test_filter_by_status(opened: Opened) -> None:
    """Pressed buttons leave the commands and checks that ended so; released ones bring all back."""
    tab = opened(small())
    tab.click(".filter.fail")
    assert names(tab) == ["teller", "account", "import", "list"]
    assert items(tab) == ["murli.answer.one-document", "process.stdin-silent"]
    tab.click(".filter.warn")
    assert names(tab) == ["teller", "account", "import", "list", "rate"]
    assert items(tab) == ["murli.answer.one-document", "process.stdin-silent", "no-colour"]
    tab.click(".filter.fail")
    tab.click(".filter.warn")
    tab.click(".filter.not_verified")
    tab.click("main details:not([hidden]) > summary")
    assert items(tab) == ["interrupt", "murli.stream.lines"]
    tab.click(".filter.not_verified")
    assert names(tab) == ALL
    assert len(items(tab)) == 7


def test_filter_by_text(opened: Opened) -> None:
    """Words leave what has them all, in its name or in what was found there; escape clears them."""
    tab = opened(small())
    told = "document.querySelector('.told').textContent"
    tab.press("/")
    assert tab.evaluate("document.activeElement.type") == "search"
    tab.press(*"iban")
    tab.settle(f"{told} === '1 of 7 commands'")
    assert names(tab) == ["teller", "account", "import"]
    tab.press("Escape")
    tab.settle(f"{told} === ''")
    assert names(tab) == ALL
    tab.press(*"RATE ansi")
    tab.settle(f"{told} === '1 of 7 commands'")
    assert names(tab) == ["teller", "rate"]
    tab.press("Escape")
    tab.press(*"nowhere")
    tab.settle(f"{told} === '0 of 7 commands'")
    assert names(tab) == [] and items(tab) == []
    assert tab.evaluate("document.querySelector('.none').checkVisibility()") is True


@pytest.mark.parametrize(
    ("anchor", "shown"),
    [
        ("c-account-list", "teller account list"),
        ("c-account-list:murli.answer.one-document", "teller account list"),
        ("k-interrupt", "All checks"),
        ("tool", "teller"),
        ("no-such-place", "All checks"),
        ("%E0%A4%A", "All checks"),
    ],
)
def test_deep_links(opened: Opened, anchor: str, shown: str) -> None:
    """An address that names a place opens the page there."""
    tab = opened(small(), anchor)
    assert heading(tab) == [shown]
    if ":" in anchor or anchor.startswith("k-"):
        place = f"document.getElementById({json.dumps(anchor)})"
        assert tab.evaluate(f"{place}.closest('details').open") is True
        assert 0 <= tab.evaluate(f"{place}.getBoundingClientRect().top") < 900


def test_deep_link_into_a_closed_branch(opened: Opened) -> None:
    """Of many commands only the troubled are laid open, and the one an address names."""
    report = large(300)
    quiet = [each for each in grown(report).children if not each.below["fail"] and each.children]
    assert len(quiet) >= 2
    tab = opened(report, quiet[0].children[3].anchor)
    shown = names(tab)
    assert quiet[0].children[3].words[-1] in shown
    assert quiet[1].children[3].words[-1] not in shown


def test_links_between_checks_and_commands(opened: Opened) -> None:
    """From the entry of a check a link leads to the command where it failed, and back goes back."""
    tab = opened(small(), "k-murli.answer.one-document")
    tab.click('details.item a[href="#c-account-list:murli.answer.one-document"]')
    tab.settle("document.getElementById('c-account-list').checkVisibility()")
    assert heading(tab) == ["teller account list"]
    tab.evaluate("history.back()")
    tab.settle("document.getElementById('overview').checkVisibility()")
    assert heading(tab) == ["All checks"]


def test_skip_link_keeps_what_is_shown(opened: Opened) -> None:
    """The link past the tree leads to the results, and changes nothing in them."""
    tab = opened(small(), "c-rate")
    tab.evaluate("document.querySelector('.skip').click()")
    tab.settle("location.hash === '#results'")
    assert heading(tab) == ["teller rate"]


def test_line_is_copied_as_it_can_be_run(opened: Opened, chromium: Browser) -> None:
    """What is copied is the line without its prompt."""
    chromium.ask(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"]
    )
    tab = opened(small(), "c-account-import")
    tab.ask("Page.bringToFront")
    x, y = tab.evaluate(
        "(box => [box.x + 40, box.y + 10])"
        "(document.querySelector('.here pre.line').getBoundingClientRect())"
    )
    tab.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    tab.settle("document.querySelector('.here .copy') !== null")
    tab.click(".here .copy")
    tab.settle("document.querySelector('.here .copy').textContent === 'Copied'")
    copied = tab.evaluate("navigator.clipboard.readText()")
    assert copied == "tail -f /dev/null | env NO_COLOR=1 teller account import 'my file.csv'"


@pytest.mark.parametrize("cry", CRIES)
def test_hostile_tools_run_nothing(opened: Opened, cry: str) -> None:
    """Whatever a tool is called and writes, it is shown as it is, and nothing of it happens."""
    report = hostile(cry)
    tab = opened(report)
    assert "murli check" in tab.evaluate("document.title")
    every = list(grown(report).all())
    assert tab.evaluate("document.querySelectorAll('nav [role=treeitem]').length") == len(every)
    for each in every:
        tab.evaluate(f"location.hash = {json.dumps(each.anchor)}")
        tab.settle(f"document.getElementById({json.dumps(each.anchor)}).checkVisibility()")
    tab.evaluate(FRAMES)
    assert tab.evaluate("document.title").endswith(": murli check")
    assert tab.evaluate("document.scripts.length") == 2
    assert tab.evaluate("document.querySelectorAll('img, iframe, object, embed').length") == 0
    # No text is wider than the page.
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth") is True


def test_policy_stops_what_gets_in(tab: Tab, tmp_path: Path) -> None:
    """Were a text to become markup all the same, the policy would let it neither run nor ask."""
    file = tmp_path / "report.html"
    bad = (
        "<script>document.title='pwned'</script>"
        "<img src='http://127.0.0.1:9/x' onerror=\"document.title='pwned'\">"
    )
    file.write_text(page(small()).replace("Enter the IBAN", bad), "utf-8")
    tab.open(f"{file.as_uri()}#c-account-import")
    tab.evaluate(FRAMES)
    assert tab.evaluate("document.querySelector('main img') !== null") is True
    assert tab.evaluate("document.title") == "teller: murli check"
    assert not any(
        each["params"].get("response", {}).get("url", "").startswith("http")
        for each in tab.events
        if each["method"] == "Network.responseReceived"
    )
    told = json.dumps(tab.complaints)
    assert "script-src" in told and "img-src" in told


def test_page_without_scripts(opened: Opened) -> None:
    """Without scripts everything is there: all sections in a row, the tree as links to them."""
    opened.tab.without_scripts()
    tab = opened(small())
    assert len(heading(tab)) == len(ALL) + 1
    assert tab.evaluate("document.querySelector('.toolbar').checkVisibility()") is False
    assert tab.evaluate("document.querySelectorAll('[role=tree], [hidden]:not(.none)').length") == 0
    # What is out of view may not be laid out yet.
    told = tab.evaluate("document.querySelector('main').textContent")
    assert "Enter the IBAN:" in told and "stdout holds 2 documents" in told
    links = tab.evaluate("[...document.querySelectorAll('nav ul a')].map(each => each.hash)")
    assert len(links) == len(ALL)
    tab.click('nav a[href="#c-rate"]')
    assert tab.evaluate("document.querySelector(':target').id") == "c-rate"
    tab.click("#c-rate .passes summary")
    assert tab.evaluate("document.querySelector('#c-rate .passes').open") is True


def test_roles(opened: Opened) -> None:
    """Who does not see the page is told the tree, its levels, what is open, and each status."""
    tab = opened(small(), "c-account-list")
    nodes = tab.ask("Accessibility.getFullAXTree")["nodes"]

    def told(role: str) -> list[tuple[str, dict[str, Any]]]:
        return [
            (
                each.get("name", {}).get("value", ""),
                {one["name"]: one["value"].get("value") for one in each.get("properties", ())},
            )
            for each in nodes
            if not each.get("ignored") and each.get("role", {}).get("value") == role
        ]

    assert [name for name, _ in told("tree")] == ["Commands"]
    commands = dict(told("treeitem"))
    assert len(commands) == len(ALL)
    listed = next(each for name, each in commands.items() if "list" in name)
    assert listed["level"] == 3
    assert next(name for name in commands if "list" in name).split()[:2] == ["fail", "list"]
    assert next(each for name, each in commands.items() if "account" in name)["expanded"] is True
    assert {name for name, _ in told("navigation")} == {"Commands"}
    assert len(told("main")) == 1
    assert "Filter by text" in dict(told("searchbox"))
    assert {"2 fail", "1 warn", "2 pass"} <= {name.strip("✗!✓ ") for name, _ in told("button")}
    assert {name for name, _ in told("heading")} >= {"teller 2.4.0", "teller account list safe"}


# How light a colour is, and how far two are apart, as WCAG counts it.
CONTRAST = """
(() => {
  const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => rgb(colour).slice(0, 3)
    .map(each => (each /= 255) <= .03928 ? each / 12.92 : ((each + .055) / 1.055) ** 2.4)
    .reduce((sum, each, at) => sum + each * [.2126, .7152, .0722][at], 0);
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (rgb(colour)[3] !== 0) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll("body *")]
    .filter(each => each.checkVisibility() && !each.matches(":disabled, :disabled *, .hidden"))
    .filter(each => [...each.childNodes].some(one => one.nodeType === 3 && one.data.trim()))
    .map(each => {
      const [high, low] = [light(getComputedStyle(each).color), light(behind(each))]
        .sort((one, other) => other - one);
      return [(high + .05) / (low + .05), each.className + ": " + each.textContent.slice(0, 40)];
    })
    .filter(([ratio]) => ratio < 4.5);
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("anchor", ["overview", "c-account-import", "c-rate", "c-account"])
def test_contrast(opened: Opened, anchor: str, scheme: str) -> None:
    """All text stands out from what is behind it, in light and in dark."""
    opened.tab.colours(scheme)
    tab = opened(small(), anchor)
    tab.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert tab.evaluate(CONTRAST) == []
    dark = tab.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(247, 246, 243)"
    assert dark is (scheme == "dark")


def test_small_screens_and_paper(opened: Opened) -> None:
    """Nothing is wider than a phone; on paper all sections are there, opened, and no controls."""
    tab = opened(small(), "c-account-import")
    tab.size(390, 844)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    tab.size(800, 1100)
    tab.ask("Emulation.setEmulatedMedia", media="print")
    assert len(heading(tab)) == len(ALL) + 1
    assert tab.evaluate("document.querySelector('.toolbar').checkVisibility()") is False
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert "no command that may be run streams" in tab.evaluate("document.body.innerText")
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    # What failed is open from the beginning.
    assert tab.evaluate("document.querySelectorAll('#overview [open]').length") == 2
    assert len(tab.ask("Page.printToPDF")["data"]) > 10_000


def work(tab: Tab) -> float:
    """Give the seconds of work the page has taken so far, however busy the machine is."""
    found = tab.ask("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))


@pytest.mark.parametrize("poor", [False, True])
def test_a_thousand_commands(opened: Opened, poor: bool) -> None:
    """A page of a thousand commands opens, selects and filters without making anybody wait."""
    opened.tab.ask("Performance.enable", timeDomain="threadTicks")
    tab = opened(large(poor=poor))
    tab.evaluate(FRAMES)
    until_open = work(tab)
    assert 0 < until_open < 2
    assert tab.evaluate("document.querySelectorAll('nav [role=treeitem]').length") == 1000
    tab.click('nav a[href="#c-group-39"]')
    tab.settle("document.getElementById('c-group-39').checkVisibility()")
    assert heading(tab) == ["teller group-39"]
    tab.press("/", *"command-777")
    tab.settle("document.querySelector('.told').textContent === '1 of 1000 commands'")
    assert names(tab) == ["teller", "group-17", "command-777"]
    assert work(tab) - until_open < 2


def test_pictures(opened: Opened, tmp_path: Path) -> None:
    """The page can be seen: in light and in dark it is not the same picture."""
    seen = set()
    for scheme in ("light", "dark"):
        opened.tab.colours(scheme)
        opened(small(), "c-account-list").picture(tmp_path / f"{scheme}.png")
        seen.add((tmp_path / f"{scheme}.png").read_bytes())
    assert len(seen) == 2
