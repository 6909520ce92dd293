"""Prepared networks: data larger than memory, as a directory of Parquet that trains directly.

:func:`prepare` reads tables of any size shard by shard and leaves the comparison of names to
DuckDB, which spills to disk; :func:`read_prepared` reads the result into a `HyperNetwork`. The
directory's layout (:mod:`.layout`) is the contract between the two: any engine may write it, with
the statements in :mod:`.statements`.

=====================  ===========================================================================
:mod:`.layout`         the directory: its files, its description, and how it is read
:mod:`.shards`         tables of any size cut into parts that fit into memory, names numbered within
:mod:`.statements`     the SQL that numbers nodes, replaces names and counts pairs
:mod:`.pairs`          how often two nodes share a hyperedge, counted by sorting
:mod:`.ahead`          reading ahead on another thread
:mod:`.stages`         the stages of `prepare`, each complete or repeated
:mod:`.building`       `prepare`: a build beside the output that takes its place when complete
=====================  ===========================================================================
"""

from .building import prepare
from .layout import is_prepared, read_prepared

__all__ = ["is_prepared", "prepare", "read_prepared"]
