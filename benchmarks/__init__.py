"""What is measured, as ratios against a reference in the same run.

``python -m benchmarks`` runs all, ``python -m benchmarks load negatives`` some, ``python -m
benchmarks gpu`` those that make sense on a CUDA device, there; ``--quick`` makes them small,
``--json FILE`` writes the rows as data, from which ``python -m benchmarks._document`` fills in
``docs/performance.md``.

A benchmark is a module of this package whose name does not begin with an underscore. Its docstring
says what is measured and what the limit is; ``run(quick: bool)`` returns its rows, dictionaries of
one line of the table each, or several tables by name. It raises `LeftOut` where there is nothing to
measure.
"""
