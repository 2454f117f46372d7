"""Intent graphs: what is accepted, what is repaired, and what is refused with which words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graftjax.errors import GraftError
from graftjax.intent import parse_intent
from graftjax.intent.schema import IntentGraph


def two_trees(**join):
    return {
        "trees": [
            {
                "tree_id": "t1",
                "entity": "Ferry",
                "attributes": [{"attribute_id": "a1", "name": "id", "values": []}],
            },
            {
                "tree_id": "t2",
                "entity": "Sailing",
                "attributes": [
                    {"attribute_id": "a2", "name": "ferry_id", "values": []},
                    {"attribute_id": "a3", "name": "year", "values": ["2020"]},
                ],
            },
        ],
        "joins": [{"from_tree": "t1", "from_attribute": "a1", "to_tree": "t2", "to_attribute": "a2", **join}],
    }


def test_a_valid_graph_keeps_its_content():
    graph = parse_intent(json.dumps(two_trees()))
    assert [tree.entity for tree in graph.trees] == ["Ferry", "Sailing"]
    assert graph.attribute("t2", "a3").values == ("2020",)
    assert graph.joins[0].to_attribute == "a2"
    assert parse_intent(graph.model_dump(mode="json")) == graph


def test_harmless_deviations_are_repaired():
    graph = parse_intent(
        {
            "Trees": [
                {
                    "treeId": 1,
                    "Entity": "  Sea   port ",
                    "attributes": [
                        {"attribute_id": "A1", "name": "depth", "values": [12, 3.5, 4.0, True, None, " "]},
                        {"attribute_id": "A2", "name": "town", "values": "Bergen"},
                        {"attribute_id": "A3", "name": "code", "values": None},
                        {"attribute_id": "A4", "name": "tag", "values": ["x", "X", "y"], "extra": 1},
                    ],
                },
                {"tree_id": "T2", "entity": "Ship", "attributes": [{"attribute_id": "A1", "name": "port"}]},
                {"tree_id": "T3", "entity": "Crew", "attributes": None},
            ],
            "joins": None,
        }
    )
    port = graph.trees[0]
    assert (port.tree_id, port.entity) == ("1", "Sea port")
    assert port.attributes[0].values == ("12", "3.5", "4", "true")
    assert [a.values for a in port.attributes[1:]] == [("Bergen",), (), ("x", "y")]
    assert graph.trees[2].attributes == ()
    assert graph.joins == ()


def test_join_ids_ignore_case_and_repeated_joins_count_once():
    data = two_trees(from_tree="T1", to_attribute="A2")
    data["joins"].append({"from_tree": "t2", "from_attribute": "a2", "to_tree": "t1", "to_attribute": "a1"})
    (join,) = parse_intent(data).joins
    assert (join.from_tree, join.to_attribute) == ("t1", "a2")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"to_tree": "t9"}, "unknown tree 't9' (known: t1, t2)"),
        ({"to_attribute": "a9"}, "attribute 'a9' is not in tree 't2'; no tree has it"),
        ({"to_attribute": "a1"}, "attribute 'a1' is not in tree 't2'; it belongs to tree 't1'"),
        ({"to_tree": "t1", "to_attribute": "a1"}, "joins tree 't1' with itself"),
        ({"to_tree": None}, "to_tree"),
    ],
)
def test_broken_joins_are_refused_in_one_line(change, words):
    with pytest.raises(GraftError) as caught:
        parse_intent(two_trees(**change), "line 7")
    message = str(caught.value)
    assert message.startswith("line 7: ")
    assert words in message
    assert "\n" not in message


def test_duplicate_ids_are_refused():
    data = two_trees()
    data["trees"][1]["tree_id"] = "T1"
    with pytest.raises(GraftError, match="tree id 'T1' is used twice"):
        parse_intent(data)
    data = two_trees()
    data["trees"][1]["attributes"][1]["attribute_id"] = "a2"
    with pytest.raises(GraftError, match="attribute id 'a2' is used twice in tree 't2'"):
        parse_intent(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("{", "not JSON"),
        ("[]", "found list"),
        ("{}", "trees: Field required"),
        ('{"trees": 3}', "trees"),
        ('{"trees": [{"tree_id": "t1", "entity": " "}]}', "trees.0.entity: must not be blank"),
        ('{"trees": [{"tree_id": "t1", "entity": NaN}]}', "finite"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_other_faults_name_their_place(data, words):
    with pytest.raises(GraftError) as caught:
        parse_intent(data)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_lone_surrogates_are_replaced():
    graph = parse_intent('{"trees": [{"tree_id": "t1", "entity": "a\\ud800b\\u0000c"}]}')
    assert graph.trees[0].entity.encode("utf-8") == b"a?b c"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["trees", "joins", "tree_id", "entity", "attributes", "attribute_id", "name", "values"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_a_graph_or_a_one_line_error(data):
    graph, message = None, ""
    try:
        graph = parse_intent(data)
    except GraftError as error:
        message = str(error)
    assert "\n" not in message
    assert (graph is None) == bool(message)
    if graph is not None:
        assert isinstance(graph, IntentGraph)
        assert parse_intent(graph.model_dump(mode="json")) == graph
