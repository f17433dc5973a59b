"""Work on many items, some of which may fail."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..answer import Writer


class Batch:
    """Collects what became of each item, and answers for all of them.

    ::

        batch = murli.Batch()
        for path in paths:
            try:
                batch.ok(upload(path))
            except Exception as error:
                batch.failed(path, error)
        batch.finish(writer)
    """

    def __init__(self) -> None:
        self._results: list[dict[str, Any]] = []
        self._failed = 0

    def ok(self, item: Any = None) -> None:
        """Note that an item worked; *item* is what it is now, in any form that has a JSON one."""
        self._results.append({"ok": True, "item": item})

    def failed(self, item: Any, error: BaseException | str) -> None:
        """Note that *item* did not work, and why; exceptions are understood as when raised."""
        from ..contracts.agent_spec import error_code
        from ..errors import AgentError

        if isinstance(error, BaseException):
            from ..failures.exceptions import as_agent_error

            problem = as_agent_error(error)
        else:
            problem = AgentError.tool_error(error)
        document = {"code": error_code(problem), "message": problem.message}
        self._failed += 1
        self._results.append({"ok": False, "item": item, "error": document})

    def result(self) -> dict[str, Any]:
        """Return the numbers, and what became of each item, in the order they were noted."""
        total = len(self._results)
        counts = {"total": total, "succeeded": total - self._failed, "failed": self._failed}
        return {"summary": counts, "results": list(self._results)}

    def finish(self, writer: Writer, message: str = "") -> None:
        """Answer: success when no item failed, else a partial failure, which ends the program."""
        total = len(self._results)
        done = total - self._failed
        sentence = message or f"{done} of {total} {'item' if total == 1 else 'items'} done."
        if self._failed:
            writer.write_partial(sentence, self.result())
        writer.write_success(sentence, self.result())
