"""The endpoint client against a local HTTP server that plays a script."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from graftjax.errors import GraftError, UsageError
from graftjax.intent import EndpointExtractor, EndpointFailure, EndpointSettings, extract
from graftjax.intent.endpoint import read_reply
from graftjax.intent.prompt import OUTPUT_SCHEMA, SYSTEM_PROMPT, WORKED_EXAMPLES, messages_for
from graftjax.intent.schema import IntentAttribute, IntentJoin, IntentTree, parse_intent

QUESTION = "How many ferries are there?"
GRAPH = {
    "trees": [
        {
            "tree_id": "t1",
            "entity": "Ferry",
            "attributes": [{"attribute_id": "a1", "name": "id", "values": []}],
        }
    ],
    "joins": [],
}
GOOD = json.dumps(GRAPH)
UNKNOWN_IDS = json.dumps(
    {
        **GRAPH,
        "joins": [{"from_tree": "t1", "from_attribute": "a1", "to_tree": "t7", "to_attribute": "a9"}],
    }
)


def chat(content, finish="stop"):
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}
        ],
    }
    return 200, body


def failure(status, message):
    return status, {"error": {"message": message, "type": "stub", "code": None}}


class Stub:
    """Answers the n-th request with the n-th step of the script, the last step for ever after."""

    def __init__(self, *script):
        self.script = list(script)
        self.requests = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stub.requests.append(body)
                step = stub.script[min(len(stub.requests), len(stub.script)) - 1]
                status, answer = step(body) if callable(step) else step  # pyright: ignore
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                if status == 429:
                    self.send_header("Retry-After", "0.01")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format, *args):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                """A client that gave up waiting is part of the script."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(autouse=True)
def _no_configuration(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve():
    stubs = []

    def start(*script, **options):
        stub = Stub(*script)
        stubs.append(stub)
        settings = {"model": "stub", "base_url": stub.url, "api_key": "secret", "max_retries": 1, **options}
        return stub, EndpointExtractor(EndpointSettings(**settings))

    yield start
    for stub in stubs:
        stub.close()


def test_a_good_reply_is_asked_for_strictly(serve):
    stub, extractor = serve(chat(GOOD))
    found = extract(QUESTION, endpoint=extractor)
    assert (found.source, found.notes) == ("endpoint", ())
    assert found.intent == parse_intent(GRAPH)
    (request,) = stub.requests
    assert request["temperature"] == 0
    assert request["response_format"]["json_schema"]["strict"] is True
    assert QUESTION in request["messages"][-1]["content"]


@pytest.mark.parametrize(
    "content",
    [
        f"```json\n{GOOD}\n```",
        f"Here is the graph {{as asked}}:\n\n{GOOD}\n\nIt has one tree.",
        f'<think>maybe {{"trees": []}}</think>{GOOD}',
        f'A draft: {{"trees": []}}. The answer: {GOOD}',
    ],
)
def test_wrapping_around_the_json_is_ignored(serve, content):
    stub, extractor = serve(chat(content))
    found = extract(QUESTION, endpoint=extractor)
    assert found.intent == parse_intent(GRAPH)
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (chat(GOOD[:40], "length"), "it is cut off"),
        (chat(UNKNOWN_IDS), "join 1 names the unknown tree 't7' (known: t1)"),
        (chat("I cannot do that."), "no JSON object with 'trees'"),
        (chat(None), "it is empty"),
        ((200, {"choices": []}), "it is no chat completion"),
        (chat('{"trees": [' + "[" * 5000), "no JSON object"),
    ],
)
def test_an_unusable_reply_is_asked_once_more_then_replaced(serve, bad, reason):
    stub, extractor = serve(bad, chat(GOOD))
    found = extract(QUESTION, endpoint=extractor)
    assert found.source == "endpoint"
    assert found.intent == parse_intent(GRAPH)
    assert "asked twice" in found.notes[0]
    assert reason in found.notes[0]
    assert len(stub.requests) == 2
    assert reason in stub.requests[1]["messages"][-1]["content"]

    stub, extractor = serve(bad)
    found = extract(QUESTION, endpoint=extractor)
    assert found.source == "lexical"
    assert [tree.entity for tree in found.intent.trees] == ["Ferry"]
    assert "two unusable replies" in found.notes[0]
    assert reason in found.notes[0]
    assert found.notes[0].endswith("the lexical extractor stands in")
    assert len(stub.requests) == 2


def test_a_rate_limit_is_waited_out(serve):
    stub, extractor = serve(failure(429, "slow down"), chat(GOOD))
    assert extract(QUESTION, endpoint=extractor).source == "endpoint"
    assert len(stub.requests) == 2


def test_a_server_that_fails_for_ever_is_given_up(serve):
    stub, extractor = serve(failure(500, "sk-abcdef012345 out of order"))
    found = extract(QUESTION, endpoint=extractor)
    assert found.source == "lexical"
    assert "out of order" in found.notes[0]
    assert "abcdef" not in found.notes[0]
    assert len(stub.requests) == 2


def test_a_time_out_is_given_up(serve):
    def sleep(_):
        time.sleep(0.6)
        return chat(GOOD)

    _, extractor = serve(sleep, timeout_s=0.15, max_retries=0)
    found = extract(QUESTION, endpoint=extractor)
    assert found.source == "lexical"
    assert "did not answer within 0.15 s (1 tries)" in found.notes[0]


def test_nobody_listens():
    settings = EndpointSettings(base_url="http://127.0.0.1:9/v1", api_key="secret", max_retries=0)
    found = extract(QUESTION, endpoint=EndpointExtractor(settings))
    assert found.source == "lexical"
    assert "the endpoint failed" in found.notes[0]


def test_a_body_that_is_not_json_is_given_up(serve):
    _, extractor = serve((200, b"<html>login</html>"))
    found = extract(QUESTION, endpoint=extractor)
    assert found.source == "lexical"


def test_options_are_dropped_step_by_step_and_that_is_remembered(serve):
    def picky(body):
        if "temperature" in body:
            return failure(400, "Unsupported value: 'temperature' does not support 0")
        if "response_format" in body:
            return failure(400, f"response_format {body['response_format']['type']} is not available")
        return chat(GOOD)

    stub, extractor = serve(picky)
    assert extract(QUESTION, endpoint=extractor).source == "endpoint"
    kinds = [request.get("response_format", {}).get("type") for request in stub.requests]
    assert kinds == ["json_schema", "json_schema", "json_object", None]
    assert ["temperature" in request for request in stub.requests] == [True, False, False, False]
    assert extract("And how many boats?", endpoint=extractor).source == "endpoint"
    assert len(stub.requests) == 5


def test_a_request_refused_in_every_form_is_given_up_and_not_remembered(serve):
    stub, extractor = serve(*[failure(400, "context too long")] * 4, chat(GOOD))
    with pytest.raises(EndpointFailure, match=r"refused the request: .*context too long"):
        extractor.extract(QUESTION)
    assert len(stub.requests) == 4
    extractor.extract(QUESTION)
    assert stub.requests[-1]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_model_is_an_error_not_a_fallback(serve, status):
    _, extractor = serve(failure(status, "no"))
    with pytest.raises(GraftError, match="check the model name") as caught:
        extract(QUESTION, endpoint=extractor)
    assert not isinstance(caught.value, EndpointFailure)
    assert "secret" not in str(caught.value)


def test_no_configuration_is_a_usage_error(monkeypatch):
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        EndpointExtractor()
    with pytest.raises(UsageError, match="http"):
        EndpointExtractor(EndpointSettings(base_url="localhost:80"))
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    EndpointExtractor()
    assert "secret" not in repr(EndpointSettings(api_key="secret"))


def test_the_cache_saves_a_request_per_model_and_survives_damage(serve, tmp_path):
    stub, extractor = serve(chat(GOOD), cache_dir=tmp_path)
    first, second = extractor.extract(QUESTION), extractor.extract(QUESTION)
    assert (first.cached, second.cached) == (False, True)
    assert first.intent == second.intent
    assert len(stub.requests) == 1
    (file,) = tmp_path.rglob("*.json")
    assert "secret" not in file.read_text("utf-8")
    assert not list(tmp_path.rglob("*.tmp"))
    file.write_text('{"intent": {"trees"', "utf-8")
    assert not extractor.extract(QUESTION).cached
    assert extractor.extract(QUESTION).cached
    _, other = serve(chat(GOOD), cache_dir=tmp_path, model="another")
    assert not other.extract(QUESTION).cached


def test_an_unusable_cache_folder_is_a_note(serve, tmp_path):
    (tmp_path / "file").write_text("", "utf-8")
    _, extractor = serve(chat(GOOD), cache_dir=tmp_path / "file" / "cache")
    found = extract(QUESTION, endpoint=extractor)
    assert found.source == "endpoint"
    assert "could not be cached" in found.notes[0]


def test_failures_are_not_cached(serve, tmp_path):
    _, extractor = serve(chat("no"), cache_dir=tmp_path)
    assert extract(QUESTION, endpoint=extractor).source == "lexical"
    assert not list(tmp_path.rglob("*.json"))


def test_a_graph_without_trees_is_replaced(serve):
    _, extractor = serve(chat('{"trees": [], "joins": []}'))
    found = extract(QUESTION, endpoint=extractor)
    assert found.source == "lexical"
    assert "found no intent" in found.notes[0]


def test_truncated_json_is_no_graph():
    with pytest.raises(GraftError, match="no JSON object"):
        read_reply(GOOD[:-1])


def test_the_prompt_has_four_blocks_and_valid_examples():
    blocks = ["TASK", "OUTPUT SCHEMA", "CONSTRAINTS", "WORKED EXAMPLES"]
    positions = [SYSTEM_PROMPT.index(f"{block}") for block in blocks]
    assert positions == sorted(positions)
    graphs = [parse_intent(reply) for _, reply in WORKED_EXAMPLES]
    assert [(len(graph.trees), len(graph.joins)) for graph in graphs] == [(1, 0), (2, 1), (3, 2)]
    assert any(a.values for a in graphs[0].trees[0].attributes)
    bridge = graphs[2].trees[1].entity.lower()
    assert bridge not in WORKED_EXAMPLES[2][0].lower()
    assert messages_for("x {y}")[-1]["content"].startswith("Question: x {y}")


def test_the_output_schema_has_the_fields_of_the_records():
    tree = OUTPUT_SCHEMA["properties"]["trees"]["items"]
    attribute = tree["properties"]["attributes"]["items"]
    join = OUTPUT_SCHEMA["properties"]["joins"]["items"]
    for schema, record in ((tree, IntentTree), (attribute, IntentAttribute), (join, IntentJoin)):
        assert set(schema["properties"]) == set(record.model_fields) == set(schema["required"])
