"""Small files of the kinds that lakes are full of, and what each must become."""

# pyright: reportAttributeAccessIssue=false
# (a Skip where a table is due fails the test by itself)

from __future__ import annotations

from pathlib import Path

import pytest
from lake_maker import HashEncoder, join_list

from graftjax.lake.folder import find_tables
from graftjax.lake.index import build_index
from graftjax.lake.raw import RawTable
from graftjax.types import Skip, TableId

FILES = {
    "delimiter_switch.csv": "c0\nv0\na;b\n",
    "trailing_blanks.csv": "a,b\n1,2,\n3,4,,\n",
    "title_lines.csv": "Report 2024,,\nsource: registry,,\n,,\nid,name,val\n1,A,2\n2,B,3\n3,C,4\n",
    "case_duplicate_headers.csv": "a,a,A\n1,2,3\n4,5,6\n",
    "na_is_a_value.csv": "country,code\nNamibia,NA\nNorway,NO\nNauru,NR\n",
    "leading_zeros.csv": "zip,n\n00501,1\n01001,2\n",
    "semicolon_decimal_comma.csv": "a;b\n1,5;2\n2,25;3\n",
    "header_only_1.csv": "id,name\n",
    "header_only_2.csv": "country,population,year\n",
    "odd_names.csv": '1:00-2:00AM,a#sep#b,x.y,"q ""r"""\n1,2,3,4\n5,6,7,8\n',
    "all_null_left.csv": "id,note\n1,\n2,\n",
    "all_null_right.csv": "key,note\n7,\n8,\n",
    "db1/users.csv": "id,name\n1,Ann\n2,Ben\n",
    "db2/users.csv": "id,email\n1,ann@example.org\n2,ben@example.org\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")
    return folder


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    return write(tmp_path_factory.mktemp("lake"), FILES)


@pytest.fixture(scope="module")
def tables(lake) -> dict[str, RawTable]:
    found = list(find_tables(lake))
    assert not [item for item in found if isinstance(item, Skip)]
    return {item.origin: item for item in found if isinstance(item, RawTable)}


@pytest.fixture(scope="module")
def index(lake, tmp_path_factory):
    return build_index(find_tables(lake), tmp_path_factory.mktemp("index"), HashEncoder(), progress=False)


def rows(raw: RawTable) -> list[tuple]:
    return [tuple(row.values()) for row in raw.data.to_pylist()]


def test_every_file_is_one_table(tables):
    assert sorted(tables) == sorted(FILES)


def test_a_value_with_another_delimiter(tables):
    raw = tables["delimiter_switch.csv"]
    assert raw.data.column_names == ["c0"]
    assert rows(raw) == [("v0",), ("a;b",)]


def test_blank_cells_beyond_the_header_are_padding(tables):
    raw = tables["trailing_blanks.csv"]
    assert raw.data.column_names == ["a", "b"]
    assert rows(raw) == [(1, 2), (3, 4)]


def test_title_lines_precede_the_header(tables):
    raw = tables["title_lines.csv"]
    assert raw.data.column_names == ["id", "name", "val"]
    assert rows(raw) == [(1, "A", 2), (2, "B", 3), (3, "C", 4)]
    assert any("Report 2024" in note and "registry" in note for note in raw.notes)


def test_headers_that_differ_in_case_alone(tables, lake, index):
    raw = tables["case_duplicate_headers.csv"]
    assert len({name.casefold() for name in raw.data.column_names}) == 3
    assert raw.headers == ("a", "a", "A")
    assert rows(raw) == [(1, 2, 3), (4, 5, 6)]
    (again,) = (item for item in find_tables(lake) if item.origin == raw.origin)
    assert again.data.column_names == raw.data.column_names
    (table,) = (table for table in index.tables if table.origin == raw.origin)
    assert [column.name for column in table.columns] == raw.data.column_names


def test_na_is_a_country_code(tables):
    assert tables["na_is_a_value.csv"].data["code"].to_pylist() == ["NA", "NO", "NR"]


def test_leading_zeros_are_kept(tables):
    assert rows(tables["leading_zeros.csv"]) == [("00501", 1), ("01001", 2)]


def test_decimal_commas_between_semicolons(tables):
    raw = tables["semicolon_decimal_comma.csv"]
    assert raw.data.column_names == ["a", "b"]
    assert rows(raw) == [(1.5, 2), (2.25, 3)]


@pytest.mark.parametrize(
    ("name", "columns"),
    [("header_only_1.csv", ["id", "name"]), ("header_only_2.csv", ["country", "population", "year"])],
)
def test_a_header_alone_is_a_table(tables, name, columns):
    assert tables[name].data.column_names == columns
    assert tables[name].data.num_rows == 0


def test_tables_without_rows_are_no_copies_of_each_other(index):
    place = {table.origin: number for number, table in enumerate(index.tables)}
    first, second = place["header_only_1.csv"], place["header_only_2.csv"]
    cluster = index.graph.unions.table_cluster
    assert cluster[first] != cluster[second]
    assert index.tables[first].content_hash != index.tables[second].content_hash


def test_odd_headers_are_kept(tables):
    raw = tables["odd_names.csv"]
    assert raw.data.column_names == ["1:00-2:00AM", "a#sep#b", "x.y", 'q "r"']
    assert rows(raw) == [(1, 2, 3, 4), (5, 6, 7, 8)]


def test_columns_without_values_are_not_joined(tables, index):
    for name in ("all_null_left.csv", "all_null_right.csv"):
        assert tables[name].data["note"].null_count == tables[name].data.num_rows == 2
    assert not [ends for _, ends in join_list(index) if any(end.endswith(".note") for end in ends)]


def test_equal_names_are_told_apart_by_folder(tables, index):
    ids = [tables[f"{folder}/users.csv"].id for folder in ("db1", "db2")]
    assert ids == [TableId("db1", "users"), TableId("db2", "users")]
    printed = [str(table.id) for table in index.tables]
    assert {"db1/users", "db2/users"} <= set(printed)
    assert len(set(printed)) == len(printed)


def test_a_shared_code_outranks_serial_numbers(tmp_path):
    """Twelve tables count 1, 2, 3, ...; only the codes of two others mean the same thing."""
    codes = [10_000 + 91 * number % 700 for number in range(100)]
    files = {
        "shops.csv": "id,zip,shop\n" + "".join(f"{i + 1},{codes[i]},Shop {i + 1}\n" for i in range(90)),
        "zip_regions.csv": "zip,region\n" + "".join(f"{code},R{i % 9}\n" for i, code in enumerate(codes)),
    }
    for number in range(12):
        rows_of = "".join(f"{i},{(37 * i + 11 * number) % 97}\n" for i in range(1, 91))
        files[f"t{number:02d}.csv"] = f"id,{chr(97 + number)}_measure\n{rows_of}"
    lake = write(tmp_path / "lake", files)
    index = build_index(find_tables(lake), tmp_path / "index", HashEncoder(), progress=False)
    assert len(index.tables) == 14
    edges = join_list(index)
    weight = max(w for w, ends in edges if ends == {"shops.zip", "zip_regions.zip"})
    serial = [w for w, ends in edges if all(end.endswith(".id") for end in ends)]
    assert weight > max(serial, default=0.0)
