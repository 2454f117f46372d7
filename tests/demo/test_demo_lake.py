"""The committed lake: its size, its traps, and that it is what the generator writes."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from committed import column, read_lake, read_queries

from graftjax.demo import lake_folder
from graftjax.demo.assemble import build_lake
from graftjax.demo.generate import BUNDLED, check

LAKE = build_lake()
TABLES = {t.piece.name: t for t in LAKE.tables}


def test_the_committed_demo_is_what_the_generator_writes():
    assert check(BUNDLED) == []


def test_it_has_tables_domains_and_forms_enough():
    assert len(read_lake()) == len(LAKE.tables) >= 100
    assert len(LAKE.domains) >= 10
    files = [p for p in lake_folder().rglob("*") if p.is_file()]
    kinds = Counter(p.suffix for p in files)
    assert set(kinds) == {".csv", ".parquet", ".sqlite"}
    assert kinds[".sqlite"] == 2
    assert kinds[".csv"] > kinds[".parquet"] >= 10
    assert sum(p.stat().st_size for p in files) < 3_000_000


def test_identities_are_unique_even_where_case_is_ignored():
    places = [(t.folder.lower(), t.piece.name.lower()) for t in LAKE.tables]
    assert len(set(places)) == len(places)


def test_folders_say_little_about_domains():
    domains, folders = defaultdict(set), defaultdict(set)
    for t in LAKE.tables:
        domains[t.folder].add(t.domain)
        folders[t.domain].add(t.folder)
    assert min(map(len, domains.values())) >= 4
    assert min(map(len, folders.values())) >= 4


def test_shards_hold_the_rows_of_their_source_once():
    for domain in LAKE.domains:
        for source in domain.sources:
            dealt = Counter(row for piece in source.pieces for row in piece.rows)
            assert dealt == Counter(source.rows), source.name
            assert all(piece.rows and len(piece.columns) == len(source.columns) for piece in source.pieces)
            assert all(len(set(p.columns)) == len(p.columns) for p in source.pieces)


def test_some_shards_spell_their_headers_in_their_own_way():
    respelt = [s.name for d in LAKE.domains for s in d.sources if len({p.columns for p in s.pieces}) > 1]
    assert len(respelt) >= 8


def test_near_copies_lack_a_few_rows_and_lie_elsewhere():
    copies = [t for t in LAKE.tables if t.trap == "near-copy"]
    assert len(copies) >= len(LAKE.domains)
    for copy in copies:
        rows = set(copy.piece.rows)
        originals = [t for t in LAKE.tables if t.source and rows < set(t.piece.rows)]
        assert originals, copy.piece.name
        assert all(0.9 < len(rows) / len(set(t.piece.rows)) < 1 for t in originals)
        assert copy.folder not in {t.folder for t in originals}


def test_bridges_hold_identifiers_of_other_tables_only():
    bridges = [(d, s) for d in LAKE.domains for s in d.sources if s.bridge]
    assert len(bridges) >= 10
    for domain, source in bridges:
        others = [set(v) for s in domain.sources if s is not source for v in zip(*s.rows, strict=True)]
        for values in map(set, zip(*source.rows, strict=True)):
            assert any(values <= other for other in others), source.name


def test_every_domain_counts_some_table_from_one():
    for domain in LAKE.domains:
        numbered = [t for t in LAKE.tables if t.domain == domain.name and t.piece.rows]
        serial = [t for t in numbered if _first(t.source or t.piece) == set(range(1, len(_rows(t)) + 1))]
        assert serial, domain.name


def _rows(placed):
    return (placed.source or placed.piece).rows


def _first(table):
    return {row[0] for row in table.rows}


def test_some_names_occur_in_two_folders_with_other_contents():
    places = defaultdict(list)
    for t in LAKE.tables:
        places[t.piece.name].append(t)
    shared = [found for found in places.values() if len(found) > 1]
    assert len(shared) >= 3
    assert all(not set(a.piece.rows) & set(b.piece.rows) for a, b in shared)


@pytest.mark.parametrize(
    ("stray", "header", "source", "key"),
    [
        ("clubs_nightlife", "Club ID", "clubs", "Club ID"),
        ("wards_councillors", "ward_code", "wards", "ward_code"),
        ("university_list", "id", "universities", "UnivID"),
        ("plants_nursery", "plant_code", "power_plants", "plant_code"),
        ("shipping_labels", "label_code", "labels", "label_code"),
    ],
)
def test_the_right_name_may_join_with_nothing(stray, header, source, key):
    assert not set(column(TABLES[stray].place, header)) & set(column(TABLES[source].place, key))


def test_nulls_an_empty_table_and_a_column_without_values():
    empty = [place for place, (_, rows) in read_lake().items() if not rows]
    assert empty == [TABLES["patient_feedback_template"].place]
    blank, holed = [], []
    for place, (headers, rows) in read_lake().items():
        for header, values in zip(headers, zip(*rows, strict=True), strict=False):
            missing = values.count(None)
            (blank if missing == len(values) else holed if missing else []).append((place[1], header))
    assert blank == [("staff", "pager")]
    assert len(holed) >= 10


def test_figure_1_is_there():
    (query,) = [q for q in read_queries() if q["id"] == "demo-fig1"]
    names = {name for _, name in query["gold"]}
    assert names == {"universities", "professors", "teaching_posts", "instructors", "departments"}
    place = {name: (folder, name) for folder, name in query["gold"]}
    assert read_lake()[place["universities"]][0] == ["UnivID", "UniversityName", "State"]
    assert read_lake()[place["professors"]][0] == ["UnivID", "InstructorID", "Role"]
    assert read_lake()[place["teaching_posts"]][0] == ["SchoolCode", "EmployeeID", "Position"]
    assert set(column(place["professors"], "Role")) == {"Professor"}
    assert set(column(place["teaching_posts"], "Position")) == {
        "Lecturer",
        "Senior Lecturer",
        "Assistant Professor",
    }
    schools = set(column(place["universities"], "UnivID"))
    both = set(column(place["professors"], "UnivID")), set(column(place["teaching_posts"], "SchoolCode"))
    assert all(part <= schools for part in both)
    assert len(both[0] & both[1]) > 20
    people = set(column(place["instructors"], "InstructorID"))
    assert people >= set(column(place["professors"], "InstructorID")) | set(
        column(place["teaching_posts"], "EmployeeID")
    )
    assert "Computer Science" in column(place["departments"], "DepartmentName")


def test_figure_4_is_there():
    (query,) = [q for q in read_queries() if q["id"] == "demo-fig4"]
    assert {name for _, name in query["gold"]} == {"clubs", "player_club", "game_records_1", "game_records_2"}
    place = {name: (folder, name) for folder, name in query["gold"]}
    clubs = dict(zip(column(place["clubs"], "Club_Name"), column(place["clubs"], "Club ID"), strict=True))
    assert read_lake()[place["player_club"]][0] == ["Player_ID", "Club ID"]
    members = zip(
        column(place["player_club"], "Player_ID"), column(place["player_club"], "Club ID"), strict=True
    )
    aib = {player for player, club in members if club == clubs["AIB"]}
    assert len(aib) >= 20
    for shard in ("game_records_1", "game_records_2"):
        assert {"Player_ID", "Points"} <= set(read_lake()[place[shard]][0])
        assert len(aib & set(column(place[shard], "Player_ID"))) >= 10
