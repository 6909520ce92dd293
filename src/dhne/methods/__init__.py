"""Methods that can be compared: a registry by name, and runs that hold any of them."""

from .registry import (
    BUILT_IN,
    METHODS,
    Look,
    Method,
    find_method,
    make_method,
    parse_settings,
    register,
    unregister,
)
from .runs import load, method_of, save

__all__ = [
    "BUILT_IN",
    "METHODS",
    "Look",
    "Method",
    "find_method",
    "load",
    "make_method",
    "method_of",
    "parse_settings",
    "register",
    "save",
    "unregister",
]
