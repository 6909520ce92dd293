from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pyarrow.parquet as pq
import pytest

from dhne.errors import InputError, ParameterError
from dhne.io.vectors import vectors_format, write_vectors

NAMES = [
    "Heat",
    "12 Monkeys",
    "100%",
    "tab\there",
    "größe",
    "a_b",
    "a b",
    "line\nbreak",
    " nbsp",
    "",
]
FILES = ["v.parquet", "v.npz", "v.txt", "v.vec", "v.w2v", "v.tsv", "v.projector"]


def make_vectors() -> dict[str, tuple[list[str] | list[int], np.ndarray]]:
    rng = np.random.default_rng(0)
    return {
        "movie": (NAMES, rng.normal(size=(len(NAMES), 4)).astype(np.float32)),
        "user": ([3, 1, 2], rng.normal(size=(3, 4)).astype(np.float32)),
    }


def test_parquet_has_type_name_and_vector(tmp_path: Path) -> None:
    vectors = make_vectors()
    write_vectors(tmp_path / "v.parquet", vectors)
    table = pq.read_table(tmp_path / "v.parquet")
    assert table.column_names == ["type", "name", "vector"]
    assert table["name"].to_pylist() == [*NAMES, "3", "1", "2"]
    found = np.array(table["vector"].to_pylist(), np.float32)
    np.testing.assert_array_equal(found, np.concatenate([m for _, m in vectors.values()]))


def test_parquet_keeps_integers_and_vectors_of_different_sizes(tmp_path: Path) -> None:
    write_vectors(tmp_path / "v.parquet", {"a": ([7], [[1, 2]]), "b": ([8], [[1, 2, 3]])})
    table = pq.read_table(tmp_path / "v.parquet")
    assert table["name"].to_pylist() == [7, 8]
    assert table["vector"].to_pylist() == [[1, 2], [1, 2, 3]]


def test_npz_has_an_array_a_node_type_and_its_names(tmp_path: Path) -> None:
    vectors = make_vectors()
    write_vectors(tmp_path / "v.npz", vectors)
    with np.load(tmp_path / "v.npz", allow_pickle=False) as found:
        assert set(found) == {"movie", "user", "names/movie", "names/user"}
        assert found["names/movie"].tolist() == NAMES
        assert found["names/user"].tolist() == [3, 1, 2]
        np.testing.assert_array_equal(found["movie"], vectors["movie"][1])


class TestWord2Vec:
    def test_gensim_reads_every_name_and_number(self, tmp_path: Path) -> None:
        from gensim.models import KeyedVectors

        vectors = make_vectors()
        write_vectors(tmp_path / "v.txt", vectors)
        found = KeyedVectors.load_word2vec_format(str(tmp_path / "v.txt"), binary=False)
        keys = [unquote(k) for k in found.index_to_key]
        assert keys == [*(f"movie:{n}" for n in NAMES), "user:3", "user:1", "user:2"]
        both = np.concatenate([m for _, m in vectors.values()])
        np.testing.assert_array_equal(found.vectors, both)

    def test_one_node_type_needs_no_prefix(self, tmp_path: Path) -> None:
        write_vectors(tmp_path / "v.vec", {"movie": (["12 Monkeys"], [[0.1, -2]])})
        assert (tmp_path / "v.vec").read_text() == "1 2\n12%20Monkeys 0.1 -2\n"

    def test_vectors_of_different_sizes_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="a 1, b 2"):
            write_vectors(tmp_path / "v.txt", {"a": ([1], [[1]]), "b": ([1], [[1, 2]])})
        assert list(tmp_path.iterdir()) == []


class TestProjector:
    def test_tsv_does_not_replace_a_sibling_that_nobody_named(self, tmp_path: Path) -> None:
        beside = tmp_path / "v.metadata.tsv"
        beside.write_text("mine")
        vectors = {"a": (["x"], [[1.0]])}
        with pytest.raises(InputError, match=r"v\.metadata\.tsv beside it, which exists"):
            write_vectors(tmp_path / "v.tsv", vectors)
        assert [p.name for p in tmp_path.iterdir()] == ["v.metadata.tsv"]
        assert beside.read_text() == "mine"
        beside.unlink()
        for _ in range(2):  # both files of an earlier call are replaced
            write_vectors(tmp_path / "v.tsv", vectors)

    def test_tsv_has_metadata_beside_it(self, tmp_path: Path) -> None:
        vectors = make_vectors()
        labels = {"movie": [["crime", "drama"], *([[]] * (len(NAMES) - 1))]}
        written = write_vectors(tmp_path / "v.tsv", vectors, labels=_columns(labels))
        assert [p.name for p in written] == ["v.metadata.tsv", "v.tsv"]
        numbers = np.loadtxt(tmp_path / "v.tsv", dtype=np.float32, delimiter="\t")
        np.testing.assert_array_equal(numbers, np.concatenate([m for _, m in vectors.values()]))
        lines = (tmp_path / "v.metadata.tsv").read_text().split("\n")
        assert lines[0] == "name\ttype\tlabel"
        assert lines[1] == "Heat\tmovie\tcrime, drama"
        assert lines[-2] == "2\tuser\t"
        assert len(lines) == 1 + len(numbers) + 1

    def test_tensorboard_understands_the_directory(self, tmp_path: Path) -> None:
        from google.protobuf import text_format
        from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

        vectors = {**make_vectors(), 'odd/"type"': ([1], [[1.0, 2, 3, 4]])}
        out = tmp_path / "v.projector"
        write_vectors(out, vectors)
        config = text_format.Parse((out / "projector_config.pbtxt").read_text(), ProjectorConfig())
        assert [e.tensor_name for e in config.embeddings] == list(vectors)
        for entry, (names, matrix) in zip(config.embeddings, vectors.values(), strict=True):
            found = np.loadtxt(out / entry.tensor_path, np.float32, delimiter="\t", ndmin=2)
            np.testing.assert_array_equal(found, np.asarray(matrix, np.float32))
            lines = (out / entry.metadata_path).read_text().split("\n")
            assert len(lines) == len(names) + 1  # one column has no header

    def test_only_a_projector_directory_is_replaced(self, tmp_path: Path) -> None:
        out = tmp_path / "v.projector"
        write_vectors(out, make_vectors())
        write_vectors(out, {"a": ([1], [[1.0]])})
        assert sorted(p.name for p in out.iterdir()) == [
            "a.metadata.tsv",
            "a.tsv",
            "projector_config.pbtxt",
        ]
        (tmp_path / "mine.projector").mkdir()
        (tmp_path / "mine.projector" / "dear.txt").write_text("x")
        with pytest.raises(InputError, match="something else"):
            write_vectors(tmp_path / "mine.projector", make_vectors())
        assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.projector", "v.projector"]


@pytest.mark.parametrize("name", FILES)
def test_equal_vectors_give_equal_bytes(tmp_path: Path, name: str) -> None:
    contents = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write_vectors(tmp_path / folder / name, make_vectors())
        files = sorted(p for p in (tmp_path / folder).rglob("*") if p.is_file())
        contents.append([p.read_bytes() for p in files])
    assert contents[0] == contents[1]


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_written_where_there_is_no_directory(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError):
        write_vectors(tmp_path / "no" / name, make_vectors())
    assert list(tmp_path.iterdir()) == []


def test_unknown_endings_and_shapes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="word2vec"):
        vectors_format("v.xlsx")
    with pytest.raises(ParameterError, match="2 names"):
        write_vectors(tmp_path / "v.npz", {"a": (["x", "y"], [[1.0]])})
    with pytest.raises(ParameterError, match="no vectors"):
        write_vectors(tmp_path / "v.npz", {})


def _columns(labels: dict[str, list[list[str]]]) -> dict[str, object]:
    import pyarrow as pa

    return {t: pa.array(x, pa.list_(pa.string())) for t, x in labels.items()}
