"""What all tests share: how long hypothesis searches, and where the paper's datasets are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

try:
    from hypothesis import HealthCheck, settings
except ModuleNotFoundError:  # what needs it is skipped; see conftest.py above
    pass
else:
    # A slow machine is no counter-example, so there is no deadline; and the same commit always sees
    # the same examples, so a failure is the change's own.
    settings.register_profile(
        "ci",
        deadline=None,
        derandomize=True,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile(
        "thorough",
        settings.get_profile("ci"),
        derandomize=False,
        max_examples=2000,
    )
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

BESIDE_THE_REPOSITORY = Path(__file__).resolve().parents[2] / "shared" / "data"


def _find_data() -> tuple[Path | None, str]:
    """Return the directory of the paper's datasets, if any, and where it was looked for."""
    named = os.environ.get("DHNE_DATA")
    path = Path(named) if named else BESIDE_THE_REPOSITORY
    where = f"DHNE_DATA={named}" if named else "DHNE_DATA is not set, and ../shared/data"
    if path.is_dir():
        return path.resolve(), where
    return None, f"{where} is no directory"


def pytest_report_header() -> str:
    path, why = _find_data()
    if path is None:
        return f"paper's datasets: not found ({why}); their tests will be skipped"
    return f"paper's datasets: {path}"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the directory with the paper's four datasets; skip, with the reason, without it."""
    path, why = _find_data()
    if path is None:
        pytest.skip(
            f"the paper's datasets are not here: {why}; "
            "set DHNE_DATA to the directory that holds GPS/, MovieLens/, drug/ and wordnet/"
        )
    return path
