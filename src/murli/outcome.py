"""What happened, said without knowing who will read it or in which contract.

The records are defined where every call needs them, see `murli.contracts`.
"""

from __future__ import annotations

from .contracts import Failure as Failure
from .contracts import Partial as Partial
from .contracts import Plan as Plan
from .contracts import Record as Record
from .contracts import Success as Success
from .contracts import fill as fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .contracts import Outcome as Outcome
