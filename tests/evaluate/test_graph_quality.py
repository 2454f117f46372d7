from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lake_maker import HashEncoder
from tiny_benchmark import SHARDS, write_benchmark

from graftjax.errors import GraftError
from graftjax.evaluate.graph_quality import GraphQuality, as_text, measure
from graftjax.lake.benchmark import Benchmark
from graftjax.lake.graph import LakeGraph
from graftjax.lake.index import build_index
from graftjax.lake.joins import NO_EDGES


@pytest.fixture
def lake(tmp_path):
    write_benchmark(tmp_path, shards={"seed": 5, "shards": SHARDS})
    benchmark = Benchmark.open("spider", tmp_path)
    index = build_index(benchmark.raw_tables(), tmp_path / "index", HashEncoder(), progress=False)
    return benchmark, index


def _with_clusters(index, label):
    """The index with clusters as `label` names them; every column of a cluster by its name a class."""
    names, classes, owner = {}, {}, []
    cluster = np.array([names.setdefault(label(t.id), len(names)) for t in index.tables], np.int32)
    column_class = []
    for t, table in enumerate(index.tables):
        for column in table.columns:
            key = (cluster[t], column.name.lower())
            if key not in classes:
                classes[key] = len(owner)
                owner.append(cluster[t])
            column_class.append(classes[key])
    unions = replace(
        index.graph.unions,
        table_cluster=cluster,
        column_class=np.asarray(column_class, np.int32),
        class_cluster=np.asarray(owner, np.int32),
    )
    from graftjax.lake.classes import pool_classes

    columns = [column for table in index.tables for column in table.columns]
    rows = [index.tables[t].n_rows for t in index.graph.column_table]
    values = pool_classes(columns, rows, unions.column_class, len(owner))
    return replace(index, graph=LakeGraph(unions, NO_EDGES, index.graph.column_table), values=values), classes


def _edge(index, a, b):
    joins = replace(
        NO_EDGES,
        refers=np.array([a], np.int32),
        referred=np.array([b], np.int32),
        weight=np.ones(1, np.float32),
        containment=np.ones(1, np.float32),
    )
    return replace(index, graph=replace(index.graph, joins=joins))


def test_the_discovered_graph_of_a_tiny_benchmark(lake):
    benchmark, index = lake
    quality = measure(index, benchmark)
    # One foreign key counts: the second lies inside a table, the third leads from one without rows.
    assert quality.foreign_keys == 1
    assert quality.join_recall == 1
    assert quality.union_recall > 0.5
    assert quality.clusters == index.graph.unions.num_clusters


def test_true_clusters_score_one(lake):
    benchmark, index = lake
    source = {shard: key for key, shards in benchmark.shards.items() for shard in shards}
    ideal, classes = _with_clusters(index, source.get)
    quality = measure(ideal, benchmark)
    assert (quality.union_precision, quality.union_recall) == (1, 1)
    assert (quality.join_recall, quality.mean_join_degree, quality.clusters) == (0, 0, 6)

    def stu_id(*source):
        table = ideal.numbers[benchmark.shards[source][0]]
        return classes[ideal.graph.unions.table_cluster[table], "stuid"]

    pets, pupils = stu_id("school", "has_pet"), stu_id("school", "student")
    for ends in ((pets, pupils), (pupils, pets)):
        quality = measure(_edge(ideal, *ends), benchmark)
        assert (quality.join_recall, quality.join_precision) == (1, 1)
        assert quality.mean_join_degree == pytest.approx(2 / 6)
    wrong = measure(_edge(ideal, pets, stu_id("college", "student")), benchmark)
    assert (wrong.join_recall, wrong.join_precision) == (0, 0)


def test_one_cluster_and_no_cluster(lake):
    benchmark, index = lake
    one, _ = _with_clusters(index, lambda id: "all")
    quality = measure(one, benchmark)
    true = 6 + 1 + 3 + 1  # pairs among 4, 2, 3 and 2 shards
    assert quality.union_recall == 1
    assert quality.union_precision == pytest.approx(true / (13 * 12 / 2))
    assert quality.foreign_keys == 0  # no two clusters to join
    apart, _ = _with_clusters(index, lambda id: id)
    quality = measure(apart, benchmark)
    assert (quality.union_precision, quality.union_recall) == (0, 0)
    assert quality.foreign_keys == 1  # spread over several clusters, still one foreign key


def test_an_empty_index(lake, tmp_path):
    benchmark, _ = lake
    empty = build_index([], tmp_path / "empty", HashEncoder(), progress=False)
    assert measure(empty, benchmark) == GraphQuality(0, 0, 0, 0, 0, 0, 0)


def test_an_index_of_something_else_and_a_missing_schema_file(lake, tmp_path):
    benchmark, index = lake
    (benchmark.folder / "tables.json").unlink()
    with pytest.raises(GraftError, match=r"tables\.json: needed to judge join edges") as error:
        measure(index, benchmark)
    assert "\n" not in str(error.value)
    (tmp_path / "two").mkdir()
    write_benchmark(tmp_path / "two", shards={"seed": 6, "shards": {"school.student": 30}})
    with pytest.raises(GraftError, match="not an index of spider"):
        measure(index, Benchmark.open("spider", tmp_path / "two"))


def test_as_text():
    lines = as_text(GraphQuality(0.5, 1.0, 7, 0.25, 0.125, 3.0, 9)).splitlines()
    assert lines[0].split() == ["union", "precision", "0.500"]
    assert lines[2].split() == ["foreign", "keys", "7"]
    assert len(lines) == 7
