"""Intent graphs from a language model behind any OpenAI-compatible endpoint (Sec. 3.1, Appendix A)."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graftjax.errors import GraftError, UsageError
from graftjax.intent.prompt import OUTPUT_SCHEMA, PROMPT_VERSION, messages_for
from graftjax.intent.schema import IntentGraph, parse_intent

DEFAULT_MODEL = "gpt-5-mini"
"""The paper's default extractor (Sec. 5.1)."""

_FORMATS: tuple[dict[str, Any] | None, ...] = (
    {
        "type": "json_schema",
        "json_schema": {"name": "intent_graph", "strict": True, "schema": OUTPUT_SCHEMA},
    },
    {"type": "json_object"},
    None,
)
"""Response formats from the strictest to none; a server that refuses one is asked for the next."""


class EndpointFailure(GraftError):
    """The endpoint gave no usable intent graph for one question; another source may stand in."""


class _BadReply(Exception):
    """A reply that holds no valid intent graph; the text says why."""


@dataclass(frozen=True)
class EndpointSettings:
    """How to reach a model. Key and address default to OPENAI_API_KEY and OPENAI_BASE_URL."""

    model: str = DEFAULT_MODEL
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 60.0
    """For one request, in seconds."""
    max_retries: int = 4
    """Further tries after 429, 5xx, a time-out or a lost connection, with exponential back-off."""
    cache_dir: Path | None = None
    """Folder for replies; None keeps none."""


@dataclass(frozen=True)
class EndpointReply:
    """An intent graph from the endpoint or from the cache, with what a user should know about it."""

    intent: IntentGraph
    cached: bool
    notes: tuple[str, ...] = ()


def default_cache_dir() -> Path:
    """Where the command line keeps replies: under $XDG_CACHE_HOME, else under ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "graftjax" / "intent"


def read_reply(text: str) -> IntentGraph:
    """The intent graph in a model's reply, which may wrap it in prose, fences or a reasoning section.

    The last top-level JSON object with a `trees` key counts: drafts come before the answer.

    Raises:
      GraftError: there is none, or it is not a valid intent graph.
    """
    text = re.sub(r"<think>.*?</think>", " ", text, flags=re.DOTALL)
    decoder = json.JSONDecoder()
    found: dict[str, Any] | None = None
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if isinstance(value, dict) and any(key.strip().lower() == "trees" for key in value):
                found = value
        position = text.find("{", end)
    if found is None:
        raise GraftError("reply: no JSON object with 'trees' in it")
    return parse_intent(found, "reply")


class ReplyCache:
    """One small JSON file for each (model, prompt version, question); writes are atomic."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, model: str, question: str) -> Path:
        key = json.dumps([model, PROMPT_VERSION, question])
        digest = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / digest[:2] / f"{digest}.json"

    def get(self, model: str, question: str) -> IntentGraph | None:
        """The stored graph; None when there is none or its file is damaged."""
        try:
            stored = json.loads(self._path(model, question).read_text(encoding="utf-8"))
            return parse_intent(stored["intent"])
        except (OSError, ValueError, KeyError, TypeError, GraftError):
            return None

    def put(self, model: str, question: str, intent: IntentGraph) -> str | None:
        """Store; returns the reason when that is not possible."""
        path = self._path(model, question)
        record = {
            "model": model,
            "prompt": PROMPT_VERSION,
            "question": question,
            "intent": intent.model_dump(mode="json"),
        }
        scratch = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=path.parent, suffix=".tmp", delete=False
            ) as file:
                scratch = file.name
                json.dump(record, file)
            os.replace(scratch, path)
        except OSError as error:
            if scratch is not None:
                Path(scratch).unlink(missing_ok=True)
            return f"the reply could not be cached in {self._folder} ({error.strerror or error})"
        return None


def _brief(error: Exception) -> str:
    """A one-line, bounded form of an error of the client, without the key that some servers echo."""
    text = " ".join(str(getattr(error, "message", "") or error).split())
    text = re.sub(r"\bsk-[\w*.-]{4,}", "sk-...", text)
    return text[:200] + ("..." if len(text) > 200 else "") or type(error).__name__


class EndpointExtractor:
    """Asks one model for intent graphs.

    Temperature is 0 and the reply format a strict JSON schema, as far as the server takes them: both are
    dropped step by step when it refuses, and what it accepted is remembered for the next question.

    Raises:
      UsageError: neither a key nor an address is configured, or the address is malformed.
    """

    def __init__(self, settings: EndpointSettings | None = None) -> None:
        # Imported here: the client costs more time than all else in this package.
        import openai

        self.settings = settings = settings or EndpointSettings()
        base_url = settings.base_url or os.environ.get("OPENAI_BASE_URL") or None
        api_key = settings.api_key or os.environ.get("OPENAI_API_KEY") or None
        if api_key is None and base_url is None:
            raise UsageError(
                "no model endpoint is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server"
            )
        if base_url is not None and not re.match(r"https?://[^/\s]+", base_url):
            raise UsageError(f"the endpoint's address must start with http:// or https://, not '{base_url}'")
        self._openai = openai
        self._client = openai.OpenAI(
            # Local servers ask for no key, yet the client insists on one.
            api_key=api_key or "none",
            base_url=base_url,
            timeout=settings.timeout_s,
            max_retries=settings.max_retries,
        )
        self._cache = ReplyCache(settings.cache_dir) if settings.cache_dir else None
        self._format = 0
        self._temperature = True

    def _create(self, messages: list[dict[str, str]], form: int, temperature: bool) -> Any:
        options: dict[str, Any] = {}
        if _FORMATS[form] is not None:
            options["response_format"] = _FORMATS[form]
        if temperature:
            options["temperature"] = 0
        create: Any = self._client.chat.completions.create
        return create(model=self.settings.model, messages=messages, **options)

    def _request(self, messages: list[dict[str, str]]) -> Any:
        """One completion, stepping down where the server refuses an option with 400 or 422."""
        form, temperature = self._format, self._temperature
        while True:
            try:
                completion = self._create(messages, form, temperature)
            except (self._openai.BadRequestError, self._openai.UnprocessableEntityError) as error:
                about_temperature = "temperature" in str(error).lower()
                if temperature and (about_temperature or form == len(_FORMATS) - 1):
                    temperature = False
                elif form < len(_FORMATS) - 1:
                    form += 1
                else:
                    raise EndpointFailure(f"the endpoint refused the request: {_brief(error)}") from error
                continue
            except (
                self._openai.AuthenticationError,
                self._openai.PermissionDeniedError,
                self._openai.NotFoundError,
            ) as error:
                # Wrong for every question, so no other source may silently stand in.
                raise GraftError(
                    f"the endpoint refused model '{self.settings.model}' ({error.status_code}): "
                    f"{_brief(error)}; "
                    "check the model name, OPENAI_API_KEY and OPENAI_BASE_URL"
                ) from error
            except self._openai.APITimeoutError as error:
                raise EndpointFailure(
                    f"the endpoint did not answer within {self.settings.timeout_s:g} s "
                    f"({self.settings.max_retries + 1} tries)"
                ) from error
            except self._openai.OpenAIError as error:
                raise EndpointFailure(
                    f"the endpoint failed: {_brief(error)} (after {self.settings.max_retries} retries)"
                ) from error
            except ValueError as error:
                # A body that claims to be JSON and is not.
                raise EndpointFailure("the endpoint's answer is not JSON") from error
            self._format, self._temperature = form, temperature
            return completion

    @staticmethod
    def _content(completion: Any) -> str:
        """Text of a completion.

        Raises:
          _BadReply: there is none, or it is cut off.
        """
        try:
            choice = completion.choices[0]
            content, finish = choice.message.content, choice.finish_reason
        except (AttributeError, IndexError, TypeError) as error:
            raise _BadReply("it is no chat completion") from error
        if finish == "length":
            raise _BadReply("it is cut off")
        if not isinstance(content, str) or not content.strip():
            raise _BadReply("it is empty")
        return content

    def extract(self, question: str) -> EndpointReply:
        """The intent graph of a question, from the cache when it holds one.

        Raises:
          EndpointFailure: no usable reply after the retries and one repeated question.
          GraftError: the endpoint refuses the model or the key.
        """
        model = self.settings.model
        if self._cache is not None and (stored := self._cache.get(model, question)) is not None:
            return EndpointReply(stored, cached=True)
        messages = messages_for(question)
        reasons: list[str] = []
        for _ in range(2):
            content = None
            try:
                content = self._content(self._request(messages))
                intent = read_reply(content)
            except _BadReply as fault:
                reasons.append(str(fault))
            except EndpointFailure:
                raise
            except GraftError as fault:
                if content is None:
                    raise
                reasons.append(str(fault).removeprefix("reply: "))
            else:
                failed = self._cache.put(model, question, intent) if self._cache is not None else None
                asked = [f"the model was asked twice: {reasons[0]}"] if reasons else []
                return EndpointReply(intent, cached=False, notes=(*asked, *([failed] if failed else [])))
            reminder = (
                f"Your last reply could not be used: {reasons[-1]}. Reply with one complete JSON object only."
            )
            messages = messages_for(question)
            if content is not None:
                messages += [{"role": "assistant", "content": content}, {"role": "user", "content": reminder}]
            else:
                # Some servers refuse two user turns in a row.
                messages[-1]["content"] += f"\n\n{reminder}"
        raise EndpointFailure(f"two unusable replies from '{model}' ({reasons[0]}; then: {reasons[1]})")
