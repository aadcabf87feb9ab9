"""How a live model samples. It is a part of the model's name: two samplings are two models."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl

from packbelt.model import PackbeltError


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model samples; what is None is left to its endpoint.

    Attributes:
        temperature: of the distribution.
        max_tokens: of one reply.
    """

    temperature: float | None = None
    max_tokens: int | None = None

    @classmethod
    def read(cls, text: str) -> "Sampling":
        """A sampling as it stands in a name, after its question mark.

        Raises:
            PackbeltError: it is none.
        """
        given: dict[str, str] = {}
        try:
            given = dict(parse_qsl(text, keep_blank_values=True, strict_parsing=True)) if text else {}
            temperature, most = given.pop("temperature", None), given.pop("max_tokens", None)
            made = cls(
                None if temperature is None else float(temperature), None if most is None else int(most)
            )
        except ValueError:
            raise _unread(text) from None
        if given or not made.sensible:
            raise _unread(text)
        return made

    @property
    def sensible(self) -> bool:
        """Whether an endpoint could take it; every one has its own upper bounds."""
        hot = self.temperature is None or 0 <= self.temperature < float("inf")
        return hot and (self.max_tokens is None or self.max_tokens > 0)

    def given(self) -> dict[str, int | float]:
        """What is set, by name."""
        return dict(self._given())

    def of(self, name: str) -> str:
        """A model's name with this sampling; what this one leaves open, the name's own says."""
        plain, _, own = name.partition("?")
        known = Sampling.read(own)
        made = Sampling(
            known.temperature if self.temperature is None else self.temperature,
            self.max_tokens or known.max_tokens,
        )
        said = "&".join(f"{key}={value:.10g}" for key, value in made.given().items())
        return f"{plain}?{said}" if said else plain

    def _given(self) -> Iterator[tuple[str, int | float]]:
        if self.temperature is not None:
            yield "temperature", self.temperature
        if self.max_tokens is not None:
            yield "max_tokens", self.max_tokens


def _unread(text: str) -> PackbeltError:
    return PackbeltError(
        f"{text!r} is no sampling", mend="write ?temperature=0&max_tokens=512, or either of the two"
    )
