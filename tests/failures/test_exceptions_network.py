"""What services and clouds answer becomes an instruction, through the clients people use."""

from __future__ import annotations

import contextlib
import email.utils
import http.server
import importlib
import os
import shutil
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from murli import AgentError
from murli.failures.exceptions import as_agent_error
from raising import foreign, raised

requests = pytest.importorskip("requests")
httpx = pytest.importorskip("httpx")

CLIENTS: dict[str, Callable[[str], Any]] = {
    "urllib": lambda url: urllib.request.urlopen(url, timeout=5).close(),
    "requests": lambda url: requests.get(url, timeout=5).raise_for_status(),
    "httpx": lambda url: httpx.get(url, timeout=5).raise_for_status(),
}
each_client = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of whoever runs the tests stands between them and the loopback."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


# -- services ----------------------------------------------------------------------------------

BODY = b"<h1>a page for people, with a secret in it</h1>"


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers with the status that is the path, and the headers that are the query."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/hang-up":
            return
        if path == "/slow":
            time.sleep(1.5)
            return
        self.send_response_only(int(path.strip("/")), "Some Words")
        for name, value in urllib.parse.parse_qsl(query):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(BODY)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def nobody() -> str:
    """A URL of a port on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/"


def asked(client: str, url: str, **headers: str) -> AgentError:
    query = f"?{urllib.parse.urlencode(headers)}" if headers else ""
    return raised(CLIENTS[client], url + query)


STATUSES = {
    400: ("user_error", True),
    401: ("auth_required", False),
    402: ("payment_required", False),
    403: ("permission_denied", False),
    404: ("not_found", True),
    405: ("tool_error", False),
    408: ("timeout", True),
    409: ("conflict", False),
    410: ("not_found", False),
    412: ("conflict", False),
    413: ("user_error", True),
    418: ("user_error", True),
    422: ("user_error", True),
    423: ("precondition", True),
    428: ("precondition", True),
    429: ("rate_limited", True),
    500: ("unavailable", True),
    501: ("tool_error", False),
    502: ("unavailable", True),
    503: ("unavailable", True),
    504: ("timeout", True),
    599: ("unavailable", True),
}


@each_client
def test_a_status_has_a_kind(client: str, service: str) -> None:
    """Each HTTP status has its kind, whether trying again helps, and a suggestion."""
    for status, expected in STATUSES.items():
        found = asked(client, f"{service}/{status}")
        assert (found.kind, found.recoverable) == expected, status
        assert found.suggestion, status
        assert "network_context" not in found.context, status


@each_client
def test_the_message_is_a_line_of_the_exception(client: str, service: str) -> None:
    """The message is what the client says, on one line, and never the body of the answer."""
    found = asked(client, f"{service}/404")
    assert "404" in found.message
    assert "\n" not in found.message
    assert "people" not in found.message


def in_ten_seconds() -> str:
    return email.utils.formatdate(time.time() + 10, usegmt=True)


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "7"}, 7000, 7000),
        ({"Retry-After": "0"}, 0, 0),
        ({"Retry-After": "0.25"}, 250, 250),
        ({"Retry-After": in_ten_seconds}, 1, 10_000),
        (
            {
                "Retry-After": "Wed, 21 Oct 2015 07:28:30 GMT",
                "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
            },
            30_000,
            30_000,
        ),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, 0),
        ({"Retry-After": "99999999"}, 86_400_000, 86_400_000),
        ({"Retry-After": "soon"}, 0, 0),
        ({"Retry-After": "-5"}, 0, 0),
        ({"Retry-After": "nan"}, 0, 0),
        ({"Retry-After": "9" * 400}, 0, 0),
        ({"RateLimit-Reset": "5"}, 5000, 5000),
        ({"X-RateLimit-Reset": lambda: str(int(time.time()) + 10)}, 1, 10_000),
        ({"X-RateLimit-Reset": "1"}, 1000, 1000),
        ({"Retry-After": "2", "X-RateLimit-Reset": "900"}, 2000, 2000),
    ],
)
def test_how_long_to_wait(service: str, headers: dict[str, Any], least: int, most: int) -> None:
    """A throttled caller is told to wait as long as the service asks, and at most a day."""
    sent = {name: value() if callable(value) else value for name, value in headers.items()}
    found = asked("urllib", f"{service}/429", **sent)
    assert found.kind == "rate_limited"
    assert least <= found.retry_after_ms <= most


@each_client
def test_every_client_tells_how_long_to_wait(client: str, service: str) -> None:
    """Retry-After is understood from each client, also of a service that is down for a while."""
    for status in (429, 503):
        found = asked(client, f"{service}/{status}", **{"Retry-After": "3"})
        assert (found.retry_after_ms, found.recoverable) == (3000, True)


def test_a_limit_counts_only_for_who_ran_into_it(service: str) -> None:
    """Headers about a limit do not slow down a caller whose failure is another."""
    found = asked("urllib", f"{service}/503", **{"X-RateLimit-Reset": "900"})
    assert found.retry_after_ms == 0
    found = asked("urllib", f"{service}/404", **{"Retry-After": "9"})
    assert found.retry_after_ms == 0


@pytest.mark.parametrize(
    ("challenge", "reason"),
    [
        ("", "missing"),
        ('Bearer realm="api"', "missing"),
        ('Bearer error="invalid_token"', "invalid"),
        ('Bearer error="invalid_token", error_description="The token expired"', "expired"),
    ],
)
@each_client
def test_why_credentials_are_refused(
    client: str, service: str, challenge: str, reason: str
) -> None:
    """A 401 is told as missing, invalid or expired credentials, as the service says."""
    headers = {"WWW-Authenticate": challenge} if challenge else {}
    found = asked(client, f"{service}/401", **headers)
    assert (found.kind, found.reason) == ("auth_required", reason)


@pytest.mark.parametrize("library", [requests, httpx])
def test_credentials_that_were_given_are_not_missing(library: Any, service: str) -> None:
    """A refusal without a word about it means bad credentials where some were given."""
    answer = library.get(f"{service}/401", auth=("me", "wrong"))
    found = raised(answer.raise_for_status)
    assert (found.kind, found.reason) == ("auth_required", "invalid")
    assert "wrong" not in found.message


def test_a_missing_permission_is_named(service: str) -> None:
    """A 403 names the permission that is missing, where the service does."""
    header = 'Bearer error="insufficient_scope", scope="repo:write"'
    found = asked("urllib", f"{service}/403", **{"WWW-Authenticate": header})
    assert found.kind == "permission_denied"
    assert found.context == {"required_permission": "repo:write"}
    assert "repo:write" in found.suggestion


@pytest.mark.parametrize("headers", [{"X-RateLimit-Remaining": "0"}, {"Retry-After": "4"}])
def test_a_limit_told_as_forbidden_is_a_limit(service: str, headers: dict[str, str]) -> None:
    """Services that answer 403 to too many calls are understood."""
    assert asked("urllib", f"{service}/403", **headers).kind == "rate_limited"


@each_client
def test_nobody_listens(client: str, nobody: str) -> None:
    """A refused connection is unavailable, says so in network terms, and may be tried again."""
    found = asked(client, nobody)
    assert (found.kind, found.recoverable) == ("unavailable", True)
    assert "host and port" in found.suggestion
    assert found.context["network_context"]["proxy_used"] is False


@each_client
def test_a_host_that_does_not_exist(client: str) -> None:
    """A name that cannot be resolved is a matter of the name, or of the network for now."""
    found = asked(client, "http://nonexistent.invalid/")
    assert found.kind == "unavailable"
    # Without any network a resolver cannot say more than "not now".
    if found.error_type == "host_unknown":
        assert (found.recoverable, found.suggestion) == (False, "Check the host name.")
    else:
        assert found.suggestion == "Check the network, then try again."


@each_client
def test_a_service_that_hangs_up(client: str, service: str) -> None:
    """A connection that ends without an answer is unavailable and may be tried again."""
    found = asked(client, f"{service}/hang-up")
    assert (found.kind, found.recoverable) == ("unavailable", True)


@pytest.mark.parametrize(
    "call",
    [
        lambda url: urllib.request.urlopen(url, timeout=0.1),
        lambda url: requests.get(url, timeout=0.1),
        lambda url: httpx.get(url, timeout=0.1),
    ],
)
def test_a_service_that_is_slow(call: Callable[[str], object], service: str) -> None:
    """Each client's timeout is a timeout, and tells how the caller is connected."""
    found = raised(call, f"{service}/slow")
    assert (found.kind, found.recoverable) == ("timeout", True)
    assert found.context["network_context"]["proxy_used"] is False


def test_time_that_no_network_took() -> None:
    """A socket's timeout is a matter of the network; any other says nothing about it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0.01)
        assert "network_context" in raised(ours.recv, 1).context
    assert "network_context" in as_agent_error(TimeoutError(110, "Connection timed out")).context
    assert "network_context" not in as_agent_error(TimeoutError("the build took too long")).context


def test_retries_that_ran_out_tell_the_status(service: str) -> None:
    """A client that gave up after retries means what the service kept answering."""
    session = requests.Session()
    retry = importlib.import_module("urllib3").Retry(1, status_forcelist=[429])
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retry))
    with session:
        assert raised(session.get, f"{service}/429").kind == "rate_limited"


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda url: requests.get("no-scheme/x"), "user_error"),
        (lambda url: requests.get("gopher://x/"), "user_error"),
        (lambda url: requests.get(f"{url}/200").json(), "tool_error"),
        (lambda url: httpx.get("no-scheme/x"), "user_error"),
    ],
)
def test_what_is_wrong_with_a_url(call: Callable[[str], object], service: str, kind: str) -> None:
    """A URL that is none, or that leads to a page instead of data, is told as that."""
    assert raised(call, service).kind == kind


def test_a_proxy_is_mentioned(nobody: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network failure tells of the proxy in force, without what its URL may contain."""
    monkeypatch.setenv("HTTPS_PROXY", "http://user:hush@127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    found = asked("urllib", nobody)
    assert "HTTPS_PROXY" in found.suggestion
    network = found.context["network_context"]
    assert (network["proxy_used"], network["proxy_source"]) == (True, "HTTPS_PROXY")
    assert network["no_proxy"] == "127.0.0.1"
    assert "hush" not in str(network)


@pytest.mark.parametrize("client", ["requests", "httpx"])
def test_the_proxy_is_the_one_for_the_url(
    client: str, nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a client tells what was asked for, only a proxy in the way of that is mentioned."""
    monkeypatch.setenv("HTTPS_PROXY", "http://user:hush@127.0.0.1:1")
    network = asked(client, nobody).context["network_context"]
    assert (network["proxy_used"], network["proxy_source"]) == (False, None)
    monkeypatch.setenv("http_proxy", "http://user:hush@127.0.0.1:1")
    found = asked(client, nobody)
    assert found.context["network_context"]["proxy_source"] == "http_proxy"
    assert "hush" not in f"{found.message} {found.suggestion} {found.context}"


@pytest.mark.parametrize(
    ("excepted", "used"),
    [("127.0.0.1", False), ("*", False), ("a, 127.0.0.1", False), ("7.0.0.1", True), ("", True)],
)
def test_a_host_without_proxy(
    nobody: str, monkeypatch: pytest.MonkeyPatch, excepted: str, used: bool
) -> None:
    """NO_PROXY takes the proxy out of the way, for the hosts it names."""
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", excepted)
    network = asked("httpx", nobody).context["network_context"]
    assert (network["proxy_used"], network["no_proxy"]) == (used, excepted or None)
    assert set(network) == {"proxy_used", "proxy_source", "no_proxy", "ssl_verify", "suggestion"}


def test_a_failure_that_is_wrapped_tells_the_same(
    nobody: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an author raises from a network failure is one, with what that knew."""
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")

    def wrapped(url: str) -> None:
        try:
            requests.get(url, timeout=5)
        except requests.RequestException as error:
            raise RuntimeError("no news today") from error

    found = raised(wrapped, nobody)
    assert (found.kind, found.message) == ("unavailable", "no news today")
    assert found.context["network_context"]["proxy_used"] is False


@pytest.mark.parametrize("client", ["requests", "httpx"])
def test_a_password_in_a_url_is_not_told(client: str, service: str, nobody: str) -> None:
    """Credentials in a URL are in no message, whether the service answers or not."""
    for url in (f"{service}/404", nobody):
        found = asked(client, url.replace("://", "://me:hush%40x@"))
        assert "hush" not in f"{found.message} {found.context}"
    error = RuntimeError("cannot reach http://me:hu'sh@host/ nor ftp://me:hush@host, a@b.c")
    said = as_agent_error(RuntimeError("cannot reach http://me:hush@host/, says a@b.c")).message
    assert said == "cannot reach http://[REDACTED]@host/, says a@b.c"
    assert "ftp://[REDACTED]@host" in as_agent_error(error).message


def test_whether_certificates_are_checked(nobody: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client, or a process, that does not verify is told as such; all others do."""
    secure = nobody.replace("http:", "https:")
    assert asked("requests", secure).context["network_context"]["ssl_verify"] is True
    assert asked("httpx", secure).context["network_context"]["ssl_verify"] is True
    found = raised(lambda url: requests.get(url, timeout=5, verify=False), secure)
    assert found.context["network_context"]["ssl_verify"] is False
    monkeypatch.setattr(ssl, "_create_default_https_context", ssl._create_unverified_context)
    assert asked("urllib", secure).context["network_context"]["ssl_verify"] is False


@pytest.fixture(scope="module")
def untrusted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service whose certificate nobody has signed."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    make = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=x"
    subprocess.run(make, shell=True, cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert", folder / "key")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    server.handle_error = lambda *args: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}/200"
    server.shutdown()
    server.server_close()


@each_client
def test_an_untrusted_certificate(client: str, untrusted: str) -> None:
    """A certificate that cannot be verified is told as that, and trying again does not help."""
    found = asked(client, untrusted)
    assert (found.error_type, found.recoverable) == ("certificate_invalid", False)
    assert "SSL_CERT_FILE" in found.suggestion
    assert found.context["network_context"]["ssl_verify"] is True


@each_client
def test_a_port_that_speaks_no_tls(client: str, service: str) -> None:
    """HTTPS to a port of plain HTTP is told as a matter of the port."""
    found = asked(client, f"{service.replace('http:', 'https:')}/200")
    assert (found.error_type, found.recoverable) == ("tls_failed", False)


# -- clouds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "status", "kind", "reason"),
    [
        ("ExpiredToken", 400, "auth_required", "expired"),
        ("ExpiredTokenException", 400, "auth_required", "expired"),
        ("InvalidAccessKeyId", 403, "auth_required", "invalid"),
        ("UnrecognizedClientException", 400, "auth_required", "invalid"),
        ("AccessDenied", 403, "permission_denied", ""),
        ("ThrottlingException", 400, "rate_limited", ""),
        ("SlowDown", 503, "rate_limited", ""),
        ("NoSuchBucket", 404, "not_found", ""),
        ("InvalidInstanceID.NotFound", 400, "not_found", ""),
        ("ResourceNotFoundException", 400, "not_found", ""),
        ("BucketAlreadyExists", 409, "conflict", ""),
        ("ConditionalCheckFailedException", 400, "conflict", ""),
        ("RequestTimeout", 400, "timeout", ""),
        ("ServiceUnavailable", 503, "unavailable", ""),
        ("404", 404, "not_found", ""),
        ("ValidationException", 400, "user_error", ""),
        ("", 500, "unavailable", ""),
    ],
)
def test_codes_of_aws(code: str, status: int, kind: str, reason: str) -> None:
    """A code of AWS says more than its status, which counts for the codes nobody knows."""
    exceptions = pytest.importorskip("botocore.exceptions")
    about = {"HTTPStatusCode": status, "HTTPHeaders": {"retry-after": "2"}}
    error = exceptions.ClientError(
        {"Error": {"Code": code, "Message": "m"}, "ResponseMetadata": about}, "Do"
    )
    found = as_agent_error(error)
    assert (found.kind, found.reason) == (kind, reason)
    assert found.message == f"An error occurred ({code}) when calling the Do operation: m"
    if kind in ("rate_limited", "unavailable"):
        assert found.retry_after_ms == 2000


def test_the_permission_of_aws_is_named() -> None:
    """A refusal of AWS names the action that is not allowed."""
    exceptions = pytest.importorskip("botocore.exceptions")
    words = "User: x is not authorized to perform: s3:GetObject on resource: y"
    answer = {"Error": {"Code": "AccessDenied", "Message": words}}
    found = as_agent_error(exceptions.ClientError(answer, "GetObject"))
    assert found.context == {"required_permission": "s3:GetObject"}


def test_a_client_of_aws(service: str, nobody: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a real client raises is understood: no credentials, no endpoint, a bad call, a 404."""
    session = pytest.importorskip("botocore.session").get_session()
    config = importlib.import_module("botocore.config").Config(retries={"max_attempts": 0})
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", "/nonexistent")
    for name in [name for name in os.environ if name.startswith("AWS_ACCESS")]:
        monkeypatch.delenv(name)

    def client(url: str, **more: str) -> Any:
        return session.create_client(
            "s3", region_name="us-east-1", endpoint_url=url, config=config, **more
        )

    found = raised(client(service).list_buckets)
    assert (found.kind, found.reason) == ("auth_required", "missing")
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
    found = raised(client(nobody, **keys).list_buckets)
    assert (found.kind, "endpoint" in found.suggestion) == ("unavailable", True)
    found = raised(client(service, **keys).get_object, Bucket="404")
    assert (found.kind, 'parameter in input: "Key"' in found.message) == ("user_error", True)
    found = raised(client(service, **keys).head_bucket, Bucket="404")
    assert found.kind == "not_found"


class Status:
    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("NOT_FOUND", "not_found"),
        ("UNAUTHENTICATED", "auth_required"),
        ("FAILED_PRECONDITION", "precondition"),
        ("RESOURCE_EXHAUSTED", "rate_limited"),
        ("UNAVAILABLE", "unavailable"),
        ("DEADLINE_EXCEEDED", "timeout"),
        ("CANCELLED", "cancelled"),
        ("INTERNAL", "unavailable"),
    ],
)
def test_codes_of_grpc(code: str, kind: str) -> None:
    """A code of gRPC has its kind, and the details of the call are the message."""
    base = foreign("grpc.RpcError")
    own = foreign(
        "grpc._channel._InactiveRpcError",
        base,
        code=lambda self: Status(code),
        details=lambda self: "no such thing",
        __str__=lambda self: "<_InactiveRpcError of RPC that terminated with:\n\tstatus = …",
    )
    found = as_agent_error(own())
    assert (found.kind, found.message) == (kind, "no such thing")


@pytest.mark.parametrize(
    ("name", "attributes", "kind", "wait"),
    [
        (
            "aiohttp.client_exceptions.ClientResponseError",
            {"status": 429, "headers": {"Retry-After": "2"}},
            "rate_limited",
            2000,
        ),
        ("google.api_core.exceptions.GoogleAPICallError", {"code": 404}, "not_found", 0),
        (
            "googleapiclient.errors.HttpError",
            {"resp": type("R", (dict,), {"status": 503})({"retry-after": "1"})},
            "unavailable",
            1000,
        ),
        (
            "openai.RateLimitError",
            {"response": httpx.Response(429, headers={"retry-after": "6"})},
            "rate_limited",
            6000,
        ),
        ("aiohttp.client_exceptions.ContentTypeError", {"status": 200}, "tool_error", 0),
        ("aiohttp.client_exceptions.ContentTypeError", {"status": 502}, "unavailable", 0),
        ("aiohttp.client_exceptions.ServerDisconnectedError", {}, "unavailable", 0),
        ("urllib3.exceptions.ReadTimeoutError", {}, "tool_error", 0),
        ("google.auth.exceptions.DefaultCredentialsError", {}, "auth_required", 0),
    ],
)
def test_libraries_that_are_not_here(
    name: str, attributes: dict[str, Any], kind: str, wait: int
) -> None:
    """Exceptions are known by their names, and by the response they carry."""
    found = as_agent_error(foreign(name, **attributes)("words"))
    assert (found.kind, found.retry_after_ms) == (kind, wait)


def test_a_response_of_success_is_no_failure() -> None:
    """An exception that carries a good response, or numbers of its own, is what it is."""
    for attributes in ({"response": httpx.Response(200)}, {"code": 404}, {"status": 500}):
        found = as_agent_error(foreign("app.Oops", **attributes)("words"))
        assert found.error_type == "execution_error"
