"""Datasets by name: what is released, and what happens when it is damaged or not there."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from dhne.datasets import CATALOGUE, list_datasets, load_dataset, store
from dhne.errors import DHNEError, ParameterError, UnknownNameError
from dhne.network.hypernetwork import HyperNetwork

RELEASED = ("gps", "movielens", "drug", "wordnet")
SHAPES = {
    "gps": ((146, 70, 5), 1_154, 282),
    "movielens": ((1943, 5610, 8040), 38_365, 8_047),
    "drug": ((12, 1077, 6398), 137_404, 34_352),
    "wordnet": ((40_750, 18, 40_752), 117_153, 29_289),
}
FACTS = {
    "kinships": ((25, 104), 8_544, 1_068, 1_074),
    "umls": ((46, 135), 5_216, 652, 661),
    "jf17k": ((327, 29_177), 61_911, 15_822, 24_915),
}


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test here sees this machine's settings or cache, or reaches the network."""
    monkeypatch.delenv("DHNE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DHNE_DATA_URL", (tmp_path / "nowhere").as_uri())


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> Path:
    monkeypatch.setenv("DHNE_DATA", str(data_dir))
    return data_dir


@pytest.mark.parametrize("name", RELEASED)
def test_released_counts_are_honoured(released: Path, name: str) -> None:
    sizes, train, test = SHAPES[name]
    data = load_dataset(name)
    types = CATALOGUE[name].node_types
    for network, edges in ((data.train, train), (data.test, test), (data.whole, train + test)):
        assert network.edge_types == (types,)
        assert tuple(network.num_nodes(t) for t in types) == sizes
        assert network.num_edges() == edges
        assert all(network.vocabulary(t).is_range for t in types)
        assert network.labelled_types == tuple(CATALOGUE[name].labels)


@pytest.mark.parametrize("name", FACTS)
def test_facts_come_in_their_published_parts(released: Path, name: str) -> None:
    if not (released / name).is_dir():
        pytest.skip(f"{released} has no {name}/")
    sizes, train, valid, test = FACTS[name]
    data = load_dataset(name)
    assert data.valid is not None
    for network, edges in ((data.train, train), (data.valid, valid), (data.test, test)):
        assert (network.num_nodes("relation"), network.num_nodes("entity")) == sizes
        assert network.num_edges() == edges
        assert network.vocabulary("entity") == data.train.vocabulary("entity")
    assert data.whole.num_edges() == train + valid + test
    assert load_dataset(name, "valid") == data.valid


def test_the_numbers_before_the_test_facts_are_left_out(released: Path) -> None:
    if not (released / "jf17k").is_dir():
        pytest.skip(f"{released} has no jf17k/")
    test = load_dataset("jf17k", "test")
    lengths = [e.length - 1 for e in test.edge_sets]
    assert lengths == [2, 3, 4, 5, 6]
    assert [len(e) for e in test.edge_sets] == [10_758, 10_736, 2_572, 833, 16]
    assert not any(str(n).startswith("instance") for n in test.names("relation").to_pylist())


def test_facts_from_small_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {
        "train.txt": b"a\tr\tb\n",
        "valid.txt": b"b\tr\tc\n",
        "test.txt": b"c\ts\ta\n",
    }
    folder = tmp_path / "data" / "kinships"
    folder.mkdir(parents=True)
    for name, content in parts.items():
        (folder / name).write_bytes(content)
    monkeypatch.setenv("DHNE_DATA", str(tmp_path / "data"))
    with pytest.raises(DHNEError, match="not the released file"):
        load_dataset("kinships")
    entry = CATALOGUE["kinships"]
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in parts.items()}
    monkeypatch.setitem(CATALOGUE, "kinships", dataclasses.replace(entry, sha256=sums))
    data = load_dataset("kinships")
    assert repr(data) == "Dataset('kinships', train 1, valid 1, test 1 hyperedges)"
    assert data.test.edges().tolist() == [[1, 2, 0]]
    assert data.entry.positions == ("entity",)


def test_only_some_have_a_validation_part() -> None:
    assert load_dataset("wordnet-sample").valid is None
    with pytest.raises(ParameterError, match="got 'valid'"):
        load_dataset("wordnet-sample", "valid")


def test_movielens_has_genres_and_whole_ids(released: Path) -> None:
    data = load_dataset("movielens")
    genres = data.train.labels("movie")
    assert genres is not None
    assert genres[0].as_py() == ["Adventure", "Animation", "Children", "Comedy", "Fantasy"]
    assert data.train.edges()[0].tolist() == [138, 5460, 4971]
    assert data.train.edges().dtype == np.int64


def test_wordnet_has_categories_some_heads_none(released: Path) -> None:
    labels = load_dataset("wordnet", "train").labels("head")
    assert labels is not None
    assert set(pc.list_value_length(labels).to_pylist()) == {0, 1}
    assert len(pc.unique(labels.flatten())) == 24  # of 27 names, three unused


def test_drug_leaks_as_its_caution_says(released: Path) -> None:
    data = load_dataset("drug")
    train = data.train.edge_set()
    assert len(train) - train.num_distinct() == 75_691
    seen = set(map(bytes, train.nodes))
    assert sum(bytes(row) in seen for row in data.test.edges()) == 23_025
    assert "75,691" in data.entry.caution
    assert "23,025" in data.entry.caution


def test_the_splits_by_name(released: Path) -> None:
    data = load_dataset("gps")
    assert load_dataset("gps", "train") == data.train
    assert load_dataset("gps", "test") == data.test
    assert load_dataset("gps", "all") == data.whole
    with pytest.raises(ParameterError, match="'train', 'test' or 'all' for gps, got 'dev'"):
        load_dataset("gps", "dev")  # type: ignore[call-overload]


def test_the_samples_split_leaves_every_node_an_edge_in_train() -> None:
    data = load_dataset("wordnet-sample")
    assert data.whole == load_dataset("wordnet-sample", "all")
    assert data.test.num_edges() == round(0.2 * data.whole.num_edges())
    for node_type in data.train.node_types:
        assert data.train.degrees(node_type).min() >= 1
    both = np.concatenate([data.train.edges(), data.test.edges()])
    assert len(np.unique(both, axis=0)) == data.whole.num_edges()


def test_a_whole_network_is_the_same_object_every_time() -> None:
    data = load_dataset("wordnet-sample")
    assert isinstance(data.whole, HyperNetwork)
    assert data.whole is data.whole


def test_unknown_names_suggest_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'movielens'"):
        load_dataset("movielense")


def test_the_list_says_where_each_is(released: Path) -> None:
    where = {a.entry.name: a.where for a in list_datasets()}
    assert where["wordnet-sample"] == "bundled"
    assert where["drug"] == str(released / "drug")


def test_the_list_says_what_is_not_there() -> None:
    where = {a.entry.name: a.where for a in list_datasets()}
    assert where == {**dict.fromkeys((*RELEASED, *FACTS)), "wordnet-sample": "bundled"}


def test_every_entry_says_what_people_need() -> None:
    for name, entry in CATALOGUE.items():
        assert name == entry.name
        assert entry.title
        assert entry.description
        assert entry.source
        assert len(entry.node_types) == (2 if entry.relation else 3)
        assert set(entry.labels) <= set(entry.node_types)
        assert entry.bundled or {len(d) for d in entry.sha256.values()} == {64}


# -- where files are, and what they are ----------------------------------------------------------


def test_a_changed_file_is_never_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (tmp_path / "opened",))  # type: ignore[return-value]

    folder = tmp_path / "data" / "GPS"
    folder.mkdir(parents=True)
    for name in CATALOGUE["gps"].sha256:
        np.savez(folder / name, train_data=np.array([Bomb()], dtype=object))
    monkeypatch.setenv("DHNE_DATA", str(tmp_path / "data"))
    with pytest.raises(DHNEError) as caught:
        load_dataset("gps")
    message = str(caught.value)
    actual = hashlib.sha256((folder / "train_data.npz").read_bytes()).hexdigest()
    assert str(folder / "train_data.npz") in message
    assert actual in message
    assert CATALOGUE["gps"].sha256["train_data.npz"] in message
    assert "Delete it" in message
    assert not (tmp_path / "opened").exists()


def test_one_flipped_bit_is_noticed(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, tmp_path: Path
) -> None:
    shutil.copytree(data_dir / "GPS", tmp_path / "GPS", copy_function=shutil.copyfile)
    (tmp_path / "GPS").chmod(0o755)
    path = tmp_path / "GPS" / "test_data.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    monkeypatch.setenv("DHNE_DATA", str(tmp_path))
    with pytest.raises(DHNEError, match=r"test_data.npz: not the released file"):
        load_dataset("gps")


def test_data_nowhere_names_the_variable_and_the_files(tmp_path: Path) -> None:
    with pytest.raises(DHNEError) as caught:
        load_dataset("drug")
    message = str(caught.value)
    assert "DHNE_DATA (not set)" in message
    assert str(tmp_path / "cache" / "dhne") in message
    assert "could not be downloaded" in message
    assert "drug/train_data.npz and drug/test_data.npz" in message


def test_without_download_nothing_is_fetched() -> None:
    with pytest.raises(DHNEError, match="downloading is off"):
        load_dataset("gps", download=False)


@pytest.mark.parametrize("kind", ["file", "missing"])
def test_the_variable_must_name_a_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "data"
    if kind == "file":
        path.write_text("x")
    monkeypatch.setenv("DHNE_DATA", str(path))
    with pytest.raises(DHNEError, match=r"DHNE_DATA names .* must name the directory"):
        load_dataset("gps")
    assert load_dataset("wordnet-sample").train.num_edges()  # which needs none


def test_a_download_is_checked_and_kept(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, tmp_path: Path
) -> None:
    monkeypatch.setenv("DHNE_DATA_URL", data_dir.as_uri() + "/")
    data = load_dataset("gps", progress=True)
    cached = tmp_path / "cache" / "dhne" / "GPS"
    assert {f.name for f in cached.iterdir()} == set(CATALOGUE["gps"].sha256)
    monkeypatch.setenv("DHNE_DATA_URL", (tmp_path / "nowhere").as_uri())
    assert load_dataset("gps", "all") == data.whole
    assert store.find(CATALOGUE["gps"]) == cached


def test_a_wrong_download_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "site" / "GPS"
    folder.mkdir(parents=True)
    (folder / "train_data.npz").write_bytes(b"a page that says hello")
    monkeypatch.setenv("DHNE_DATA_URL", (tmp_path / "site").as_uri())
    with pytest.raises(DHNEError, match=r"its sha256 is .*, expected cb0b"):
        load_dataset("gps")
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_does_no_harm(
    monkeypatch: pytest.MonkeyPatch, data_dir: Path, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where the directory should be")
    monkeypatch.setenv("DHNE_DATA_URL", data_dir.as_uri())
    assert load_dataset("gps", "train").num_edges() == 1_154


def test_an_address_that_is_none_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DHNE_DATA_URL", "not an address")
    with pytest.raises(DHNEError, match="could not be downloaded"):
        load_dataset("gps")
