"""File names for node types, which may be called anything.

A node type is named by the user: its name may contain slashes, be ``..``, exceed the length limit
of file names, or differ from another only in case, which some file systems ignore. The file is
named after it as far as that is safe; the manifest has the real name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote

from dhne.files.digests import sha256_of_text

_LONGEST = 100
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def file_stems(node_types: Iterable[str]) -> dict[str, str]:
    """Return a file name without ending for each node type, safe on every file system.

    Examples
    --------
    >>> list(file_stems(["user", "a/b", "..", "größe"]).values())
    ['user', 'a%2Fb', '%2E.', 'gr%C3%B6%C3%9Fe']
    >>> list(file_stems(["Tag", "tag"]).values())
    ['Tag~1503916a2ab2', 'tag~2a1073a6e67f']
    """
    types = list(node_types)
    stems = {t: _stem(t) for t in types}
    folded = Counter(s.casefold() for s in stems.values())
    return {t: f"{s}~{_digest(t)}" if folded[s.casefold()] > 1 else s for t, s in stems.items()}


def _stem(node_type: str) -> str:
    stem = quote(node_type, safe=" ", errors="surrogatepass").replace("~", "%7E")
    if not stem or stem[0] in ". " or _RESERVED.match(stem):
        stem = (f"%{ord(stem[0]):02X}" if stem else "%") + stem[1:]
    if len(stem) > _LONGEST:
        stem = f"{stem[:_LONGEST]}~{_digest(node_type)}"
    return stem


def _digest(text: str) -> str:
    return sha256_of_text(text)[:12]
