from __future__ import annotations

import pytest

from graftjax.errors import GraftError
from graftjax.lake.gold import tables_of_sql


@pytest.mark.parametrize("dialect", ["sqlite", "mysql"])
@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT 1", []),
        ("SELECT count(*) FROM Singer", ["singer"]),
        ("select t1.a from SINGER as t1 join Concert t2 on t1.id = t2.id", ["concert", "singer"]),
        ("SELECT * FROM a, b AS c", ["a", "b"]),
        ("SELECT * FROM a JOIN a AS a2 ON a.x = a2.y", ["a"]),
        ("SELECT * FROM a JOIN a", ["a"]),
        ("SELECT * FROM a AS x, b AS x", ["a", "b"]),
        ("SELECT * FROM (a JOIN b ON a.x = b.x) LEFT JOIN c ON c.x = a.x", ["a", "b", "c"]),
        ("SELECT * FROM x WHERE y IN (SELECT y FROM z WHERE z.q = x.q)", ["x", "z"]),
        ("SELECT (SELECT max(v) FROM m) FROM n HAVING count(*) > (SELECT min(v) FROM o)", ["m", "n", "o"]),
        ("SELECT * FROM (SELECT * FROM inner_one) AS t", ["inner_one"]),
        ("SELECT a FROM p UNION SELECT a FROM q INTERSECT SELECT a FROM r EXCEPT SELECT a FROM s", [*"pqrs"]),
        ("(SELECT a FROM p) UNION ALL (SELECT a FROM q)", ["p", "q"]),
        ("SELECT * FROM main.Student", ["student"]),
        ("SELECT * FROM `My Table` AS q", ["my table"]),
        ("WITH top AS (SELECT * FROM singer) SELECT * FROM top JOIN concert ON 1 = 1", ["concert", "singer"]),
        (
            "WITH a AS (SELECT 1 AS x), b AS (SELECT * FROM a), c AS (SELECT * FROM b, d) SELECT * FROM c",
            ["d"],
        ),
        ("WITH TOP AS (SELECT * FROM singer) SELECT * FROM Top", ["singer"]),
        ("WITH a AS (SELECT * FROM b) SELECT * FROM main.a", ["a", "b"]),
        # The inner table expression ends with its scope: the outer b is a table.
        ("WITH a AS (WITH b AS (SELECT * FROM c) SELECT * FROM b) SELECT * FROM a", ["c"]),
        ("WITH a AS (WITH b AS (SELECT * FROM c) SELECT * FROM b) SELECT * FROM a, b", ["b", "c"]),
        ("SELECT * FROM t WHERE EXISTS (WITH t AS (SELECT * FROM k) SELECT * FROM t)", ["k", "t"]),
        # It hides the table of its own name, which its body reads.
        ("WITH singer AS (SELECT * FROM singer WHERE age > 3) SELECT * FROM singer", ["singer"]),
        ("WITH singer AS (SELECT * FROM concert) SELECT * FROM singer", ["concert"]),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", []),
        (
            "WITH RECURSIVE u AS (SELECT id FROM emp UNION ALL SELECT e.id FROM emp e JOIN u ON"
            " u.id = e.boss) SELECT * FROM u",
            ["emp"],
        ),
        ("INSERT INTO t SELECT * FROM s", ["s", "t"]),
    ],
)
def test_tables(sql, tables, dialect):
    assert tables_of_sql(sql, dialect) == tuple(tables)


def test_quotes_of_the_dialects():
    assert tables_of_sql('SELECT "a" FROM "T"', "sqlite") == ("t",)
    assert tables_of_sql("SELECT * FROM [odd name]", "sqlite") == ("odd name",)
    assert tables_of_sql('SELECT * FROM t WHERE name = "x" LIMIT 2, 3', "mysql") == ("t",)
    assert tables_of_sql("SELECT DATE_FORMAT(d, '%Y') FROM t STRAIGHT_JOIN u", "mysql") == ("t", "u")


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("", "sqlite"),
        ("SELECT FROM WHERE", "sqlite"),
        ("SELECT * FROM (", "mysql"),
        ("SELECT 'abc", "sqlite"),
        ("some words about tables", "sqlite"),
        ("SELECT * FROM [odd name]", "mysql"),
        ("SELECT * FROM t", "no such dialect"),
        ("SELECT * FROM " + "(" * 4000 + "t" + ")" * 4000, "sqlite"),
    ],
)
def test_what_can_not_be_parsed(sql, dialect):
    with pytest.raises(GraftError, match=f"gold SQL can't be parsed as {dialect}: ") as error:
        tables_of_sql(sql, dialect)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300
