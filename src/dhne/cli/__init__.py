"""The command line: ``dhne COMMAND …``, one file a command.

A command is a module of this package with a function ``command`` (or a Typer ``app`` if it has
commands of its own), listed in :data:`dhne.cli.registry.COMMANDS`. Only the module that is asked
for is imported, so ``dhne --help`` starts at once.

Exit status: 0 done, 1 a user's mistake (one clear line on standard error), 2 wrong usage.
"""

from __future__ import annotations

import contextlib
import errno
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    from dhne.errors import DHNEError, InputWarning
    from dhne.workers import FailedElsewhereError, rank

    from .output import Verbosity, is_verbose, note, set_verbosity
    from .registry import make_app

    given = list(sys.argv[1:] if arguments is None else arguments)
    set_verbosity(Verbosity.NORMAL)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", InputWarning)
        if rank():  # of several workers the first speaks
            warnings.simplefilter("ignore")
        try:
            try:
                make_app(given).main(args=given or ["--help"], prog_name="dhne")
            finally:
                sys.stdout.flush()  # what cannot be written is reported here, not at exit
        except SystemExit as done:
            status = _status(done.code)
            if is_verbose():
                note(f"{time.perf_counter() - begin:.1f} s")
            return status
        except DHNEError as error:
            if isinstance(error, FailedElsewhereError) or (rank() and error.is_everywhere):
                return 1  # another worker says why
            if is_verbose():
                traceback.print_exc()
            return _complain("error", error, 1)
        except MemoryError:
            return _complain("error", "not enough memory", 1)
        except RecursionError:
            return _complain("error", "something is nested too deeply", 1)
        except OSError as error:
            return _output_failed(error)
        except KeyboardInterrupt:
            return _complain("stopped", "interrupted", 130)
    return 0


def _complain(kind: str, message: object, status: int) -> int:
    from .output import complain

    complain(kind, message)
    return status


def _output_failed(error: OSError) -> int:
    """Report an error of the system, such as a failure of standard output."""
    import os

    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
        return _complain("error", error.strerror or error, 1)
    # Standard output is what failed; give it a place where the rest of it can go.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:  # the reader, such as head, has closed the pipe
        return 1
    return _complain("error", f"standard output cannot be written: {error.strerror}", 1)


def _status(code: Any) -> int:
    return code if isinstance(code, int) else int(code is not None)


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Show our own warnings as one line; those of libraries only with --verbose."""
    from .output import is_verbose

    if is_verbose() or category.__module__.startswith("dhne"):
        _complain("warning", message, 0)
