"""Pneuma; its judge against a local HTTP server that plays a language model."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from contract_checks import catalog_of, check_peer, index_of, make_lake, make_table, raw
from fake_encoder import WordEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from graftjax.errors import UsageError
from graftjax.intent import Query
from graftjax.peers.catalog import Catalog
from graftjax.peers.pneuma import (
    BLOCK_CHARACTERS,
    Pneuma,
    PneumaSettings,
    row_documents,
    schema_documents,
)
from graftjax.types import TableId

RARE = [
    raw("a", "harbour", {"berth": ["north", "south"], "tide": ["low", "high"]}),
    raw("a", "depot", {"part": ["bolt", "flux capacitor"], "shelf": ["one", "two"]}),
    raw("a", "school", {"pupil": ["Ann", "Bob"], "grade": ["first", "second"]}),
]
ASKED = Query("q", "Where is the flux capacitor?")


class BlindEncoder(WordEncoder):
    """All texts are one to it."""

    def encode(self, texts, *, progress=False):
        return np.full((len(texts), self.dim), self.dim**-0.5, np.float32)


@pytest.fixture(autouse=True)
def _no_configuration(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve(monkeypatch):
    """Starts a server that answers every prompt by a function (status and content, with why it ended)."""
    servers = []

    def start(answer):
        prompts = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompts.append(body["messages"][0]["content"])
                status, content, finish = answer(body)
                message = {"role": "assistant", "content": content}
                reply = {
                    "id": "c",
                    "object": "chat.completion",
                    "created": 0,
                    "model": "stub",
                    "choices": [{"index": 0, "finish_reason": finish, "message": message}],
                }
                data = json.dumps(reply if status == 200 else {"error": {"message": content}}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        servers.append((server, thread))
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{server.server_address[1]}/v1")
        return prompts

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("documents", ["both", "schema", "rows"])
def test_contract(documents):
    check_peer(lambda catalog: Pneuma(catalog, PneumaSettings(documents=documents, n=1)))


def test_keywords_find_a_rare_value_that_the_vectors_miss():
    catalog = Catalog(index_of(RARE), BlindEncoder())
    depot, first = TableId("a", "depot"), TableId("a", "harbour")
    assert Pneuma(catalog).retrieve(ASKED, 1, 0).tables == (depot,)
    assert Pneuma(catalog, PneumaSettings(alpha=0.0)).retrieve(ASKED, 1, 0).tables == (first,)
    assert Pneuma(catalog, PneumaSettings(documents="schema")).retrieve(ASKED, 1, 0).tables == (first,)


def test_a_lake_without_a_keyword_is_ranked_by_vectors():
    pneuma = Pneuma(catalog_of([raw("a", "t", {"x": ["y"]}), raw("a", "u", {"z": ["w"]})]))
    assert pneuma.retrieve(Query("q", "z"), 1, 0).tables == (TableId("a", "u"),)


def test_keywords_are_compared_by_their_stems():
    tables = [make_table("a", "moon", "crater"), make_table("a", "boat", "sailing")]
    pneuma = Pneuma(Catalog(index_of(tables), BlindEncoder()))
    assert pneuma.retrieve(Query("q", "Who sailed?"), 1, 0).tables == (TableId("a", "boat"),)


def test_documents_of_a_table():
    (table, *_) = catalog_of([raw("a", "players", {"PlayerID": [1, 2], "club": ["Ajax", None]})]).leads
    headers = ["PlayerID", "club"]
    assert schema_documents(table, headers) == [
        "player id: the player id of the player || club: the club of the player"
    ]
    (rows,) = row_documents(table, headers)
    assert sorted(part for row in rows.split(" || ") for part in row.split(" | ")) == [
        "club: Ajax",
        "player id: 1",
        "player id: 2",
    ]


def test_blocks_hold_neighbours_within_their_length():
    headers = [f"column number {number}" for number in range(30)]
    (table, *_) = catalog_of([make_table("a", "wide", *headers)]).leads
    blocks = schema_documents(table, headers)
    assert 1 < len(blocks) < 30
    assert all(len(block) <= BLOCK_CHARACTERS for block in blocks)
    assert len(" || ".join(blocks).split(" || ")) == 30


def _reference(keyword, vector, node, alpha, depth):
    """The published rule, document by document: nodes of the retrieved documents, best first."""
    brought = set()
    for scores in (keyword, vector):
        brought |= set(sorted(range(len(node)), key=lambda d: (-scores[d], d))[:depth])

    def scaled(scores, d):
        values = [scores[other] for other in brought]
        spread = max(values) - min(values)
        return 1.0 if spread == 0 else (scores[d] - min(values)) / spread

    mixed = {d: alpha * scaled(keyword, d) + (1 - alpha) * scaled(vector, d) for d in brought}
    return list(dict.fromkeys(int(node[d]) for d in sorted(mixed, key=lambda d: (-mixed[d], d))))


@settings(max_examples=25, deadline=None)
@given(
    question=st.lists(
        st.sampled_from(["singer", "stadium", "name", "concert", "id", "1", "6", "zzyzx"]),
        min_size=1,
        max_size=5,
    ),
    alpha=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    budget=st.integers(1, 4),
    n=st.integers(1, 3),
)
def test_order_is_that_of_the_published_rule(question, alpha, budget, n):
    from graftjax.peers import pneuma as module

    peer = _WARM.setdefault((alpha, n), Pneuma(catalog_of(make_lake()), PneumaSettings(alpha=alpha, n=n)))
    peer.prepare()
    documents = peer._documents
    assert documents is not None
    text = " ".join(question)
    keyword = module._keyword_scores(documents.keywords, text, len(documents.texts)).astype(float)
    vector = (documents.vectors @ peer.catalog.encoder.encode([text])[0]).astype(float)
    expected = _reference(keyword, vector, documents.node, alpha, n * budget)
    nodes = peer.rank(Query("q", text), budget, 0).nodes
    # Equal scores may differ in their last bit, and then in their order.
    if len({round(float(value), 5) for value in vector}) == len(vector):
        assert list(nodes[: len(expected)]) == expected
    assert set(nodes[: len(expected)]) == set(expected)
    assert sorted(nodes) == list(range(len(peer.catalog.leads)))


_WARM: dict = {}


def test_without_an_endpoint_nothing_is_judged():
    pneuma = Pneuma(catalog_of(RARE))
    assert pneuma.judged_by == "none: no endpoint is configured"
    assert pneuma.retrieve(ASKED, 1, 0).notes == ()


def test_what_the_judge_calls_relevant_moves_to_the_front(serve):
    prompts = serve(lambda body: (200, "Yes." if "Ann" in body["messages"][0]["content"] else "no", "stop"))
    catalog = Catalog(index_of(RARE), BlindEncoder())
    pneuma = Pneuma(catalog, PneumaSettings(documents="rows"))
    answer = pneuma.retrieve(ASKED, 3, 0)
    assert [table.name for table in answer.tables] == ["school", "depot", "harbour"]
    assert answer.notes == ()
    assert pneuma.judged_by == "gpt-5-mini"
    assert len(prompts) == 3
    assert all(ASKED.question in prompt for prompt in prompts)
    assert pneuma.retrieve(ASKED, 3, 1) == answer
    assert len(prompts) == 3, "a verdict is asked for once"


def test_the_settings_can_forbid_the_judge(serve):
    prompts = serve(lambda body: (200, "yes", "stop"))
    pneuma = Pneuma(catalog_of(RARE), PneumaSettings(judge="never"))
    pneuma.retrieve(ASKED, 2, 0)
    assert prompts == []
    assert pneuma.judged_by == "none: the settings ask for none"


@pytest.mark.parametrize(
    "reply", [("Well, the", "length"), ("", "length"), ("Perhaps", "stop"), (None, "stop")]
)
def test_a_reply_that_is_no_verdict_costs_a_note(serve, reply):
    serve(lambda body: (200, *reply))
    pneuma, plain = Pneuma(catalog_of(RARE)), Pneuma(catalog_of(RARE), PneumaSettings(judge="never"))
    answer = pneuma.retrieve(ASKED, 3, 0)
    assert answer.tables == plain.retrieve(ASKED, 3, 0).tables
    (note,) = answer.notes
    assert "no verdict" in note


def test_a_verdict_cut_off_after_its_first_word_counts(serve):
    serve(lambda body: (200, "<think>hm</think> **Yes**, because", "length"))
    assert Pneuma(catalog_of(RARE)).retrieve(ASKED, 2, 0).notes == ()


def test_an_endpoint_that_refuses_costs_a_note_and_no_order(serve):
    prompts = serve(lambda body: (401, "wrong key sk-abcdef1234", ""))
    answer = Pneuma(catalog_of(RARE)).retrieve(ASKED, 3, 0)
    plain = Pneuma(catalog_of(RARE), PneumaSettings(judge="never")).retrieve(ASKED, 3, 0)
    assert answer.tables == plain.tables
    (note,) = answer.notes
    assert "the judge could not be asked" in note
    assert "abcdef" not in note
    assert len(prompts) == 1, "the first refusal is enough"


def test_a_server_that_takes_no_temperature_is_asked_without(serve):
    prompts = serve(
        lambda body: (400, "unsupported temperature", "") if "temperature" in body else (200, "no", "stop")
    )
    answer = Pneuma(catalog_of(RARE), PneumaSettings(documents="schema")).retrieve(ASKED, 3, 0)
    assert answer.notes == ()
    assert len(prompts) == 4, "one refusal, then three verdicts"


def test_a_malformed_address_is_a_usage_error(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:8000")
    with pytest.raises(UsageError, match="http"):
        Pneuma(catalog_of(RARE))
