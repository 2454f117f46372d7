"""`graftjax fuse`, `report` and `inspect` on the demo lake."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest
from opened_demo import FIG4, RECORDED, demo, demo_index
from page_parts import Parts

from graftjax import cli
from graftjax.console import run_console
from graftjax.errors import GraftError, UsageError
from graftjax.fuse import FuseError
from graftjax.overview import overview_of, overview_text

NOTHING = ("?", "--lake", "demo", "--guidance", "exact", "--intents", "lexical")
"""A question without a single word to look for."""


@pytest.fixture(scope="module", autouse=True)
def _indexed():
    demo()


def run(capsys, *arguments: str) -> str:
    capsys.readouterr()
    assert cli.run(list(arguments)) == 0
    return capsys.readouterr().out


def test_sql_steps_rows_and_plan_are_printed(capsys):
    out = run(capsys, "fuse", FIG4, *RECORDED, "--filters")
    assert "open_tables/clubs ⋈ exports/2023-04/player_club ⋈ (misc/game_records_1 ∪ game_records_2)" in out
    assert "INNER JOIN" in out
    assert "union of misc/game_records_1, game_records_2 " in out
    assert "filter clubs.Club_Name = 'AIB'" in out
    assert "the first 20 of " in out


def test_a_file_holds_all_rows(tmp_path, capsys):
    out = run(capsys, "fuse", FIG4, *RECORDED, "--out", str(tmp_path / "new" / "x.parquet"))
    found = pq.read_table(tmp_path / "new" / "x.parquet")
    assert found.num_rows == 1031
    assert f"x.parquet: 1,031 rows, {found.num_columns} columns" in out
    run(
        capsys,
        "fuse",
        FIG4,
        *RECORDED,
        "--columns",
        "asked",
        "--join",
        "left",
        "--out",
        str(tmp_path / "x.csv"),
    )
    lines = (tmp_path / "x.csv").read_text().splitlines()
    assert len(lines) > 1031
    assert "Region" not in lines[0]


def test_json_adds_the_fusion_to_what_search_prints(tmp_path, capsys):
    searched = json.loads(run(capsys, "search", FIG4, *RECORDED, "--json"))
    assert list(searched) == [
        "question", "intent", "guidance", "tables", "operators", "U", "support", "notes"
    ]  # fmt: skip
    out = tmp_path / "x.arrow"
    fused = json.loads(run(capsys, "fuse", FIG4, *RECORDED, "--json", "--out", str(out)))
    assert {key: fused[key] for key in searched} == searched
    assert fused["out"] == str(out)
    assert out.exists()
    fusion = fused["fusion"]
    assert fusion["sql"].startswith("WITH")
    assert fusion["n_rows"] == fusion["steps"][-1]["rows"] == 1031
    assert len(fusion["preview"]) == 20
    assert list(fusion["preview"][0]) == [column["name"] for column in fusion["columns"]]


def test_the_folder_of_an_index_leads_to_its_rows(capsys):
    lake = ("--lake", str(demo_index()), "--guidance", "exact", "--intents", "lexical")
    out = run(capsys, "fuse", "Which clubs are there?", *lake, "--L", "2", "--json")
    assert json.loads(out)["fusion"]["n_rows"] > 0


def test_an_empty_answer_says_why_as_search_does(tmp_path, capsys):
    searched = run(capsys, "search", *NOTHING)
    assert searched.startswith("no tables\nnote: ")
    assert run(capsys, "fuse", *NOTHING) == searched
    assert json.loads(run(capsys, "fuse", *NOTHING, "--json"))["fusion"] is None
    run(capsys, "report", *NOTHING, "--out", str(tmp_path / "r.html"))
    assert "No tables were found" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(GraftError, match="not written, no tables were found") as raised:
        cli.run(["fuse", *NOTHING, "--out", str(tmp_path / "x.csv")])
    assert not isinstance(raised.value, UsageError)
    assert not (tmp_path / "x.csv").exists()


def test_too_many_rows_are_one_line_and_exit_code_1(tmp_path, capsys):
    arguments = ["fuse", FIG4, *RECORDED, "--most-rows", "10", "--out", str(tmp_path / "x.csv")]
    with pytest.raises(FuseError, match="more than the limit of 10"):
        cli.run(arguments)
    with pytest.raises(SystemExit) as stop:
        run_console(lambda: cli.run(arguments), "graftjax")
    assert stop.value.code == 1
    assert capsys.readouterr().err.count("graftjax: ") == 1
    assert not (tmp_path / "x.csv").exists()


def test_a_report_is_one_small_page(tmp_path, capsys):
    out = run(capsys, "report", FIG4, *RECORDED, "--out", str(tmp_path / "report.html"))
    assert "report.html: 4 tables" in out
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(text.encode()) < 100_000
    assert text.count('class="link join"') == 2 + 2  # two in the intent, two in the answer
    assert text.count('class="link union"') == 1
    assert text.count('class="box is-bridge"') == 1
    assert "1,031 rows and 11 columns when fused" in text
    run(capsys, "report", FIG4, *RECORDED, "--out", str(tmp_path / "again.html"))
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text


def test_inspect_names_unions_and_joins(capsys):
    out = run(capsys, "inspect", "demo", "--most", "3")
    for said in (
        "tables ",
        "largest union clusters",
        "∪",
        "join with the most others",
        "most joinable pairs",
    ):
        assert said in out
    found = json.loads(run(capsys, "inspect", str(demo_index()), "--most", "3", "--json"))
    assert found["statistics"]["tables"] == 179
    assert [len(cluster["tables"]) for cluster in found["clusters"]] == sorted(
        (len(cluster["tables"]) for cluster in found["clusters"]), reverse=True
    )
    assert len(found["clusters"]) == len(found["keys"]) == len(found["joins"]) == 3
    assert all(0 < pair["weight"] <= 1 and 0 <= pair["containment"] <= 1 for pair in found["joins"])


def test_the_overview_is_right_about_the_index():
    index = demo().index
    found = overview_of(index, most=10_000)
    assert len(found.joins) == index.statistics()["join_edges"]
    weights = [pair.weight for pair in found.joins]
    assert weights == sorted(weights, reverse=True)
    assert sum(count for _, count in found.keys) == 2 * len(found.joins)
    alone = index.statistics()["tables"] - sum(len(cluster.tables) for cluster in found.clusters)
    assert alone + len(found.clusters) == index.statistics()["clusters"]
    assert overview_of(index, most=0).joins == ()
    assert "tables" in overview_text(overview_of(index, most=0))


def test_hostile_names_and_cells_reach_neither_the_terminal_nor_the_page(tmp_path, capsys):
    """From files on disk to the page: no element, no attribute, no escape sequence comes from them."""
    attack = '<img src=x onerror=alert(1)>"onload="\x1b[2J\u202e'
    lake = tmp_path / "lake"
    lake.mkdir()
    try:
        file = (lake / f"players {attack}.csv").open("w", encoding="utf-8")
    except OSError:
        pytest.skip("the file system refuses such a name")
    with file:
        file.write(f'player,"city </style><script>{attack.replace(chr(34), chr(39))}"\n')
        file.writelines(
            f"Player {n},<svg onload=alert({n})>\x1b[31m\u2066 javascript:{n}\n" for n in range(9)
        )
    (lake / f"broken {attack}.parquet").write_bytes(b"PAR1 not really")
    asked = (f"Which players have a city? {attack} <script>", "--lake", str(lake), "--guidance", "exact")
    run(capsys, "report", *asked, "--intents", "lexical", "--out", str(tmp_path / "r.html"))
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Player 1" in text
    assert "broken" in text
    parts = Parts(text)
    assert {tag for tag, _ in parts.elements}.isdisjoint({"script", "img", "b"})
    assert not any(name.startswith("on") for _, names in parts.elements for name in names)
    assert not any(word in value for _, _, value in parts.values for word in ("alert", "javascript", "x1b"))
    printed = run(capsys, "fuse", *asked, "--intents", "lexical")
    printed += run(capsys, "search", *asked, "--intents", "lexical") + run(capsys, "inspect", str(lake))
    assert "Player 1" in printed
    for unseen in "\x1b\u202e\u2066":
        assert unseen not in text
        assert unseen not in printed


def test_no_part_is_written_where_one_of_them_can_not_be(tmp_path):
    """The whole table was written before a part beside it was found to be a folder."""
    from types import SimpleNamespace

    from graftjax.commands.fuse import _write

    written = []
    part = SimpleNamespace(write=written.append)
    fused = SimpleNamespace(others=(part,), write=written.append)
    assert [path.name for path, _ in _write(fused, tmp_path / "a.b.csv")] == ["a.b.csv", "a.b-part2.csv"]
    written.clear()
    (tmp_path / "x-part2.csv").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        _write(fused, tmp_path / "x.csv")
    assert not written
