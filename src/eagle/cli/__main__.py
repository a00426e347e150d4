"""`python -m eagle.cli` is the command `eagle`."""

import sys

from eagle.cli import main

sys.exit(main())
