"""Names of node types and roles as valid torch module names."""

from __future__ import annotations


def module_name(name: str) -> str:
    """Return a non-empty name without dots or spaces; distinct names stay distinct.

    Examples
    --------
    >>> module_name("a b"), module_name("")
    ('type_a%20b', 'type_')
    """
    return "type_" + name.replace("%", "%25").replace(".", "%2E").replace(" ", "%20")
