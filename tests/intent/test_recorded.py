"""Query files."""

import json

import pytest

from graftjax.errors import GraftError
from graftjax.intent import read_queries

GRAPH = {"trees": [{"tree_id": "t1", "entity": "Ferry", "attributes": []}], "joins": []}


def write(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return path


def test_all_fields_some_fields_and_unknown_fields(tmp_path):
    full = {
        "id": "q1",
        "db_id": "harbour",
        "question": "Which ferries sail?\u2028Today",
        "gold_sql": "SELECT 1",
        "sql_dialect": "mysql",
        "gold_tables": ["ferry"],
        "intent": GRAPH,
        "subquestions": ["Which ferries?"],
        "comment": {"any": "thing"},
    }
    lines = [json.dumps(full, ensure_ascii=False), "", {"id": 2, "question": "x", "intent": None}]
    first, second = read_queries(write(tmp_path / "q.jsonl", *lines))
    assert first.question.endswith("\u2028Today")
    assert first.intent is not None
    assert first.intent.trees[0].entity == "Ferry"
    assert (first.gold_tables, first.subquestions, first.sql_dialect) == (
        ("ferry",),
        ("Which ferries?",),
        "mysql",
    )
    assert (second.id, second.intent, second.sql_dialect, second.subquestions) == ("2", None, "sqlite", ())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{not json", "not JSON"),
        ("[1]", "expected a JSON object, found list"),
        ({"id": "b"}, "'question' must be a non-empty text"),
        ({"id": "b", "question": "  "}, "'question'"),
        ({"question": "x"}, "'id'"),
        ({"id": "b", "question": "x", "gold_tables": "t"}, "'gold_tables' must be a list of texts"),
        ({"id": "b", "question": "x", "intent": {"trees": [{}]}}, "intent: trees.0.tree_id: Field required"),
        ({"id": "a", "question": "x"}, "id 'a' is already used in line 1"),
    ],
)
def test_a_broken_line_names_file_and_line(tmp_path, line, words):
    path = write(tmp_path / "q.jsonl", {"id": "a", "question": "x"}, "", line)
    with pytest.raises(GraftError) as caught:
        read_queries(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line 3: ")
    assert words in message
    assert "\n" not in message


def test_unreadable_files_are_one_line_errors(tmp_path):
    with pytest.raises(GraftError, match="no such query file"):
        read_queries(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(GraftError, match="UTF-8"):
        read_queries(tmp_path / "latin.jsonl")
    with pytest.raises(GraftError, match="cannot be read"):
        read_queries(tmp_path)


def test_an_empty_file_and_a_byte_order_mark(tmp_path):
    assert read_queries(write(tmp_path / "empty.jsonl")) == ()
    (tmp_path / "bom.jsonl").write_bytes(b'\xef\xbb\xbf{"id": "a", "question": "x"}\r\n')
    assert read_queries(tmp_path / "bom.jsonl")[0].id == "a"
