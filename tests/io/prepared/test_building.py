"""`prepare` gives the network that reading the same files into memory gives, whatever happens."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import dhne
from dhne.errors import InputError, ParameterError
from dhne.io import is_prepared, prepare, read, read_prepared, read_tables
from dhne.io.prepared import shards
from tests.io.prepared.tables import COLUMNS, random_table


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut files into several shards although they are small."""
    monkeypatch.setattr(shards, "_MOST_ROWS", 300)
    monkeypatch.setattr("dhne.io.delimited._BLOCK", 4096)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two Parquet files and one CSV file with the same columns, in one directory."""
    folder = tmp_path / "tags"
    folder.mkdir()
    for number in range(2):
        pq.write_table(random_table(1000, seed=number), folder / f"{number}.parquet")
    pa_csv.write_csv(random_table(700, seed=2), folder / "2.csv")
    return folder


@pytest.mark.usefixtures("small_shards")
class TestTheSameNetwork:
    def test_as_in_memory(self, files: Path, tmp_path: Path) -> None:
        out = prepare(files, tmp_path / "out", columns=COLUMNS)
        whole = dhne.read_table(files, COLUMNS)
        assert read_prepared(out) == whole
        assert read(out) == whole
        assert len(list((out / "edges" / "0").iterdir())) > 3
        assert sorted(p.name for p in out.iterdir()) == ["edges", "nodes", "pairs", "prepared.json"]

    def test_rows_keep_their_order(self, files: Path, tmp_path: Path) -> None:
        found = read_prepared(prepare(files, tmp_path / "out", columns=COLUMNS))
        whole = dhne.read_table(files, COLUMNS)
        for position, t in enumerate(whole.edge_types[0]):
            mine = found.vocabulary(t).take(found.edges()[:, position])
            theirs = whole.vocabulary(t).take(whole.edges()[:, position])
            assert mine.to_pylist() == theirs.to_pylist()

    def test_ids_by_falling_frequency_then_name(self, files: Path, tmp_path: Path) -> None:
        found = read_prepared(prepare(files, tmp_path / "out", columns=COLUMNS))
        for t in found.node_types:
            degrees = np.bincount(
                np.concatenate([found.edges()[:, p] for p in found.edge_types[0].positions_of(t)])
            )
            names = found.names(t).to_pylist()
            assert names == sorted(names, key=lambda n: (-degrees[names.index(n)], n.encode()))

    def test_ids_do_not_depend_on_the_files(self, files: Path, tmp_path: Path) -> None:
        other = tmp_path / "other"
        other.mkdir()
        for number, name in enumerate(["2.csv", "1.parquet", "0.parquet"]):
            shutil.copy(files / name, other / f"{number}{Path(name).suffix}")
        one = read_prepared(prepare(files, tmp_path / "one", columns=COLUMNS))
        two = read_prepared(prepare(other, tmp_path / "two", columns=COLUMNS))
        for t in one.node_types:
            assert one.names(t).equals(two.names(t))

    @pytest.mark.parametrize(
        "names",
        [
            ["007", "7", "42"],
            ["7", "-42", "0", "7"],
            ["-0", "7"],
            ["1e3", "7"],
            [" 7", "7"],
            ["9223372036854775808", "1"],
            ["NaN", "null", "NULL", "true"],
            ["Zoë", "zoe", "Z", "ß", "日本", "🎬"],
            ['a "quoted" one', "a,comma", "two\nlines", "tab\there"],
        ],
    )
    def test_names_are_those_of_the_reader(self, names: list[str], tmp_path: Path) -> None:
        table = pa.table({"user": names, "movie": ["Heat"] * len(names)})
        for ending, write in ((".csv", pa_csv.write_csv), (".parquet", pq.write_table)):
            file = tmp_path / f"x{ending}"
            write(table, file)
            whole = dhne.read_table(file)
            found = read_prepared(prepare(file, tmp_path / f"out{ending}"))
            assert found == whole
            assert found.names("user").type == whole.names("user").type

    @pytest.mark.parametrize(
        "column",
        [
            pa.array([1, 2, 2], pa.int32()),
            pa.array([1.0, 2.0, 2.0]),
            pa.array(["a", "b", "a"]).dictionary_encode(),
            pa.array(["a\0b", "a", "a"]),
            pa.array([True, False, True]),
            pa.array([18000, 1, 1], pa.int32()).cast(pa.date32()),
        ],
        ids=str,
    )
    def test_typed_columns(self, column: pa.Array, tmp_path: Path) -> None:
        file = tmp_path / "x.parquet"
        pq.write_table(pa.table({"user": column, "movie": ["Heat", "Alien", "Heat"]}), file)
        columns = ["user", "movie"]
        found = read_prepared(prepare(file, tmp_path / "out", columns=columns))
        assert found == dhne.read_table(file, columns)

    def test_integers_beside_text(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"user": [1, 2], "movie": ["a", "b"]}), tmp_path / "0.parquet")
        (tmp_path / "1.csv").write_text("user,movie\n2,a\n03,b\n")
        files = sorted(tmp_path.iterdir())
        found = read_prepared(prepare(files, tmp_path / "out"))
        assert found == read_tables(files)
        assert found.names("user").to_pylist() == ["2", "03", "1"]

    @pytest.mark.parametrize(
        "times", [["2024-05-01", "2023-01-31 12:30:00"], ["7", "8"], ["7", "2.5"]]
    )
    def test_weights_and_times(self, times: list[str], tmp_path: Path) -> None:
        file = tmp_path / "x.csv"
        rows = "\n".join(f"u{i % 7},m{i % 5},{i + 1}.5,{times[i >= 400]}" for i in range(900))
        file.write_text(f"user,movie,stars,at\n{rows}\n")
        options: dict[str, Any] = {"columns": ["user", "movie"], "weight": "stars", "time": "at"}
        found = read_prepared(prepare(file, tmp_path / "out", **options))
        whole = dhne.read_table(file, **options)
        assert found == whole
        assert np.array_equal(found.edge_set().times, whole.edge_set().times)  # type: ignore[arg-type]

    def test_several_edge_types_sets_and_repeats(self, tmp_path: Path) -> None:
        follows, papers = tmp_path / "follows.csv", tmp_path / "papers.csv"
        follows.write_text("who,whom\na,b\nb,b\nc,a\nb,a\n")
        papers.write_text("one,two,venue\nb,a,x\na,a,x\nc,b,y\n")
        sources = [
            (follows, {"columns": {"person": ["who", "whom"]}}),
            (papers, {"columns": {"person": ["one", "two"], "venue": "venue"}, "ordered": False}),
        ]
        found = read_prepared(prepare(sources, tmp_path / "out"))
        assert found == read_tables(sources)
        assert [t.has_sets for t in found.edge_types] == [False, True]

    def test_partitions_are_columns(self, tmp_path: Path) -> None:
        for year in (2023, 2024):
            folder = tmp_path / "tags" / f"year={year}" / "land=C%C3%B4te"
            folder.mkdir(parents=True)
            pq.write_table(pa.table({"user": ["ann", f"u{year}"]}), folder / "part.parquet")
        columns = {"user": "user", "year": "year", "land": "land"}
        found = read_prepared(prepare(tmp_path / "tags", tmp_path / "out", columns=columns))
        assert found == dhne.read_table(tmp_path / "tags", columns)
        assert found.names("year").to_pylist() == [2023, 2024]
        assert found.names("land").to_pylist() == ["Côte"]

    def test_other_encodings_delimiters_headers(self, tmp_path: Path) -> None:
        file = tmp_path / "x.txt"
        file.write_bytes("Zoë;Heat\nann;Été\n".encode("latin-1"))
        options: dict[str, Any] = {"encoding": "latin-1", "delimiter": ";", "header": False}
        options["columns"] = ["user", "movie"]
        found = read_prepared(prepare(file, tmp_path / "out", **options))
        assert found == dhne.read_table(file, **options)


class TestPairs:
    def test_are_the_adjacency(self, tmp_path: Path) -> None:
        file = tmp_path / "x.csv"
        rng = np.random.default_rng(0)
        rows = "\n".join(",".join(map(str, row)) for row in rng.integers(1, 9, (300, 4)))
        file.write_text(f"one,two,venue,weight\n{rows}\n")
        columns = {"person": ["one", "two"], "venue": "venue"}
        out = prepare(file, tmp_path / "out", columns=columns)
        found = read_prepared(out)
        matrix = dhne.adjacency.adjacency(found)["person"]
        counts = matrix.matrix.copy()
        counts.data = matrix.counts(matrix.matrix)
        for pair, neighbour in (("0-0", "person"), ("0-1", "venue")):
            table = pq.read_table(out / "pairs" / pair)
            a, b = (table[c].to_numpy() for c in "ab")
            block = counts[:, matrix.blocks[neighbour] :][:, : matrix.sizes[neighbour]].toarray()
            dense = np.zeros_like(block)
            dense[a, b] = table["weight"].to_numpy()
            if pair == "0-0":
                assert (a < b).all()
                dense += dense.T
            np.testing.assert_allclose(dense, block, rtol=1e-6)

    def test_may_be_left_out(self, files: Path, tmp_path: Path) -> None:
        out = prepare(files, tmp_path / "out", columns=COLUMNS, pairs=False)
        assert not (out / "pairs").exists()
        assert read_prepared(out).num_edges() == 2700


class Killed(BaseException):
    """A process that ends at once: nothing is tidied up by those who expect errors."""


def kill_at_pairs(what: str, done: int, total: int) -> None:
    if what == "counting pairs":
        raise Killed


def _files_below(directory: Path, *parts: str) -> dict[Path, int]:
    """Return the files of some parts of a directory with their numbers on the disk."""
    found = (p for part in parts for p in (directory / part).rglob("*.parquet"))
    return {p.relative_to(directory): p.stat().st_ino for p in found}


@pytest.mark.usefixtures("small_shards")
class TestInterrupted:
    @pytest.mark.parametrize("stop", range(0, 40, 3))
    def test_goes_on_where_it_stopped(self, stop: int, files: Path, tmp_path: Path) -> None:
        expected = read_prepared(prepare(files, tmp_path / "expected", columns=COLUMNS))
        steps: list[str] = []

        def kill(what: str, done: int, total: int) -> None:
            steps.append(what)
            if len(steps) > stop:
                raise Killed

        out = tmp_path / "out"
        try:
            prepare(files, out, columns=COLUMNS, progress=kill)
        except Killed:
            assert not out.exists()
        prepare(files, out, columns=COLUMNS, overwrite=True)
        found = read_prepared(out)
        assert found == expected
        assert all(found.names(t).equals(expected.names(t)) for t in found.node_types)
        assert np.array_equal(found.edges(), expected.edges())
        assert not (tmp_path / "out.partial").exists()

    def test_complete_stages_are_reused(self, files: Path, tmp_path: Path) -> None:
        with pytest.raises(Killed):
            prepare(files, tmp_path / "out", columns=COLUMNS, progress=kill_at_pairs)
        kept = _files_below(tmp_path / "out.partial", "nodes", "edges")
        assert len(kept) > 6
        (tmp_path / "out.partial" / "nodes" / "0" / ".x.parquet.abc.tmp").touch()  # half written
        half = tmp_path / "out.partial" / "pairs" / ".0-1.abc.tmp"
        half.mkdir(parents=True, exist_ok=True)
        (half / "part-00000.parquet").touch()
        prepare(files, tmp_path / "out", columns=COLUMNS)
        assert _files_below(tmp_path / "out", "nodes", "edges") == kept
        assert not [p for p in (tmp_path / "out").rglob("*") if p.name.endswith(".tmp")]

    def test_changed_sources_start_anew(self, files: Path, tmp_path: Path) -> None:
        with pytest.raises(Killed):
            prepare(files, tmp_path / "out", columns=COLUMNS, progress=kill_at_pairs)
        pq.write_table(random_table(50, seed=9), files / "1.parquet")
        found = read_prepared(prepare(files, tmp_path / "out", columns=COLUMNS))
        assert found == dhne.read_table(files, COLUMNS)


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("user,movie\nann,Heat\n,Heat\n", "x.csv:3: column 'user': the name is missing"),
            ('user,movie\nann,Heat\n"",Heat\n', "x.csv:3: column 'user': the name is empty"),
            ("user,movie\nann,Heat\nb\0b,Heat\n", "x.csv:3: this line contains a NUL byte"),
            ('user,movie\nann,"Heat\nbob,Alien\n', "x.csv:2: a quote in the row that begins here"),
            ("user,movie\nann,Heat\nbob\n", "x.csv:3: this line has 1 columns, the header has 2"),
            ("user,movie\n", "x.csv: there is a header but no row below it"),
            ("user,film\nann,Heat\n", "x.csv: no column 'movie'; the columns are: user, film"),
        ],
    )
    def test_name_file_and_line(self, text: str, says: str, tmp_path: Path) -> None:
        file = tmp_path / "x.csv"
        file.write_text(text)
        with pytest.raises(InputError, match=says):
            prepare(file, tmp_path / "out", columns=["user", "movie"])
        assert not (tmp_path / "out").exists()

    @pytest.mark.usefixtures("small_shards")
    def test_line_in_a_later_shard(self, tmp_path: Path) -> None:
        file = tmp_path / "x.csv"
        file.write_text("user,movie\n" + "ann,Heat\n" * 2000 + ",Heat\n")
        with pytest.raises(InputError, match=r"x\.csv:2002: column 'user': the name is missing"):
            prepare(file, tmp_path / "out")

    def test_decimals_are_not_names(self, tmp_path: Path) -> None:
        file = tmp_path / "x.parquet"
        pq.write_table(pa.table({"user": [1.0, 2.5], "movie": ["a", "b"]}), file)
        with pytest.raises(InputError, match=r"row 2: 2.5 is a decimal number"):
            prepare(file, tmp_path / "out", columns=["user", "movie"])

    def test_what_exists_stays(self, files: Path, tmp_path: Path) -> None:
        out = prepare(files, tmp_path / "out", columns=COLUMNS, pairs=False)
        with pytest.raises(InputError, match="exists already"):
            prepare(files, out, columns=COLUMNS)
        prepare(files / "2.csv", out, columns=COLUMNS, overwrite=True)
        assert read_prepared(out).num_edges() == 700
        with pytest.raises(InputError, match="not a prepared network"):
            prepare(files / "2.csv", files, columns=COLUMNS, overwrite=True)
        assert not is_prepared(files)

    def test_memory_and_formats(self, files: Path, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="256MiB"):
            prepare(files, tmp_path / "out", memory="12")
        (tmp_path / "x.npz").write_bytes(b"PK")
        with pytest.raises(InputError, match="only CSV, TSV and Parquet"):
            prepare(tmp_path / "x.npz", tmp_path / "out")

    def test_times_of_two_kinds(self, tmp_path: Path) -> None:
        (tmp_path / "0.csv").write_text("user,movie,at\nann,Heat,2024-01-01\n")
        (tmp_path / "1.csv").write_text("user,movie,at\nann,Heat,7\n")
        files = [tmp_path / "0.csv", tmp_path / "1.csv"]
        with pytest.raises(InputError, match="dates as times in one place, numbers in another"):
            prepare(files, tmp_path / "out", columns=["user", "movie"], time="at")


def test_odd_directories(tmp_path: Path) -> None:
    folder = tmp_path / "it's [1] *"
    folder.mkdir()
    (folder / "x.csv").write_text("user,movie\nann,Heat\nbob,Heat\n")
    out = prepare(folder / "x.csv", folder / "out?")
    assert read_prepared(out).num_edges() == 2
