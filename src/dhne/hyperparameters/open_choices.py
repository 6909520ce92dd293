"""Choices that can grow: names of the similarities and losses, to which registering one adds its.

The classes are in `dhne.model`, which needs torch; the names are here, so that options and checks
know them without it.
"""

from __future__ import annotations

SIMILARITIES: list[str] = ["hidden"]
LOSSES: list[str] = ["cross-entropy"]
