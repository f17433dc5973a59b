"""A tool with flags worth saving, one of them a secret; three front ends call it."""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

import murli

logging.basicConfig(level=logging.INFO, format="%(message)s")

ROOT = murli.Metadata(
    flag_annotations={
        "region": murli.FlagAnnotation(profileable=True, enum=["eu", "us", "asia"]),
        "token": murli.FlagAnnotation(profileable=True, sensitive=True, env="DEPLOY_TOKEN"),
        "verbose": murli.FlagAnnotation(profileable=True),
    }
)
RUN = murli.Metadata(
    flag_annotations={
        "replicas": murli.FlagAnnotation(profileable=True, env="DEPLOY_REPLICAS"),
        "label": murli.FlagAnnotation(profileable=True),
        "mode": murli.FlagAnnotation(profileable=True, mutually_exclusive_with=["plain"]),
        "force": murli.FlagAnnotation(profileable=True),
    }
)
SHOW = murli.Metadata(
    flag_annotations={
        "color": murli.FlagAnnotation(profileable=True),
        "depth": murli.FlagAnnotation(profileable=True, env="DEPLOY_DEPTH"),
    }
)
REVEAL = murli.Metadata(reveals_secrets=True)
PURGE = murli.Metadata(mutating=True)


def run(**values: Any) -> None:
    """Tell what the call was given."""
    if values.get("label") is not None:
        values["label"] = list(values["label"])
    murli.get_writer().write_success("Deployed.", {k: getattr(v, "value", v) for k, v in
                                                   sorted(values.items())})  # fmt: skip


PRINTED = ("print", "json", "repr", "binary", "child")
TOLD = ("stderr", "logging", "log", "event", "warn", "warnings")


def leak(token: str, how: str) -> None:
    """Let the secret out as a careless handler does: in one way, or in many at once."""
    for each in (*TOLD, "print", "repr") if how == "all" else [how]:
        let_out(token, each)
    if how not in (*PRINTED, "plan"):
        murli.get_writer().write_success(f"It is {token}", {"token": token, "n": [token], token: 1})


def let_out(token: str, how: str) -> None:
    """Let the secret out in one way."""
    writer = murli.get_writer()
    if how == "print":
        print(f"the token is {token}")
    elif how == "json":
        import json

        print(json.dumps({"token": token, token: [token]}))
    elif how == "repr":
        print({"token": token}, f"{token!r}", ascii(token))
    elif how == "binary":
        sys.stdout.buffer.write(b"\0" + token.encode("utf-8", "surrogateescape") + b"\0\xff")
    elif how == "child":
        os.system("printenv SHOWN 2>/dev/null")
    elif how == "stderr":
        print("the token is", token, file=sys.stderr)
    elif how == "logging":
        logging.info("the token is %s", token)
    elif how == "log":
        writer.log(f"the token is {token}")
        writer.progress(f"still {token}")
    elif how == "event":
        writer.write_event({"event": "x", "token": token})
        writer.write_progress(murli.ProgressEvent("s", 1, 2, message=token))
    elif how == "words":
        writer.write_event({"status": token, "code": token, "error": {"phase": token}})
    elif how == "raise":
        raise ValueError(f"no good: {token}")
    elif how == "error":
        raise murli.AgentError.not_found(
            token, f"Pass {token}.", field=token, valid_values=[token], doc_url=token
        )
    elif how == "chain":
        try:
            raise KeyError(token)
        except KeyError as error:
            raise murli.AgentError.tool_error(f"failed: {error}", detail=token) from error
    elif how == "partial":
        writer.write_partial(token, {"token": token, token: token})
    elif how == "plan":
        writer.write_plan(token, {"token": token, token: token})
    elif how == "exit":
        sys.exit(f"gone with {token}")
    elif how == "warn":
        writer.warn("CODE", f"careful: {token}", token=token)
    elif how == "warnings":
        import warnings

        warnings.warn(f"old {token}", stacklevel=1)


def reveal(token: str) -> None:
    """Print the secret, which is what the command is for."""
    murli.get_writer().write_success(f"Token: {token}", {"token": token})
