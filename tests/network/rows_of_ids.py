"""Arrays of ids for property tests: few small ids, which repeat, and huge ones."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SMALL = hnp.arrays(
    np.int64, st.tuples(st.integers(0, 20), st.integers(2, 5)), elements=st.integers(0, 3)
)
HUGE = hnp.arrays(
    np.int64,
    st.tuples(st.integers(0, 20), st.integers(2, 4)),
    elements=st.sampled_from([0, 1, 2**40]),
)
