"""Pneuma's judge: a language model says of each table's document whether it helps with a question."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from graftjax.errors import GraftError, UsageError
from graftjax.intent import EndpointSettings

WORKERS = 8
"""Documents judged at a time."""
PROMPT = """\
Somebody searches a data lake for tables and asks:
{question}

This is an extract from one table of the lake:
{document}

Would this table be needed, alone or joined with others, to work out the answer? \
Reply with one word, yes or no."""


class Unusable(GraftError):
    """A reply that is neither yes nor no; the text says why."""


class Judge:
    """Asks one model behind an OpenAI-compatible endpoint. A verdict is asked for once in a process.

    Raises:
      UsageError: the address is malformed.
    """

    def __init__(self, settings: EndpointSettings) -> None:
        # Imported here: the client costs more time than all else in this package.
        import openai

        address = settings.base_url or os.environ.get("OPENAI_BASE_URL") or None
        if address is not None and not re.match(r"https?://[^/\s]+", address):
            raise UsageError(f"the endpoint's address must start with http:// or https://, not '{address}'")
        self.model = settings.model
        self._openai = openai
        self._client = openai.OpenAI(
            # Local servers ask for no key, yet the client insists on one.
            api_key=settings.api_key or os.environ.get("OPENAI_API_KEY") or "none",
            base_url=address,
            timeout=settings.timeout_s,
            max_retries=settings.max_retries,
        )
        self._temperature = True
        self._known: dict[tuple[str, str], bool] = {}

    @classmethod
    def configured(cls) -> Judge | None:
        """The judge that the environment names; None when neither key nor address is set."""
        if os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"):
            return cls(EndpointSettings(timeout_s=30.0, max_retries=2))
        return None

    def relevant(self, question: str, documents: Sequence[str]) -> tuple[list[bool], tuple[str, ...]]:
        """The verdict on each document, and notes on what went wrong.

        A reply that is no verdict counts as no, as in the published code. When the endpoint itself fails
        nothing is judged, so that half a verdict does not reorder the answer.
        """
        new = [text for text in dict.fromkeys(documents) if (question, text) not in self._known]
        faults: list[str] = []
        if new:
            pool = ThreadPoolExecutor(WORKERS)
            try:
                # The first goes alone: what the server refuses is found out once.
                answers = [self._ask(question, new[0])]
                answers += pool.map(lambda text: self._ask(question, text), new[1:])
            except GraftError as fault:
                return [False] * len(documents), (
                    f"the judge could not be asked, so nothing is judged: {fault}",
                )
            for text, answer in zip(new, answers, strict=True):
                if isinstance(answer, Unusable):
                    faults.append(str(answer))
                else:
                    self._known[question, text] = answer
        verdicts = [self._known.get((question, text), False) for text in documents]
        if not faults:
            return verdicts, ()
        return verdicts, (f"{len(faults)} of the judge's {len(new)} replies are no verdict ({faults[0]})",)

    def _ask(self, question: str, document: str) -> bool | Unusable:
        """One verdict.

        Raises:
          GraftError: the endpoint failed or refused.
        """
        try:
            completion = self._create(PROMPT.format(question=question, document=document))
        except (self._openai.OpenAIError, ValueError) as error:
            text = " ".join(str(getattr(error, "message", "") or error).split())[:200]
            raise GraftError(re.sub(r"\bsk-[\w*.-]{4,}", "sk-...", text) or type(error).__name__) from error
        try:
            choice = completion.choices[0]
            reply, finish = choice.message.content or "", choice.finish_reason
        except (AttributeError, IndexError, TypeError):
            return Unusable("it is no chat completion")
        verdict = re.match(r"\W*(yes|no)\b", re.sub(r"<think>.*?</think>", " ", reply, flags=re.S), re.I)
        if verdict:
            return verdict[1].lower() == "yes"
        return Unusable("it is cut off" if finish == "length" else "it starts with neither yes nor no")

    def _create(self, prompt: str) -> Any:
        """A completion at temperature 0, or at the server's own where it refuses that."""
        create: Any = self._client.chat.completions.create
        messages = [{"role": "user", "content": prompt}]
        if self._temperature:
            try:
                return create(model=self.model, messages=messages, temperature=0)
            except (self._openai.BadRequestError, self._openai.UnprocessableEntityError):
                self._temperature = False
        return create(model=self.model, messages=messages)
