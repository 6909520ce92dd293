"""Every error a user can cause, with what to do about it.

All of them derive from :class:`DHNEError`, so that ``except dhne.DHNEError`` catches exactly the
mistakes a person can mend, and the command line can turn each into one clear line.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from os import PathLike
from typing import ClassVar


class DHNEError(Exception):
    """Base of all errors that a user can cause and mend.

    Attributes
    ----------
    is_everywhere : bool
        Whether all workers that train together raise it alike, so that one of them may speak.
    """

    is_everywhere: ClassVar[bool] = False


class InputError(DHNEError, ValueError):
    """Data that cannot be read or does not make a hyper-network.

    Parameters
    ----------
    message : str
        What is wrong and what to do.
    file, line, column : optional
        Where it is wrong; they become the prefix ``file:line: column 'x':``.

    Examples
    --------
    >>> print(InputError("the weight is negative", file="tags.csv", line=3, column="count"))
    tags.csv:3: column 'count': the weight is negative
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | PathLike[str] | None = None,
        line: int | None = None,
        column: str | int | None = None,
    ) -> None:
        self.file, self.line, self.column = file, line, column
        place = "" if file is None else f"{file}:"
        if line is not None:
            place += f"{line}:" if file is not None else f"line {line}:"
        if column is not None:
            place += f" column {column!r}:" if place else f"column {column!r}:"
        super().__init__(f"{place} {message}" if place else message)


class NoRowsError(InputError):
    """A table that has columns but no rows."""


class InputWarning(UserWarning):
    """Something in the data was left out; the message says what."""


class MachineWarning(UserWarning):
    """The machine or its settings slow the work down; the message says what to change."""


class UnknownNameError(DHNEError, LookupError):
    """A name (of a node, a column, a dataset, an option) that is not there; suggests near ones.

    Examples
    --------
    >>> print(UnknownNameError("dataset", "wordnett", ["gps", "wordnet"]))
    unknown dataset 'wordnett': did you mean 'wordnet'?
    """

    def __init__(self, kind: str, name: object, choices: Iterable[object] = ()) -> None:
        self.kind, self.name = kind, name
        choices = list(choices)
        near = suggest(str(name), choices)
        message = f"unknown {kind} {name!r}"
        if near:
            message += ": did you mean " + " or ".join(repr(n) for n in near) + "?"
        elif 0 < len(choices) <= 20:
            message += "; choose from: " + ", ".join(str(c) for c in choices)
        super().__init__(message)


class SaturatedNetworkError(DHNEError):
    """No tuple is left that is not a hyperedge, so no negative can be drawn."""

    is_everywhere = True


class RunError(DHNEError):
    """A run directory is missing, damaged, of a newer format, or not of the requested kind."""


class MemoryLimitError(DHNEError, MemoryError):
    """The work would not fit into memory; raised before it begins."""


class NotFittedError(DHNEError, ValueError, AttributeError):
    """An embedder was used before it was fitted."""


class ParameterError(DHNEError, ValueError):
    """A hyper-parameter or an argument has an invalid value."""


class MissingExtraError(DHNEError, ImportError):
    """An optional package is not installed; the message names the extra to install.

    Examples
    --------
    >>> print(MissingExtraError("matplotlib", extra="plots"))
    this needs the package matplotlib; install it with: pip install 'dhne[plots]'
    """

    def __init__(self, package: str, *, extra: str) -> None:
        super().__init__(
            f"this needs the package {package}; install it with: pip install 'dhne[{extra}]'"
        )


def suggest(name: str, choices: Iterable[object], n: int = 2) -> list[str]:
    """Return up to `n` of `choices` that look like `name`, nearest first.

    Examples
    --------
    >>> suggest("moive", ["user", "movie", "tag"])
    ['movie']
    >>> suggest("37", ["000037", "000371"])  # zeros that a spreadsheet has dropped
    ['000037']
    """
    texts = [str(c) for c in choices]
    if name.isdigit() and (padded := [t for t in texts if t.lstrip("0") == name.lstrip("0")]):
        return padded[:n]
    by_fold = {t.casefold(): t for t in texts}
    near = difflib.get_close_matches(name.casefold(), list(by_fold), n=n, cutoff=0.6)
    return [by_fold[t] for t in near]
