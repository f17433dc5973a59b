"""Properties: what must hold for any example, and how many of them are tried."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import settings

Test = TypeVar("Test", bound=Callable[..., Any])


def examples(count: int, **more: Any) -> Callable[[Test], Test]:
    """Try a property on *count* examples: what every change can wait for, and always the same.

    ``make test-real`` tries others, and more of them: MURLI_EXAMPLES is a factor.
    """
    factor = int(os.environ.get("MURLI_EXAMPLES", "0"))
    limits = settings(
        max_examples=count * max(factor, 1), deadline=None, derandomize=not factor, **more
    )

    def decorate(test: Test) -> Test:
        marked: Test = pytest.mark.properties(limits(test))
        return marked

    return decorate
