"""The bundled sample, and WordNet whole, where WordNet's files are installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from dhne.datasets import build
from dhne.datasets.wordnet import SAMPLE_FOLDER, load_sample, write_sample
from dhne.errors import DHNEError, UnknownNameError
from dhne.network.hypernetwork import HyperNetwork

INSTALLED = Path("/usr/share/wordnet")


@pytest.fixture(scope="module")
def installed() -> Path:
    if not (INSTALLED / "data.noun").is_file():
        pytest.skip(f"WordNet's database is not in {INSTALLED}: install Debian's wordnet-base")
    return INSTALLED


@pytest.fixture(scope="module")
def sample() -> HyperNetwork:
    return load_sample()


def named(network: HyperNetwork) -> set[tuple[str, ...]]:
    edges = network.edges()
    columns = [
        network.vocabulary(t).take(edges[:, p]).to_pylist()
        for p, t in enumerate(network.edge_types[0])
    ]
    return set(zip(*columns, strict=True))


def test_the_sample_is_small_and_says_what_people_know(sample: HyperNetwork) -> None:
    assert 3_000 <= sample.num_edges() <= 6_000
    assert sum(f.stat().st_size for f in SAMPLE_FOLDER.iterdir()) < 300_000
    triples = named(sample)
    assert len(triples) == sample.num_edges()
    assert ("paris.n.01", "part_of", "france.n.01") in triples
    assert ("france.n.01", "has_part", "paris.n.01") in triples
    assert ("everest.n.01", "instance_hypernym", "mountain_peak.n.01") in triples


def test_every_synset_of_the_sample_has_one_category(sample: HyperNetwork) -> None:
    for node_type in ("head", "tail"):
        labels = sample.labels(node_type)
        assert labels is not None
        assert (pc.list_value_length(labels).to_numpy() == 1).all()
        assert len(pc.unique(labels.flatten())) >= 4
    assert sample.labels("relation") is None


def test_no_node_of_the_sample_hangs_by_a_thread(sample: HyperNetwork) -> None:
    assert sample.degrees("head").min() >= 2
    assert sample.degrees("tail").min() >= 2
    assert set(sample.names("head").to_pylist()) == set(sample.names("tail").to_pylist())


def test_ids_follow_first_appearance(sample: HyperNetwork) -> None:
    """So a table of the names, read back, gives the very same ids."""
    for column in sample.edges().T:
        _, first = np.unique(column, return_index=True)
        assert (np.diff(first) > 0).all()


def test_the_licence_is_beside_the_sample() -> None:
    text = (SAMPLE_FOLDER / "LICENSE").read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in text
    assert "THIS SOFTWARE AND DATABASE IS PROVIDED" in text


def test_the_sample_is_made_again_byte_by_byte(installed: Path, tmp_path: Path) -> None:
    write_sample(installed, tmp_path)
    for made in tmp_path.iterdir():
        assert made.read_bytes() == (SAMPLE_FOLDER / made.name).read_bytes(), made.name
    assert len(list(tmp_path.iterdir())) == 2


def test_wordnet_whole_has_names_and_holds_the_sample(
    installed: Path, sample: HyperNetwork
) -> None:
    whole = build("wordnet", installed)
    assert whole.num_edges() == 346_720
    assert whole.num_nodes("relation") == 18
    assert named(sample) <= named(whole)
    assert build("wordnet-sample", installed) == sample


def test_only_wordnet_can_be_built(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="dataset to build 'gps'"):
        build("gps", tmp_path)
    with pytest.raises(DHNEError, match=r"data.noun: cannot be read"):
        build("wordnet", tmp_path)
