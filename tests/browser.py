"""A real browser without a window, driven over its own pipe; nothing beside it is needed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

INSTALL = "chromium is not here; on Debian: apt-get install chromium"
# The browser has this long for anything that is asked of it.
_SECONDS = 60
_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # tests may run as root, and the only pages are our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Browser:
    """The browser itself; `tab` gives a place to open pages in."""

    def __init__(self, to: int, back: int) -> None:
        self._to = to
        self._back = back
        self._buffer = b""
        self._number = 0
        self._tabs: dict[str, Tab] = {}

    def ask(self, method: str, session: str = "", **params: Any) -> Any:
        """Send one command and wait for what it gives."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        deadline = time.monotonic() + _SECONDS
        while True:
            answer = self._next(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def wait(self, tab: Tab, method: str) -> None:
        """Wait until *tab* has told of *method*."""
        deadline = time.monotonic() + _SECONDS
        while not any(each["method"] == method for each in tab.events):
            self._note(self._next(deadline))

    def tab(self) -> Tab:
        """Open an empty tab that tells of all that happens in it."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        tab = Tab(self, target, attached["sessionId"])
        self._tabs[attached["sessionId"]] = tab
        for domain in ("Page", "Runtime", "Log", "Network"):
            tab.ask(f"{domain}.enable")
        return tab

    def _note(self, message: dict[str, Any]) -> None:
        tab = self._tabs.get(message.get("sessionId", ""))
        if tab is not None:
            tab.events.append(message)

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._back], [], [], left)[0]:
                raise AssertionError("the browser does not answer")
            data = os.read(self._back, 1 << 20)
            if not data:
                raise AssertionError("the browser has ended")
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\0", 1)
        found: dict[str, Any] = json.loads(line)
        return found


class Tab:
    """One page; *events* is all the browser has told about it."""

    def __init__(self, browser: Browser, target: str, session: str) -> None:
        self._browser = browser
        self._target = target
        self._session = session
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, **params: Any) -> Any:
        """Send one command to this tab and wait for what it gives."""
        return self._browser.ask(method, self._session, **params)

    def open(self, url: str) -> None:
        """Open *url* and wait until it is loaded."""
        self.events.clear()
        answer = self.ask("Page.navigate", url=url)
        assert not answer.get("errorText"), answer
        # An address that differs behind its # only is not loaded again.
        if answer.get("loaderId"):
            self._browser.wait(self, "Page.loadEventFired")

    def close(self) -> None:
        """Close the tab."""
        self._browser.ask("Target.closeTarget", targetId=self._target)

    def evaluate(self, expression: str) -> Any:
        """Give what *expression* is in the page, once that is known."""
        answer = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Press the mouse on the middle of the first element that *selector* names."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoViewIfNeeded()")
        x, y = self.evaluate(
            f"(box => [box.x + box.width / 2, box.y + box.height / 2])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            code = {"Enter": 13, "Tab": 9}.get(key, 0)
            more = {"text": text} if text else {}
            self.ask(
                "Input.dispatchKeyEvent",
                type="keyDown",
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                **more,
            )
            self.ask(
                "Input.dispatchKeyEvent",
                type="keyUp",
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
            )

    def settle(self, expression: str) -> None:
        """Wait until *expression* is true in the page."""
        self.evaluate(
            "new Promise((done, failed) => { const until = performance.now() + 20000;"
            f"const look = () => ({expression}) ? done()"
            " : performance.now() > until ? failed('never so') : requestAnimationFrame(look);"
            "look(); })"
        )

    def colours(self, scheme: str) -> None:
        """Prefer a colour scheme, ``light`` or ``dark``."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", features=features)

    def without_scripts(self) -> None:
        """Run no script of any page from now on."""
        self.ask("Emulation.setScriptExecutionDisabled", value=True)

    def size(self, width: int, height: int) -> None:
        """Make the view this large."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def picture(self, path: Path) -> None:
        """Write what is seen to *path*."""
        answer = self.ask("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(answer["data"]))

    @property
    def complaints(self) -> list[dict[str, Any]]:
        """All that the console or the log of the browser holds, and every exception."""
        names = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [each["params"] for each in self.events if each["method"] in names]

    @property
    def requests(self) -> list[str]:
        """The addresses of all that was asked for, the page itself among it."""
        return [
            each["params"]["request"]["url"]
            for each in self.events
            if each["method"] == "Network.requestWillBeSent"
        ]


@contextmanager
def browser(home: Path) -> Iterator[Browser]:
    """Start the browser with everything it keeps in *home*, and end it."""
    program = shutil.which("chromium")
    assert program is not None, INSTALL
    reads, to = os.pipe()
    back, writes = os.pipe()

    def place() -> None:
        # The pipe is where the browser looks for it: read from 3, write to 4.
        high_in, high_out = os.dup(reads), os.dup(writes)
        os.dup2(high_in, 3)
        os.dup2(high_out, 4)

    process = subprocess.Popen(
        [program, *_FLAGS, f"--user-data-dir={home / 'profile'}", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home)},
        preexec_fn=place,  # noqa: PLW1509 (nothing else runs in these tests)
        close_fds=False,
        start_new_session=True,
    )
    os.close(reads)
    os.close(writes)
    try:
        yield Browser(to, back)
    finally:
        os.close(to)
        os.close(back)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
