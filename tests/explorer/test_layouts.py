"""Maps: the same embeddings give the same map, and a map that is kept is whole or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dhne.explorer.layouts import UMAP_LIMIT, UmapLayout, principal_components


def test_principal_components_keep_the_largest_variance() -> None:
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(200, 2)) * [5, 2]
    turned = (plane @ np.linalg.qr(rng.normal(size=(8, 2)))[0].T).astype(np.float32)
    points = principal_components(turned)
    np.testing.assert_allclose(
        np.var(points, axis=0).sum(), np.var(turned, axis=0).sum(), rtol=1e-4
    )
    assert points.dtype == np.float32
    np.testing.assert_array_equal(points, principal_components(turned))


def test_principal_components_of_next_to_nothing() -> None:
    assert principal_components(np.empty((0, 4), np.float32)).shape == (0, 2)
    assert principal_components(np.ones((3, 1), np.float32)).tolist() == [[0, 0]] * 3
    assert np.isfinite(principal_components(np.ones((1, 5), np.float32))).all()


def test_umap_is_computed_once_and_kept(tmp_path: Path) -> None:
    matrix = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    layout = UmapLayout(matrix, tmp_path / "cache")
    assert layout.state == "not computed"
    assert layout.start() == "computing"
    assert layout.stage
    assert layout.wait(300) == "ready"
    assert (layout.stage, layout.progress) == ("", None)
    assert layout.points is not None
    again = UmapLayout(matrix, tmp_path / "cache")
    assert again.state == "ready"
    np.testing.assert_array_equal(again.points, layout.points)
    assert UmapLayout(matrix + 1, tmp_path / "cache").state == "not computed"
    [file] = (tmp_path / "cache").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    assert UmapLayout(matrix, tmp_path / "cache").state == "not computed"


def test_umap_says_how_far_it_is() -> None:
    layout = UmapLayout(np.zeros((10, 2), np.float32))
    for line, stage, progress in [
        ("loading", "loading UMAP", None),
        ("neighbours", "finding neighbours", None),
        ("arranging 50 200", "arranging the nodes", 0.25),
        ("a word from elsewhere", "arranging the nodes", 0.25),
    ]:
        layout._note(line.split())
        assert (layout.stage, layout.progress) == (stage, progress)


def test_umap_can_be_stopped() -> None:
    layout = UmapLayout(np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32))
    layout.start()
    layout.close()
    assert layout.wait(60) == "failed"
    assert layout.start() == "failed"


def test_umap_says_why_it_is_not_there() -> None:
    layout = UmapLayout(np.zeros((UMAP_LIMIT + 1, 2), np.float32))
    assert layout.state == layout.start() == "not available"
    assert "50,000" in layout.reason
    assert UmapLayout(np.zeros((2, 2), np.float32)).state == "not available"
