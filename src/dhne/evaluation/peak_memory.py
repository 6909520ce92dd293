"""Peak memory of this process during a piece of work.

Linux tracks the peak resident size of a process and can reset it; other systems only give the peak
since the process started.
"""

from __future__ import annotations

import sys
from pathlib import Path

_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def reset_peak() -> bool:
    """Reset the peak; return whether the system supports it."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def peak_mb() -> float:
    """Return the peak resident memory in MiB since `reset_peak`, or since the process started."""
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    return _peak_since_start()


def _peak_since_start() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1024 * 1024 if sys.platform == "darwin" else 1024), 1)
