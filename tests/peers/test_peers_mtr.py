from __future__ import annotations

from contract_checks import catalog_of, check_peer, make_lake, make_table
from fake_encoder import WordEncoder

from graftjax.intent import Query
from graftjax.intent.schema import IntentAttribute, IntentGraph, IntentTree
from graftjax.peers.catalog import Catalog
from graftjax.peers.mtr import Mtr, MtrSettings
from graftjax.types import TableId

VOICE, STADIUM = TableId("opera", "singer"), TableId("music", "stadium")
ASKED = Query("q", "who sang where", subquestions=("singer voice", "stadium capacity"))


def test_contract():
    check_peer(lambda catalog: Mtr(catalog, MtrSettings(text="best", question_weight=0.2)))


def test_each_subquestion_brings_its_table_in_turn():
    mtr = Mtr(catalog_of(make_lake()))
    assert mtr.retrieve(ASKED, 2, 0).tables == (VOICE, STADIUM)
    swapped = Query("q", "who sang where", subquestions=ASKED.subquestions[::-1])
    assert mtr.retrieve(swapped, 2, 0).tables == (STADIUM, VOICE)


def test_trees_of_the_intent_stand_in_for_recorded_subquestions():
    trees = (
        IntentTree(
            tree_id="t1", entity="singer", attributes=(IntentAttribute(attribute_id="a", name="voice"),)
        ),
        IntentTree(
            tree_id="t2", entity="stadium", attributes=(IntentAttribute(attribute_id="b", name="capacity"),)
        ),
    )
    query = Query("q", "who sang where", intent=IntentGraph(trees=trees, joins=()))
    assert Mtr(catalog_of(make_lake())).retrieve(query, 2, 0).tables == (VOICE, STADIUM)


def test_rounds_go_on_with_the_next_best_table_of_each_subquestion():
    tables = [
        make_table("a", "red", "apple", "pear"),
        make_table("a", "blue", "river", "lake"),
        make_table("a", "green", "apple"),
        make_table("a", "grey", "lake"),
    ]
    query = Query("q", "anything", subquestions=("red apple pear", "blue river lake"))
    found = Mtr(catalog_of(tables), MtrSettings(last_weight=0.0)).retrieve(query, 4, 0).tables
    assert [table.name for table in found] == ["red", "blue", "green", "grey"]


def test_the_last_table_decides_where_the_subquestion_does_not():
    tables = [
        make_table("a", "violin", "maker", "wood"),
        make_table("a", "moon", "crater"),
        make_table("a", "cello", "maker", "wood"),
    ]
    query = Query("q", "anything", subquestions=("violin maker wood", "zzyzx"))
    catalog = catalog_of(tables)
    apart = Mtr(catalog, MtrSettings(last_weight=0.0)).retrieve(query, 2, 0).tables
    chained = Mtr(catalog, MtrSettings(last_weight=0.4)).retrieve(query, 2, 0).tables
    assert apart[0] == chained[0] == TableId("a", "violin")
    assert chained[1] == TableId("a", "cello")
    assert apart[1] == TableId("a", "moon"), "by lake order, since the sub-question says nothing"


def test_the_whole_question_can_be_mixed_in():
    query = Query("q", "stadium capacity", subquestions=("zzyzx",))
    best = Mtr(catalog_of(make_lake()), MtrSettings(question_weight=0.5)).retrieve(query, 1, 0).tables
    assert best == (STADIUM,)


def test_one_column_can_answer_a_subquestion_of_a_wide_table():
    others = ("hall", "date", "hour", "price", "crowd", "weather", "snack", "score", "camera", "lamp", "tent")
    wide = make_table("a", "event", "sponsor", *others)
    tables = [wide, make_table("a", "sponsor_list", "logo")]
    query = Query("q", "anything", subquestions=("event sponsor",))
    catalog = catalog_of(tables)
    assert Mtr(catalog, MtrSettings(text="best")).retrieve(query, 1, 0).tables == (TableId("a", "event"),)
    plain = Mtr(catalog, MtrSettings(text="schema")).retrieve(query, 1, 0).tables
    assert plain == (TableId("a", "sponsor_list"),)


def test_a_cluster_spends_the_budget_with_all_its_tables():
    mtr = Mtr(catalog_of(make_lake(), "clusters"))
    query = Query("q", "anything", subquestions=("concert year", "stadium capacity"))
    found = mtr.retrieve(query, 3, 0).tables
    assert found == (TableId("music", "concert_1"), TableId("music", "concert_2"), STADIUM)


def test_a_query_encodes_its_texts_in_one_call():
    class Counting(WordEncoder):
        calls = 0

        def encode(self, texts, *, progress=False):
            Counting.calls += 1
            return super().encode(texts, progress=progress)

    mtr = Mtr(Catalog(catalog_of(make_lake()).index, Counting()), MtrSettings(text="best"))
    mtr.warm_up([8])
    before = Counting.calls
    mtr.retrieve(ASKED, 8, 0)
    assert Counting.calls == before + 1
