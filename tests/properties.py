"""Properties: what must hold for any example, and how many of them are tried."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import settings

Test = TypeVar("Test", bound=Callable[..., Any])


def examples(count: int, **more: Any) -> Callable[[Test], Test]:
    """Try a property on *count* examples: what every change can wait for.

    ``make test-real`` tries more of those that are marked so: MURLI_EXAMPLES is a factor.
    """
    many = count * int(os.environ.get("MURLI_EXAMPLES", "1"))

    def decorate(test: Test) -> Test:
        marked: Test = pytest.mark.properties(
            settings(max_examples=many, deadline=None, **more)(test)
        )
        return marked

    return decorate
