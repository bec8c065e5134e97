"""`python -m pykbroker`: the same as the `pykbroker` command."""

from __future__ import annotations

import sys

from pykbroker.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
