"""What well-known exceptions mean to a caller, as data.

Classes are spelled as their module and name, so that knowing one never imports its library. What
an exception means may depend on what it holds: `failures.exceptions` looks into those, and
`failures.http` into what services answered.
"""

from __future__ import annotations

import errno

from ..core import Record, dict_of, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import KW_ONLY
    from typing import Any

    from ..type_checking import Given


class Meaning(Record):
    """A kind of failure, and the advice that goes with it.

    *message* replaces the exception's own text where that says nothing. A *network* failure says
    how the caller is connected. A *decisive* one is the reason wherever it stands in a chain of
    causes, any other only for what was deliberately raised from it. A *vague* one holds unless
    something deeper in the chain says more. An *explicit* one says in an author's own words
    whether trying again helps.
    """

    kind: str
    suggestion: str = ""
    error_type: str = ""
    _: KW_ONLY
    recoverable: bool | None = None
    retry_after_ms: int = 0
    reason: str = ""
    context: Given[Mapping[str, Any] | None, dict[str, Any]] = field(default=None, convert=dict_of)
    message: str = ""
    network: bool = False
    decisive: bool = False
    vague: bool = False
    explicit: bool = False


CANCELLED = Meaning("cancelled", decisive=True)
TIMEOUT = Meaning("timeout", "Try again, or allow more time.", decisive=True)
SLOW_NETWORK = TIMEOUT.replace(network=True)

_MISSING = Meaning("not_found", "Check the path, or create what is missing.")
_DENIED = Meaning("permission_denied", "Ask for access to it, or choose another place.")
_EXISTS = Meaning("conflict", "Choose another name, or remove what is there first.")
_DISK_FULL = Meaning(
    "tool_error", "Free some space, then try again.", "disk_full", recoverable=True
)
_READ_ONLY = Meaning("permission_denied", "Choose a place that may be written to.", "read_only")
_DIRECTORY = Meaning("user_error", "Give a file, not a directory.")
_NO_DIRECTORY = Meaning("user_error", "Give a directory; part of the path is a file.")
_IN_USE = Meaning("unavailable", "Try again when what uses it has finished.")
LOCKED = Meaning(
    "precondition",
    "Try again when the process that holds the lock has finished.",
    "lock_held",
    recoverable=True,
)
_INVALID_URL = Meaning("user_error", "Give a full URL, such as https://host/path.")

_REFUSED = Meaning(
    "unavailable", "Check that the service runs, and its host and port.", network=True
)
_CUT_OFF = Meaning("unavailable", "Try again; the connection was lost.", network=True)
UNREACHABLE = Meaning("unavailable", "Check the network, then try again.", network=True)
_UNKNOWN_HOST = Meaning(
    "unavailable", "Check the host name.", "host_unknown", recoverable=False, network=True
)
_NO_ANSWER = UNREACHABLE.replace(vague=True)
_PROXY = Meaning("unavailable", "Check the proxy settings.", network=True)
_UNTRUSTED = Meaning(
    "unavailable",
    "Check host and clock, or set SSL_CERT_FILE and REQUESTS_CA_BUNDLE to its authority.",
    "certificate_invalid",
    recoverable=False,
    network=True,
)
_NO_TLS = Meaning(
    "unavailable",
    "Check that host and port speak TLS.",
    "tls_failed",
    recoverable=False,
    network=True,
)
_LOOP = Meaning("tool_error", "Check the URL: the service redirects it in a circle.")
_NOT_JSON = Meaning(
    "tool_error", "Check the URL: the service did not answer with JSON.", "invalid_response"
)

AUTH_MISSING = Meaning("auth_required", "Log in, or give the credentials.", reason="missing")
AUTH_INVALID = Meaning("auth_required", "Get new credentials.", reason="invalid")
AUTH_EXPIRED = Meaning(
    "auth_required", "Refresh the credentials, then try again.", reason="expired"
)
WRONG_REQUEST = Meaning("user_error", "Correct the arguments; the service refused them.")
DOWN = Meaning("unavailable", "Try again later.")

CLASSES: dict[str, Meaning] = {
    "builtins.KeyboardInterrupt": CANCELLED,
    "asyncio.exceptions.CancelledError": CANCELLED,
    "concurrent.futures._base.CancelledError": CANCELLED,
    "click.exceptions.Abort": CANCELLED,
    "typer.exceptions.Abort": CANCELLED,
    "builtins.TimeoutError": TIMEOUT,
    "asyncio.exceptions.TimeoutError": TIMEOUT,
    "concurrent.futures._base.TimeoutError": TIMEOUT,
    "subprocess.TimeoutExpired": TIMEOUT,
    # -- the language and its standard library
    "builtins.FileNotFoundError": _MISSING,
    "builtins.PermissionError": _DENIED,
    "builtins.FileExistsError": _EXISTS,
    "builtins.IsADirectoryError": _DIRECTORY,
    "builtins.NotADirectoryError": _NO_DIRECTORY,
    "builtins.ConnectionError": UNREACHABLE,
    "builtins.ConnectionRefusedError": _REFUSED,
    "builtins.ConnectionResetError": _CUT_OFF,
    "builtins.ConnectionAbortedError": _CUT_OFF,
    "builtins.BrokenPipeError": Meaning("unavailable", "Try again; the other side has gone."),
    "builtins.BlockingIOError": _IN_USE,
    "builtins.MemoryError": Meaning("tool_error", "Ask for less at once.", "out_of_memory"),
    "builtins.RecursionError": Meaning(
        "tool_error", "Give input that is nested less deeply, or report a bug.", "nested_too_deeply"
    ),
    "builtins.NotImplementedError": Meaning(
        "tool_error", "Use another command or option; the tool cannot do this.", "not_implemented"
    ),
    "builtins.EOFError": Meaning(
        "tool_error", "Check that the input is complete.", "unexpected_end"
    ),
    "builtins.UnicodeEncodeError": Meaning(
        "tool_error", "Set PYTHONUTF8=1, then try again.", "invalid_encoding"
    ),
    "asyncio.exceptions.IncompleteReadError": _CUT_OFF,
    "argparse.ArgumentError": Meaning("user_error", error_type="flag_error"),
    "tomllib.TOMLDecodeError": Meaning("user_error", "Correct the TOML there.", "invalid_toml"),
    "yaml.error.YAMLError": Meaning("user_error", "Correct the YAML.", "invalid_yaml"),
    "socket.gaierror": _UNKNOWN_HOST,
    "socket.herror": _UNKNOWN_HOST,  # whose numbers are not those of the system
    "ssl.SSLError": _NO_TLS,
    "ssl.SSLCertVerificationError": _UNTRUSTED,
    "ssl.SSLEOFError": _CUT_OFF,
    "ssl.SSLZeroReturnError": _CUT_OFF,
    "urllib.error.URLError": _NO_ANSWER,
    "urllib.error.ContentTooShortError": _CUT_OFF,
    "http.client.IncompleteRead": _CUT_OFF,
    "http.client.BadStatusLine": _CUT_OFF,
    "http.client.InvalidURL": _INVALID_URL,
    "murli.process.stdin.InputRequired": Meaning(
        "precondition", "Give what it asks for as options, or on stdin.", "input_required"
    ),
    "murli.handlers.processes.ShellStringProhibited": Meaning(
        "tool_error",
        "Report a bug: the tool must give that command as a list.",
        "shell_string_prohibited",
    ),
    "murli.errors.OutputFailed": Meaning("tool_error", error_type="output_failed"),
    # -- clients of HTTP
    "urllib3.exceptions.HTTPError": _NO_ANSWER,
    "urllib3.exceptions.NewConnectionError": _NO_ANSWER,  # which is a TimeoutError there
    "urllib3.exceptions.NameResolutionError": _UNKNOWN_HOST.replace(vague=True),
    "urllib3.exceptions.TimeoutError": SLOW_NETWORK,
    "urllib3.exceptions.ProxyError": _PROXY,
    "urllib3.exceptions.SSLError": _NO_TLS.replace(vague=True),
    "urllib3.exceptions.LocationValueError": _INVALID_URL,
    "requests.exceptions.ConnectionError": _NO_ANSWER,
    "requests.exceptions.ConnectTimeout": SLOW_NETWORK,
    "requests.exceptions.Timeout": SLOW_NETWORK,
    "requests.exceptions.ProxyError": _PROXY,
    "requests.exceptions.SSLError": _NO_TLS.replace(vague=True),
    "requests.exceptions.ChunkedEncodingError": _CUT_OFF,
    "requests.exceptions.RetryError": DOWN.replace(vague=True),
    "requests.exceptions.TooManyRedirects": _LOOP,
    "requests.exceptions.InvalidURL": _INVALID_URL,
    "requests.exceptions.MissingSchema": _INVALID_URL,
    "requests.exceptions.InvalidSchema": _INVALID_URL,
    "requests.exceptions.InvalidJSONError": _NOT_JSON,
    "aiohttp.client_exceptions.ClientConnectionError": _NO_ANSWER,
    "aiohttp.client_exceptions.ClientPayloadError": _CUT_OFF,
    "aiohttp.client_exceptions.ServerDisconnectedError": _CUT_OFF,
    "aiohttp.client_exceptions.ServerTimeoutError": SLOW_NETWORK,
    "aiohttp.client_exceptions.ClientProxyConnectionError": _PROXY,
    "aiohttp.client_exceptions.ClientSSLError": _NO_TLS.replace(vague=True),
    "aiohttp.client_exceptions.ClientConnectorCertificateError": _UNTRUSTED,
    "aiohttp.client_exceptions.ContentTypeError": _NOT_JSON,
    "aiohttp.client_exceptions.TooManyRedirects": _LOOP,
    "aiohttp.client_exceptions.InvalidURL": _INVALID_URL,
    # -- clouds
    "botocore.exceptions.NoCredentialsError": AUTH_MISSING,
    "botocore.exceptions.PartialCredentialsError": AUTH_MISSING,
    "botocore.exceptions.NoAuthTokenError": AUTH_MISSING,
    "botocore.exceptions.CredentialRetrievalError": AUTH_INVALID,
    "botocore.exceptions.TokenRetrievalError": AUTH_EXPIRED,
    "botocore.exceptions.SSOTokenLoadError": AUTH_MISSING,
    "botocore.exceptions.UnauthorizedSSOTokenError": AUTH_EXPIRED,
    "botocore.exceptions.ProfileNotFound": Meaning(
        "not_found", "Name a profile of ~/.aws/config, or set AWS_PROFILE."
    ),
    "botocore.exceptions.NoRegionError": Meaning(
        "precondition", "Name a region, or set AWS_DEFAULT_REGION."
    ),
    "botocore.exceptions.ParamValidationError": WRONG_REQUEST,
    "botocore.exceptions.HTTPClientError": _NO_ANSWER,
    "botocore.exceptions.EndpointConnectionError": Meaning(
        "unavailable", "Check the region, the endpoint and the network.", network=True
    ),
    "botocore.exceptions.ConnectionClosedError": _CUT_OFF,
    "botocore.exceptions.ConnectTimeoutError": SLOW_NETWORK,
    "botocore.exceptions.ReadTimeoutError": SLOW_NETWORK,
    "botocore.exceptions.ProxyConnectionError": _PROXY,
    "botocore.exceptions.SSLError": _UNTRUSTED,
    "google.api_core.exceptions.RetryError": TIMEOUT,
    "google.auth.exceptions.DefaultCredentialsError": AUTH_MISSING,
    "google.auth.exceptions.RefreshError": AUTH_EXPIRED,
    "google.auth.exceptions.TransportError": _NO_ANSWER,
}
# httpx and what is beneath it, under their old and new names.
for _module in ("httpx", "httpx2", "httpcore", "httpcore2"):
    CLASSES |= {
        f"{_module}.TransportError": _NO_ANSWER,
        f"{_module}.NetworkError": _NO_ANSWER,
        f"{_module}.TimeoutException": SLOW_NETWORK,
        f"{_module}.ProtocolError": _CUT_OFF,
        f"{_module}.ProxyError": _PROXY,
        f"{_module}.UnsupportedProtocol": _INVALID_URL,
        f"{_module}.InvalidURL": _INVALID_URL,
        f"{_module}.TooManyRedirects": _LOOP,
    }

# The exceptions that hold others, as many as they like.
GROUPS = frozenset(("builtins.BaseExceptionGroup", "exceptiongroup.BaseExceptionGroup"))

ERRNOS: dict[int, Meaning] = {
    errno.ENOENT: _MISSING,
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.EEXIST: _EXISTS,
    errno.ENOSPC: _DISK_FULL,
    errno.EDQUOT: _DISK_FULL.replace(suggestion="Free some of your quota, then try again."),
    errno.EROFS: _READ_ONLY,
    errno.EMFILE: Meaning(
        "tool_error", "Raise `ulimit -n`, or give fewer files at once.", "too_many_open_files"
    ),
    errno.ENFILE: Meaning(
        "tool_error", "Try again when other programs have ended.", "too_many_open_files"
    ),
    errno.ENOMEM: CLASSES["builtins.MemoryError"],
    errno.EFBIG: Meaning("user_error", "Give a smaller file."),
    errno.ENAMETOOLONG: Meaning("user_error", "Give a shorter name."),
    errno.ELOOP: Meaning("user_error", "Give a path without links that lead in a circle."),
    errno.EISDIR: _DIRECTORY,
    errno.ENOTDIR: _NO_DIRECTORY,
    errno.EXDEV: Meaning("user_error", "Give a target on the same file system."),
    errno.E2BIG: Meaning("user_error", "Give fewer or shorter arguments at once."),
    errno.ENOEXEC: Meaning("user_error", "Give a program that this system can run."),
    errno.ENOTEMPTY: Meaning("conflict", "Empty the directory first."),
    errno.EBUSY: _IN_USE,
    errno.ETXTBSY: _IN_USE,
    errno.EAGAIN: _IN_USE,
    errno.ENOLCK: _IN_USE,
    errno.EDEADLK: LOCKED,
    errno.ESRCH: Meaning("not_found", "Check the process; it may have ended."),
    errno.EIO: Meaning("tool_error", "Check the device; it failed to read or write."),
    errno.ESTALE: Meaning("unavailable", "Try again; the network file system lost the file."),
    errno.EPIPE: CLASSES["builtins.BrokenPipeError"],
    errno.ETIMEDOUT: SLOW_NETWORK,
    errno.ECONNREFUSED: _REFUSED,
    errno.ECONNRESET: _CUT_OFF,
    errno.ECONNABORTED: _CUT_OFF,
    errno.EHOSTUNREACH: UNREACHABLE,
    errno.ENETUNREACH: UNREACHABLE,
    errno.EHOSTDOWN: UNREACHABLE,
    errno.ENETDOWN: UNREACHABLE,
    errno.EADDRINUSE: Meaning("conflict", "Choose another port, or stop what listens there."),
    errno.EADDRNOTAVAIL: Meaning("user_error", "Give an address of this machine."),
}

# What sqlite3 says, whatever the class: its codes are known to Python only since 3.11.
SQLITE: dict[str, Meaning] = {
    " is locked": LOCKED,
    "no such table": Meaning("not_found", "Create the table first, or give another database."),
    "unable to open database": Meaning(
        "not_found", "Check the path; its directory must exist and be writable."
    ),
    "UNIQUE constraint": Meaning("conflict", "Use another key, or change what exists."),
    "FOREIGN KEY constraint": Meaning(
        "conflict", "Create what it refers to first, or remove what refers to it."
    ),
    "constraint failed": Meaning("conflict", "Give a value that the database allows."),
    "readonly database": _READ_ONLY,
    "database or disk is full": _DISK_FULL,
    "disk I/O error": ERRNOS[errno.EIO],
    "image is malformed": Meaning("tool_error", "Restore it from a backup.", "database_corrupt"),
    "not a database": Meaning("user_error", "Give an SQLite database.", "not_a_database"),
}
