"""The library's log: what is planned, asked, sent again and found in a ledger.

Nothing is shown unless the program that uses the library says so, for instance by
`logging.basicConfig(level=logging.INFO)`. Counts and seconds are logged; never values of the data,
answers, addresses or keys.
"""

from __future__ import annotations

import logging
from typing import Final

LOG: Final = logging.getLogger("eagle")
LOG.addHandler(logging.NullHandler())
