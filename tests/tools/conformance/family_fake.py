"""A tool of the ResponseEnvelope family that keeps every rule, or breaks the one BREAK names.

MURLI_CONTRACT chooses the revision. It is started hundreds of times: so it imports no more than it
must, writes its JSON itself, and all but this is compiled once.
"""

from __future__ import annotations

import sys

sys.path[0] = __file__.rpartition("/conformance/")[0]

from conformance.family_fake_commands import main  # noqa: E402

main(sys.argv[1:])
