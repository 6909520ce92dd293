"""Names of node types and roles that torch accepts for a module."""

from __future__ import annotations


def module_name(name: str) -> str:
    """Return a name without dots or spaces that is never empty; different names stay different.

    Examples
    --------
    >>> module_name("a b"), module_name("")
    ('type_a%20b', 'type_')
    """
    return "type_" + name.replace("%", "%25").replace(".", "%2E").replace(" ", "%20")
