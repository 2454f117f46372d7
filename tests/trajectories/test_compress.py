from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from sample_lakes import lake_of

from graftjax.trajectories.compress import compress
from graftjax.trajectories.homomorphism import violations
from graftjax.trajectories.subgraph import NO_EDGE, Action, Subgraph

# The example of the paper's Fig. 1: instructors in two shards, departments, and a table that links them.
UNIVERSITY = lake_of(
    [
        [("Instructors_1", ["ID", "name", "salary"]), ("Instructors_2", ["ID", "name", "salary"])],
        [("works_in", ["instructor_id", "dept_id"])],
        [("Departments", ["dept_id", "dept_name", "building"])],
    ],
    [("works_in.instructor_id", "Instructors_1.ID", 0.9), ("works_in.dept_id", "Departments.dept_id", 0.8)],
    {"Departments.dept_name": ["Physics", "Biology"]},
)
# Columns: Instructors_1 0-2, Instructors_2 3-5, works_in 6 7, Departments 8-10; classes 0-2, 3 4, 5-7.
INSTRUCTORS = Subgraph(
    tables=(0, 1, 2, 3),
    actions=(
        Action("union", 0, 1, NO_EDGE),
        Action("join", 0, 2, 0),
        Action("join", 2, 3, 1),
    ),
    joins=(0, 1),
    keys=((0,), (3,), (6, 7), (8,)),
    payload=((1,), (4,), (), (9,)),
    values=((9, ("Physics",)),),
)


def test_a_link_table_becomes_a_join_between_the_trees_that_it_links():
    compression = compress(UNIVERSITY, INSTRUCTORS)
    assert compression.intent.model_dump() == {
        "trees": (
            {
                "tree_id": "t1",
                "entity": "instructor",
                "attributes": (
                    {"attribute_id": "a1", "name": "ID", "values": ()},
                    {"attribute_id": "a2", "name": "name", "values": ()},
                ),
            },
            {
                "tree_id": "t2",
                "entity": "department",
                "attributes": (
                    {"attribute_id": "a3", "name": "dept_id", "values": ()},
                    {"attribute_id": "a4", "name": "dept_name", "values": ("Physics",)},
                ),
            },
        ),
        "joins": ({"from_tree": "t1", "from_attribute": "a1", "to_tree": "t2", "to_attribute": "a3"},),
    }
    assert compression.trees == (0, 2)
    assert compression.attributes == ((0, 1), (5, 6))
    assert compression.keys == ((True, False), (True, False))
    assert compression.bridges == ((1,),)
    assert violations(UNIVERSITY, INSTRUCTORS, compression.intent, compression) == ()


def test_a_key_that_no_join_between_trees_needs_is_left_out():
    """`works_in` keeps its place as a tree when it shows payload; the trees are then joined through it."""
    index = lake_of(
        [[("a", ["id", "x"])], [("m", ["a_id", "b_id", "note"])], [("b", ["id", "y"])]],
        [("m.a_id", "a.id", 0.9), ("m.b_id", "b.id", 0.9)],
    )
    both = Subgraph((0, 1, 2), (Action("join", 0, 1, 0), Action("join", 1, 2, 1)), (0, 1),
                    ((0,), (2, 3), (5,)), ((1,), (4,), (6,)))  # fmt: skip
    compression = compress(index, both)
    assert compression.bridges == ((), ())
    assert [len(classes) for classes in compression.attributes] == [2, 3, 2]
    assert violations(index, both, compression.intent, compression) == ()


def chain(*names: str, extra: tuple[str, ...] = ()):
    """Tables of two keys each, joined one to the next; those in `extra` have a payload column too."""
    clusters = [[(name, ["left", "right", *(["more"] if name in extra else [])])] for name in names]
    edges = [(f"{a}.right", f"{b}.left", 0.9) for a, b in pairwise(names)]
    index = lake_of(clusters, edges)
    column = iter(range(100))
    keys, payload = [], []
    for i, name in enumerate(names):
        left, right = next(column), next(column)
        keys.append(tuple([left] * (i > 0) + [right] * (i < len(names) - 1)))
        payload.append((next(column),) if name in extra else ())
    actions = tuple(Action("join", i, i + 1, i) for i in range(len(names) - 1))
    return index, Subgraph(
        tuple(range(len(names))), actions, tuple(range(len(names) - 1)), tuple(keys), tuple(payload)
    )


def test_a_path_may_lead_through_two_bridges():
    index, subgraph = chain("a", "m", "n", "b", extra=("a", "b"))
    compression = compress(index, subgraph)
    assert compression.bridges == ((1, 2),)
    assert violations(index, subgraph, compression.intent, compression) == ()


def test_of_nothing_but_keys_the_ends_stay():
    index, subgraph = chain("a", "m", "b")
    compression = compress(index, subgraph)
    assert (compression.trees, compression.bridges) == ((0, 2), ((1,),))
    index, subgraph = chain("a", "b")
    assert compress(index, subgraph).trees == (0, 1)
    assert violations(index, subgraph, compress(index, subgraph).intent, compress(index, subgraph)) == ()


def test_a_dead_end_of_keys_stays_a_tree():
    index, subgraph = chain("a", "m", extra=("a",))
    compression = compress(index, subgraph)
    assert compression.trees == (0, 1)
    assert compression.bridges == ((),)


def test_two_joins_between_the_same_trees():
    index = lake_of(
        [[("flight", ["source", "target", "no"])], [("airport", ["code", "city"])]],
        [("flight.source", "airport.code", 0.9), ("flight.target", "airport.code", 0.8)],
    )
    subgraph = Subgraph((0, 1), (Action("join", 0, 1, 0),), (0, 1), ((0, 1), (3,)), ((2,), (4,)))
    compression = compress(index, subgraph)
    assert [(j.from_attribute, j.to_attribute) for j in compression.intent.joins] == [
        ("a1", "a4"),
        ("a2", "a4"),
    ]
    assert violations(index, subgraph, compression.intent, compression) == ()


def test_a_link_table_beside_a_direct_join_is_no_bridge():
    index = lake_of(
        [[("a", ["id", "x"])], [("m", ["a_id", "b_id"])], [("b", ["id", "y"])]],
        [("m.a_id", "a.id", 0.9), ("m.b_id", "b.id", 0.9), ("b.id", "a.id", 0.5)],
    )
    subgraph = Subgraph((0, 1, 2), (Action("join", 0, 1, 0), Action("join", 1, 2, 1)), (0, 1, 2),
                        ((0,), (2, 3), (4,)), ((1,), (), (5,)))  # fmt: skip
    assert compress(index, subgraph).trees == (0, 1, 2)


def test_an_edge_inside_a_cluster_is_no_join():
    index = lake_of(
        [[("node", ["id", "parent"]), ("node_2", ["id", "parent"])]], [("node.parent", "node.id", 0.9)]
    )
    subgraph = Subgraph((0, 1), (Action("union", 0, 1, NO_EDGE),), (0,), ((), ()), ((0, 1), (2, 3)))
    compression = compress(index, subgraph)
    assert compression.intent.joins == ()
    assert len(compression.intent.trees) == 1
    assert violations(index, subgraph, compression.intent, compression) == ()


def test_a_table_without_columns_is_a_tree_without_attributes():
    index = lake_of([[("empty", [])]])
    compression = compress(index, Subgraph((0,), (), (), ((),), ((),)))
    assert compression.attributes == ((),)
    assert compression.intent.trees[0].entity == "empty"


def broken():
    good = compress(UNIVERSITY, INSTRUCTORS)
    tree = good.intent.trees[1]
    lie = tree.attributes[1].model_copy(update={"values": ("Chemistry",)})
    lying = tree.model_copy(update={"attributes": (tree.attributes[0], lie)})
    yield (
        "no value",
        INSTRUCTORS,
        good.intent.model_copy(update={"trees": (good.intent.trees[0], lying)}),
        good,
    )
    yield "no path", replace(INSTRUCTORS, joins=(0,)), good.intent, good
    yield "no path", INSTRUCTORS, good.intent, replace(good, bridges=((),))
    yield "is not kept", INSTRUCTORS, good.intent, replace(good, attributes=((0, 2), (5, 6)))
    yield "no path", INSTRUCTORS, good.intent, replace(good, attributes=((1, 0), (5, 6)))
    yield "not sampled", replace(INSTRUCTORS, tables=INSTRUCTORS.tables[:3], keys=INSTRUCTORS.keys[:3],
                                 payload=INSTRUCTORS.payload[:3]), good.intent, good  # fmt: skip
    without = good.intent.model_copy(update={"joins": ()})
    yield "neither a tree", INSTRUCTORS, without, replace(good, bridges=())
    showing = replace(INSTRUCTORS, joins=(1,), keys=((), (), (7,), (8,)), payload=((1,), (4,), (6,), (9,)))
    yield "no keys", showing, good.intent, good
    yield "trees", INSTRUCTORS, good.intent.model_copy(update={"trees": good.intent.trees[:1]}), good


@pytest.mark.parametrize(("fault", "subgraph", "intent", "compression"), list(broken()))
def test_the_checker_finds_faults(fault, subgraph, intent, compression):
    assert any(fault in found for found in violations(UNIVERSITY, subgraph, intent, compression))
