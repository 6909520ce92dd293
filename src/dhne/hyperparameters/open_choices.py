"""Names of the similarities and losses; registering one adds its name.

The classes are in `dhne.model`, which imports torch; the names are here so that options and checks
can use them without torch.
"""

from __future__ import annotations

SIMILARITIES: list[str] = ["hidden"]
LOSSES: list[str] = ["cross-entropy"]
