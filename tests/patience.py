"""The timeout of tests: far longer than any wait takes, because machines may be busy.

ATTNLAB_TESTS_PATIENCE_S sets a shorter one where a wait may never end, as with planted faults.
"""

import os

PATIENCE_S = float(os.environ.get("ATTNLAB_TESTS_PATIENCE_S", "300"))
PATIENCE_MS = round(1000 * PATIENCE_S)
