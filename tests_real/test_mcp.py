"""`murli mcp` in front of tools that nobody here wrote, driven by the client of the SDK."""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import mcp_client
from harness import environment
from mcp_client import Caller
from tests_real import environments

MCP = [sys.executable, "-m", "murli", "mcp", "--most-tools", "100"]


def drive(package: str, program: str, scenario: Any) -> None:
    """Run *scenario* with the client of a server of *program*, which *package* installs."""
    python = environments.environment(f"mcp-{package}", sys.executable, [package])
    path = Path(python).with_name(program)

    async def connect() -> None:
        async with mcp_client.over_stdio([*MCP, str(path)], env=environment()) as caller:
            await scenario(caller)

    mcp_client.run(connect, within=120)


def test_sqlite_utils_is_served(tmp_path: Path) -> None:
    """Its tables are listed and queried, a failure is one, and what destroys is guarded."""
    place = str(tmp_path / "data.db")
    with sqlite3.connect(place) as data:
        data.execute("create table t (id integer, name text)")
        data.execute("insert into t values (1, 'one')")
    data.close()

    async def scenario(caller: Caller) -> None:
        tools = await caller.tools()
        assert len(tools) > 40
        assert all("annotations" not in each for each in tools.values())
        tables = await caller.data("sqlite-utils_tables", path=place, counts=True)
        assert tables["result"] == [{"table": "t", "count": 1}]
        found = await caller.data("sqlite-utils_query", path=place, sql="select name from t")
        assert found["result"] == [{"name": "one"}]
        missing = await caller.data("sqlite-utils_rows", path=place, dbtable="missing")
        assert missing["error"]["kind"] == "not_found"
        drop = {"path": place, "table": "t"}
        refused = await caller.data("sqlite-utils_drop-table", **drop)
        assert refused["error"]["code"] == "confirmation_required"
        assert (await caller.data("sqlite-utils_drop-table", **drop, confirm=True))[
            "status"
        ] == "ok"
        tables = await caller.data("sqlite-utils_tables", path=place)
        assert not tables["result"]

    drive("sqlite-utils", "sqlite-utils", scenario)


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    """Serve answers that say what was asked for."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_httpie_is_served(site: str) -> None:
    """A request is made, its answer is data, and an address where nobody listens is a failure."""

    async def scenario(caller: Caller) -> None:
        request = {"method": "GET", "ignore_stdin": True, "body": True}
        found = await caller.data("http", **request, url=f"{site}/a", request_items=["q==1"])
        assert found["result"] == {"path": "/a?q=1"}
        failed = await caller.call("http", **request, url="http://127.0.0.1:9/")
        assert failed["isError"]
        assert failed["structuredContent"]["error"]["message"]

    drive("httpie", "http", scenario)
