"""Many calls: their memory, their cost, and the versions of the SDK; all of it takes long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any

import pytest
from benchmarks.mcp import costs

import mcp_client
from harness import REPOSITORY, environment, tool
from mcp_client import Caller

pytestmark = pytest.mark.slow
SERVE = [*tool("served"), "mcp", "serve"]
# Both ends of the range in pyproject.toml.
VERSIONS = ["1.21.2", "2.3.0"]


def _memory(process: int) -> int:
    """Return how many kilobytes a process and those it has started hold."""
    own = 0
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            own = int(line.split()[1])
    below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return own + sum(_memory(int(child)) for child in below)


def test_a_thousand_calls_leave_memory_and_descriptors_flat() -> None:
    """A thousand calls, of all kinds, cost the server and the tool no memory that stays."""
    servers: list[int] = []

    async def scenario(caller: Caller) -> None:
        async def some(count: int) -> None:
            for number in range(count):
                text = f"{number}"
                done = await caller.data("served_echo", text=text, count=100)
                assert done["result"]["text"] == text * 100
                if number % 10 == 0:
                    await caller.data("served_fail", what="busy")
                    await caller.data("served_big", size=200_000)
                    caller.progress.clear()

        below = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        (server,) = [int(each) for each in below if "served.py" in _words(each)]
        await some(100)
        before, open_before = _memory(server), len(os.listdir(f"/proc/{server}/fd"))
        await some(900)
        servers.append(server)
        assert _memory(server) < before + 12_000
        assert len(os.listdir(f"/proc/{server}/fd")) == open_before

    async def connect() -> None:
        async with mcp_client.over_stdio(SERVE, env=environment()) as caller:
            await scenario(caller)

    mcp_client.run(connect, within=400)
    assert servers


def _words(process: str) -> str:
    return Path(f"/proc/{process}/cmdline").read_bytes().decode()


def test_warm_calls_cost_a_twentieth_of_processes() -> None:
    """Of a tool with what tools load, warm calls take a small part of what processes take."""
    found = costs(calls=60, processes=8)
    assert found["process"].busy / found["warm"].busy > 12, found


@pytest.mark.parametrize("version", VERSIONS)
def test_both_ends_of_the_range_of_the_sdk(version: str, tmp_path: Path) -> None:
    """The oldest and the newest SDK serve, and are served, over both transports."""
    place = REPOSITORY / ".cache" / f"mcp-{version}"
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
    install = ["-m", "pip", "install", "-q", "--disable-pip-version-check", f"mcp=={version}"]
    subprocess.run([python, *install, "-e", str(REPOSITORY), "click"], check=True, timeout=300)
    began = time.monotonic()
    done = subprocess.run(
        [python, mcp_client.__file__, tmp_path / "file", python, *SERVE[1:]],
        capture_output=True,
        env=environment(),
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["declined"]["error"]["code"] == "DECLINED"
    for each in (found["stdio"], found["http"]):
        assert each["echo"]["result"] == {"text": "aaa", "count": 3}
        assert each["busy"]["error"]["retry_after_ms"] == 1500
        assert each["plan"]["status"] == "plan"
        assert each["refused"]["error"]["code"] == "confirmation_required"
        assert each["work"]["result"] == {"done": 4}
        assert each["wrong"] is True
        assert (each["resources"], each["prompts"]) == (2, 1)
        assert each["progress"] and each["logs"] == [["info", "begun"]]
    print(f"mcp {version}: {time.monotonic() - began:.0f} s", file=sys.stderr)
