"""``python -m dhne`` is the command line ``dhne``."""

from __future__ import annotations

import sys

from dhne.cli import main

if __name__ == "__main__":
    sys.exit(main())
