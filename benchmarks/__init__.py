"""Benchmarks, reported as ratios to a reference in the same run.

``python -m benchmarks`` runs all, ``python -m benchmarks reading negatives`` some, and ``python -m
benchmarks gpu`` those for a CUDA device. ``--quick`` uses tiny sizes; ``--json FILE`` writes the
rows as JSON, from which ``python -m benchmarks._document`` fills in the documentation.

A benchmark is a module of this package whose name does not start with an underscore. Its docstring
describes what is measured and the limit; ``run(quick: bool)`` returns its rows, one dictionary per
line of the table, or several tables by name. It raises `LeftOut` if there is nothing to measure.
"""
