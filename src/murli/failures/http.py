"""What the answer of a service means: a status, the headers beside it, a code of its own.

Any client's exception will do, as long as it carries the answer somewhere usual. Bodies are
never looked at.
"""

from __future__ import annotations

from .table import (
    AUTH_EXPIRED,
    AUTH_INVALID,
    AUTH_MISSING,
    CANCELLED,
    DOWN,
    LOCKED,
    TIMEOUT,
    WRONG_REQUEST,
    Meaning,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_LONGEST_WAIT_MS = 24 * 60 * 60 * 1000

_DENIED = Meaning("permission_denied", "Ask for the permission, or use other credentials.")
_THROTTLED = Meaning("rate_limited", "Wait, then try again.")
_UNKNOWN = Meaning("not_found", "Check the name; the service does not know it.")
_CONFLICT = Meaning("conflict", "Read the current state, then decide again.")
_REASONS = {each.reason: each for each in (AUTH_MISSING, AUTH_INVALID, AUTH_EXPIRED)}

# 400 and 500 stand for every other status of their hundred.
_STATUSES: dict[int, Meaning] = {
    400: WRONG_REQUEST,
    401: AUTH_MISSING,
    402: Meaning("payment_required", "Pay for it, or use another account."),
    403: _DENIED,
    404: _UNKNOWN,
    405: Meaning("tool_error", "Check the URL: the service does not do this there."),
    407: Meaning("auth_required", "Give the proxy's user and password.", reason="missing"),
    408: TIMEOUT,
    409: _CONFLICT,
    410: Meaning("not_found", "Stop asking for it: it is gone for good.", recoverable=False),
    412: _CONFLICT,
    413: Meaning("user_error", "Send less at once."),
    423: LOCKED,
    424: Meaning("precondition", "Do first what this depends on."),
    425: DOWN,
    428: Meaning("precondition", "Read the current state first, then try again."),
    429: _THROTTLED,
    451: Meaning("permission_denied", "Stop asking for it: the law forbids it."),
    500: DOWN,
    501: Meaning("tool_error", "Use another command: the service cannot do this."),
    504: TIMEOUT,
}

# The codes of gRPC, by the status that means the same.
_GRPC = {
    "INVALID_ARGUMENT": 400,
    "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "ABORTED": 409,
    "FAILED_PRECONDITION": 424,
    "RESOURCE_EXHAUSTED": 429,
    "UNIMPLEMENTED": 501,
    "DEADLINE_EXCEEDED": 504,
}

# What parts of a code of AWS mean; the first that fits counts, and none leaves it to the status.
_AWS_PARTS = (
    (AUTH_EXPIRED, "ExpiredToken RequestExpired TokenRefreshRequired"),
    (AUTH_MISSING, "MissingAuthenticationToken"),
    (AUTH_INVALID, "InvalidClientTokenId InvalidAccessKeyId UnrecognizedClient"),
    (AUTH_INVALID, "SignatureDoesNotMatch IncompleteSignature InvalidToken AuthFailure"),
    (Meaning("precondition", "Set the clock, then try again."), "RequestTimeTooSkewed"),
    (_DENIED, "AccessDenied UnauthorizedOperation"),
    (_THROTTLED, "Throttl TooManyRequests ThroughputExceeded RequestLimitExceeded"),
    (_THROTTLED, "BandwidthLimitExceeded SlowDown PriorRequestNotComplete"),
    (_UNKNOWN, "NoSuch NotFound"),
    (_CONFLICT, "AlreadyExists AlreadyOwned ConditionalCheckFailed Conflict InUse Duplicate"),
    (_CONFLICT, "DependencyViolation OperationAborted"),
    (TIMEOUT, "RequestTimeout"),
    (DOWN, "InternalError InternalFailure ServiceUnavailable"),
)
_AWS = {part: meaning for meaning, parts in _AWS_PARTS for part in parts.split()}


def of_response(error: BaseException) -> Meaning | None:
    """Return what the HTTP answer that *error* carries means, if it carries one of failure."""
    response = peek(error, "response")
    if response is None:
        response = peek(error, "resp")
    for holder, name in (
        (response, "status_code"),
        (response, "status"),
        (error, "status_code"),
        (error, "status"),
        (error, "code"),
    ):
        status = peek(holder, name)
        if isinstance(status, int) and 400 <= status < 600:
            headers = _lowered(peek(response, "headers") or peek(error, "headers") or response)
            return of_status(int(status), headers, signed=_is_signed(error, response))
    return None


def of_carried(error: BaseException) -> Meaning | None:
    """Return what *error* of a library that nobody knows means, where it carries a response."""
    known = isinstance(peek(peek(error, "response"), "status_code"), int)
    return of_response(error) if known else None


def of_status(status: int, headers: Mapping[str, str], *, signed: bool = False) -> Meaning:
    """Return what *status* means beside *headers*, whose names are in lower case.

    *signed* is whether the request had credentials.
    """
    found = _STATUSES.get(status) or _STATUSES[status // 100 * 100]
    if status == 403 and (headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers):
        found = _THROTTLED
    challenge = headers.get("www-authenticate", "")
    if status == 401:
        found = _REASONS[_auth_reason(challenge, signed)]
    elif found is _DENIED:
        found = _denied(_parameter(challenge, "scope"))
    if found.kind in ("rate_limited", "unavailable", "timeout"):
        wait = _wait_ms(headers, limited=found is _THROTTLED)
        found = found.replace(retry_after_ms=wait) if wait else found
    return found


def of_aws(error: BaseException) -> Meaning | None:
    """Return what botocore's ``ClientError`` means: by the service's code, then by the status."""
    response: Any = peek(error, "response")
    about = response.get("ResponseMetadata", {})
    code = str(response.get("Error", {}).get("Code", ""))
    status = about.get("HTTPStatusCode", 0)
    headers = _lowered(about.get("HTTPHeaders"))
    found = next((meaning for part, meaning in _AWS.items() if part in code), None)
    if found is _DENIED:
        import re

        needed = re.search(r"to perform: (\S+)", str(error))
        return _denied(needed[1] if needed else "")
    if found is not None:
        wait = _wait_ms(headers, limited=found is _THROTTLED)
        return found.replace(retry_after_ms=wait) if wait else found
    return of_status(status, headers) if 400 <= status < 600 else None


def of_grpc(error: BaseException) -> Meaning | None:
    """Return what ``grpc.RpcError`` means; its text is a page, its details are the message."""
    call: Any = error
    code = call.code().name
    message = without_credentials(str(call.details() or code).partition("\n")[0])
    found = CANCELLED if code == "CANCELLED" else of_status(_GRPC.get(code, 500), {})
    return found.replace(message=message)


def of_retries(error: BaseException) -> Meaning | None:
    """Return what urllib3's ``ResponseError`` means: it has the status in words."""
    import re

    status = re.search(r"too many ([45]\d\d) error responses", str(error))
    return of_status(int(status[1]), {}) if status else None


_PROXIES = {
    "http": ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"),
    "https": ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
}


def network_context(meaning: Meaning, links: Sequence[BaseException]) -> dict[str, Any]:
    """Return how this process is connected, as far as its environment says.

    *links* are the exception and what it came from, which may know what was asked for. A proxy
    is named by its variable, never by its URL, which may hold a password.
    """
    import os

    no_proxy = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    scheme, host = _asked_for(links)
    # Where nobody knows what was asked for, any proxy may have been in the way.
    names = _PROXIES.get(scheme) or (*_PROXIES["https"], *_PROXIES["http"])
    source = next((name for name in names if os.environ.get(name)), None)
    if no_proxy and source is not None and _is_excepted(host, no_proxy):
        source = None
    return {
        "proxy_used": source is not None,
        "proxy_source": source,
        "no_proxy": without_credentials(no_proxy) if no_proxy else None,
        "ssl_verify": meaning.error_type == "certificate_invalid" or _verifies(links),
        "suggestion": meaning.suggestion,
    }


def without_credentials(text: str) -> str:
    """Return *text* without the users and passwords in its URLs."""
    if "@" not in text:
        return text
    import re

    return re.sub(r"(?<=://)[^\s/'\"]+@", "[REDACTED]@", text)


def _asked_for(links: Sequence[BaseException]) -> tuple[str, str]:
    """Return the scheme and the host of the request that failed, where one of *links* knows it."""
    from urllib.parse import urlsplit

    url = next((url for each in links if (url := peek(peek(each, "request"), "url"))), "")
    try:
        parts = urlsplit(str(url))
        return parts.scheme, parts.hostname or ""
    except ValueError:  # not a URL
        return "", ""


def _is_excepted(host: str, no_proxy: str) -> bool:
    """Return whether *no_proxy* excepts *host*; one that nobody knows only where it excepts all."""
    entries = [entry.strip().lower() for entry in no_proxy.split(",")]
    if "*" in entries:
        return True
    names = [entry.removeprefix("*").removeprefix(".") for entry in entries]
    return bool(host) and any(f".{host}".endswith(f".{name}") for name in names if name)


def _verifies(links: Sequence[BaseException]) -> bool:
    """Return whether certificates are checked, which they are unless somebody switched that off."""
    import sys

    # urllib3 has the connections with it, also beneath requests.
    if any(peek(peek(each, "pool"), "cert_reqs") in ("CERT_NONE", 0) for each in links):
        return False
    ssl = sys.modules.get("ssl")
    default = peek(ssl, "_create_default_https_context")
    return default is None or default is not peek(ssl, "_create_unverified_context")


def peek(holder: object, name: str) -> Any:
    """Return an attribute, or ``None`` where there is none or its code fails."""
    try:
        return getattr(holder, name, None)
    except Exception:  # a foreign property may raise anything
        return None


def _lowered(headers: Any) -> dict[str, str]:
    try:
        return {str(name).lower(): str(value) for name, value in headers.items()}
    except Exception:  # no headers at all, or a foreign mapping that raises
        return {}


def _is_signed(error: BaseException, response: Any) -> bool:
    request = peek(response, "request") or peek(error, "request")
    return "authorization" in _lowered(peek(request, "headers"))


def _auth_reason(challenge: str, signed: bool) -> str:
    words = challenge.lower()
    if "expired" in words:
        return "expired"
    return "invalid" if signed or "invalid" in words else "missing"


def _denied(permission: str) -> Meaning:
    if not permission:
        return _DENIED
    return _DENIED.replace(
        suggestion=f"Ask for the permission {permission}, or use other credentials.",
        context={"required_permission": permission},
    )


def _parameter(challenge: str, name: str) -> str:
    """Return a parameter of a ``WWW-Authenticate`` challenge."""
    import re

    found = re.search(rf'\b{name}\s*=\s*(?:"([^"]*)"|([^\s,]+))', challenge, re.IGNORECASE)
    return (found[1] or found[2] or "") if found else ""


def _wait_ms(headers: Mapping[str, str], *, limited: bool) -> int:
    """Return how long the service asks to wait, 0 where it does not say.

    The time at which a limit is reset counts only for who ran into it.
    """
    seconds = _seconds(headers.get("retry-after", ""), headers.get("date", ""))
    for name in ("ratelimit-reset", "x-ratelimit-reset") if limited else ():
        seconds = seconds or _seconds(headers.get(name, ""), "")
    return max(0, min(int(seconds * 1000), _LONGEST_WAIT_MS))


def _seconds(text: str, sent: str) -> float:
    """Return the seconds until *text*: their number, a time since 1970, or a date.

    A date is compared with *sent*, the service's own clock, where that is known.
    """
    import time

    try:
        number = float(text)
    except ValueError:
        moment = _moment(text)
        return moment - (_moment(sent) or time.time()) if moment else 0.0
    if not 0 <= number < 1e12:
        return 0.0
    # No service asks for thirty years: so many seconds are a moment.
    return number - time.time() if number > 1e9 else number


def _moment(date: str) -> float:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, OverflowError):  # no date
        return 0.0
