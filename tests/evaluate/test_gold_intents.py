from __future__ import annotations

import pytest

from graftjax.errors import GraftError
from graftjax.evaluate.gold_intents import gold_intent

SCHEMA = {
    "student": {"stuid", "fname", "age", "major"},
    "has_pet": {"stuid", "petid"},
    "pets": {"petid", "pettype", "weight"},
    "highschooler": {"id", "name"},
    "friend": {"student_id", "friend_id"},
}


def read(sql, dialect="sqlite"):
    """({entity: {attribute: values}}, [(entity, attribute, entity, attribute)])."""
    graph = gold_intent(sql, dialect, lambda table: SCHEMA.get(table, ()))
    trees = {t.entity: {a.name: list(a.values) for a in t.attributes} for t in graph.trees}
    joins = [
        (
            graph.tree(j.from_tree).entity, graph.attribute(j.from_tree, j.from_attribute).name,
            graph.tree(j.to_tree).entity, graph.attribute(j.to_tree, j.to_attribute).name,
        )
        for j in graph.joins
    ]  # fmt: skip
    return trees, joins


def test_a_tree_for_each_table_with_the_columns_that_are_named():
    trees, joins = read(
        "SELECT T1.Fname, count(*) FROM Student AS T1 JOIN Has_Pet AS T2 ON T1.StuID = T2.StuID "
        "JOIN Pets AS T3 ON T3.PetID = T2.PetID WHERE T3.PetType = 'dog' AND T1.Age > 20 GROUP BY T1.Major"
    )
    assert trees == {
        "student": {"fname": [], "stu id": [], "age": ["20"], "major": []},
        "has pet": {"stu id": [], "pet id": []},
        "pet": {"pet id": [], "pet type": ["dog"]},
    }
    assert joins == [("student", "stu id", "has pet", "stu id"), ("pet", "pet id", "has pet", "pet id")]


def test_a_table_that_is_read_twice_is_one_tree():
    trees, joins = read(
        "SELECT a.fname FROM student AS a JOIN student AS b ON a.major = b.major WHERE b.fname = 'Linda'"
    )
    assert trees == {"student": {"fname": ["Linda"], "major": []}}
    assert joins == []


def test_words_in_double_quotes_are_literals_unless_they_are_columns():
    assert read('SELECT fname FROM student WHERE major = "Maths"')[0]["student"] == {
        "fname": [],
        "major": ["Maths"],
    }
    assert read('SELECT "fname" FROM student')[0]["student"] == {"fname": []}


@pytest.mark.parametrize(
    ("where", "values"),
    [
        ("age IN (20, 21)", ["20", "21"]),
        ("age BETWEEN 20 AND 30", ["20", "30"]),
        ("5 < age", ["5"]),
        ("age = -1", ["-1"]),
        ("NOT age <> 7", ["7"]),
    ],
)
def test_values(where, values):
    assert read(f"SELECT count(*) FROM student WHERE {where}")[0] == {"student": {"age": values}}


def test_like_loses_its_wildcards_and_aggregates_have_no_values():
    trees, _ = read("SELECT fname FROM student WHERE fname LIKE '%ann%' GROUP BY major HAVING count(*) > 3")
    assert trees == {"student": {"fname": ["ann"], "major": []}}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM highschooler WHERE id IN (SELECT student_id FROM friend)",
        "SELECT id FROM highschooler EXCEPT SELECT student_id FROM friend",
        "SELECT h.name FROM highschooler h WHERE EXISTS (SELECT 1 FROM friend f WHERE f.student_id = h.id)",
    ],
)
def test_links_that_are_no_join_in_sql(sql):
    _, joins = read(sql)
    assert {frozenset((a, c)) for a, _, c, _ in joins} == {frozenset(("highschooler", "friend"))}
    assert {name for _, a, _, b in joins for name in (a, b)} == {"id", "student id"}


def test_using_and_unqualified_columns():
    trees, joins = read("SELECT weight FROM pets JOIN has_pet USING (petid)")
    assert trees["pet"].keys() == {"weight", "petid"}
    assert joins == [("pet", "petid", "has pet", "petid")]


def test_common_table_expressions_are_no_trees():
    trees, _ = read("WITH old AS (SELECT fname FROM student WHERE age > 30) SELECT fname FROM old")
    assert trees == {"student": {"fname": [], "age": ["30"]}}


def test_without_a_schema_a_column_is_the_first_tables():
    graph = gold_intent("SELECT a FROM x", "sqlite", lambda table: ())
    assert [a.name for a in graph.trees[0].attributes] == ["a"]


@pytest.mark.parametrize("sql", ["SELECT FROM WHERE", "SELECT 1", ""])
def test_what_can_not_be_read_is_one_line(sql):
    with pytest.raises(GraftError) as error:
        gold_intent(sql, "sqlite", lambda table: ())
    assert "\n" not in str(error.value)


def test_an_unknown_dialect_is_told():
    with pytest.raises(GraftError, match="klingon"):
        gold_intent("SELECT a FROM x", "klingon", lambda table: ())
