"""The questions: gold SQL that runs, gold tables that it reads, and all their shards."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
import sqlglot
from committed import read_lake, read_queries

from graftjax.demo.assemble import build_lake, quoted, source_database

QUERIES = read_queries()
SOURCES = {(d.name, s.name): s for d in build_lake().domains for s in d.sources}
by_query = pytest.mark.parametrize("query", QUERIES, ids=[q["id"] for q in QUERIES])


def test_there_are_questions_enough_of_every_kind():
    ids = [q["id"] for q in QUERIES]
    assert len(ids) == len(set(ids)) >= 36
    assert {"demo-000", "demo-fig1", "demo-fig4"} <= set(ids)
    assert len({q["question"] for q in QUERIES}) == len(QUERIES)
    sizes = [len(q["gold_tables"]) for q in QUERIES]
    assert (min(sizes), max(sizes)) == (1, 5)
    assert sum(n > 1 for n in sizes) > 0.8 * len(QUERIES)
    bridged = [q for q in QUERIES if any(SOURCES[q["db_id"], t].bridge for t in q["gold_tables"])]
    sharded = [q for q in QUERIES if any(len(group) > 1 for group in q["gold_groups"])]
    assert len(bridged) >= len(QUERIES) / 3
    assert len(sharded) >= len(QUERIES) / 3


@by_query
def test_gold_tables_are_the_ones_that_the_sql_reads(query):
    read = {t.name for t in sqlglot.parse_one(query["gold_sql"], read="sqlite").find_all(sqlglot.exp.Table)}
    assert query["gold_tables"] == sorted(read)
    assert query["sql_dialect"] == "sqlite"


@by_query
def test_the_question_names_no_bridge(query):
    for name in query["gold_tables"]:
        if SOURCES[query["db_id"], name].bridge:
            assert name.replace("_", " ") not in query["question"].lower()


@by_query
def test_gold_is_all_shards_of_the_gold_tables(query):
    groups = [
        [[t.folder, t.piece.name] for t in build_lake().shards(query["db_id"], name)]
        for name in query["gold_tables"]
    ]
    assert query["gold_groups"] == groups
    assert all(groups)
    assert query["gold"] == [place for group in groups for place in group]
    assert len(query["gold"]) <= 15


@by_query
def test_the_gold_shards_in_the_files_answer_the_question(query):
    """The committed files give the answer that the generator's sources give, and it is not empty."""
    with closing(source_database(query["db_id"])) as sources, closing(sqlite3.connect(":memory:")) as again:
        expected = sources.execute(query["gold_sql"]).fetchall()
        for name, group in zip(query["gold_tables"], query["gold_groups"], strict=True):
            again.execute(
                sources.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
            )
            for folder, table in group:
                headers, rows = read_lake()[folder, table]
                again.executemany(
                    f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(headers))})", rows
                )
        found = again.execute(query["gold_sql"]).fetchall()
    assert expected
    assert any(cell not in (None, 0) for row in expected for cell in row)
    assert [_rounded(row) for row in sorted(found, key=str)] == [
        _rounded(row) for row in sorted(expected, key=str)
    ]


def _rounded(row):
    # Sums run over the rows in another order.
    return tuple(pytest.approx(cell) if isinstance(cell, float) else cell for cell in row)


@by_query
def test_intents_refer_to_what_they_define(query):
    trees = {t["tree_id"]: {a["attribute_id"] for a in t["attributes"]} for t in query["intent"]["trees"]}
    ids = [a for attributes in trees.values() for a in attributes]
    assert trees
    assert len(ids) == len(set(ids)) == sum(len(t["attributes"]) for t in query["intent"]["trees"])
    for tree in query["intent"]["trees"]:
        assert tree["entity"]
        assert all(a["name"] and all(a["values"]) for a in tree["attributes"])
    for join in query["intent"]["joins"]:
        assert join["from_attribute"] in trees[join["from_tree"]]
        assert join["to_attribute"] in trees[join["to_tree"]]
    assert query["subquestions"]
