"""What every adapter does at a model step: decide anew, and put calls through the gate."""

from collections.abc import Mapping
from typing import Any, Literal

from packbelt.live.agent import LiveAgent
from packbelt.live.asking import Approval
from packbelt.model import PackbeltError, Refusal, ToolCall, ToolResult
from packbelt.providers import Form
from packbelt.turn import Turn

Approvals = Literal["packbelt", "sdk"]
"""Who asks a person: the fleet's `approve`, or the SDK's own way."""


class AdapterError(PackbeltError):
    """What a host gave an adapter cannot go with a belt; names both sides."""


class Steps:
    """The steps of one agent in one target's form.

    Args:
        agent: an agent at work; the steps are its turns.
        target: the target's name.
        approvals: who asks a person.
        options: the target's own, for `compile`.

    Attributes:
        agent: the agent.
        approvals: who asks a person.
    """

    def __init__(
        self, agent: LiveAgent, target: str, approvals: Approvals = "packbelt", **options: Any
    ) -> None:
        if approvals not in ("packbelt", "sdk"):
            raise AdapterError(
                f"{approvals!r} cannot ask for approvals",
                mend="write 'packbelt' or 'sdk'",
                name=str(approvals),
            )
        self.agent = agent
        self.approvals = approvals
        self._target = target
        self._options = options
        self._turn: Turn | None = None
        self._form: Form | None = None

    async def decide(self) -> Form:
        """The form of the step that begins now; the very same while nothing has changed.

        One tool that cannot be said in the target's form is left out, with a diagnostic.
        """
        turn = await self.agent.turn()
        if self._form is None or turn is not self._turn:
            self._turn, self._form = turn, turn.compile(self._target, strict=False, **self._options)
        return self._form

    async def decided(self) -> Form:
        """The form of the step that is under way."""
        return self._form or await self.decide()

    async def needs_approval(self, name: str, arguments: object) -> bool:
        """Whether a person must approve a call that the gate would admit; False where the fleet asks itself.

        Args:
            name: the target's name of the tool.
            arguments: an object, or the JSON of one.
        """
        if self.approvals == "packbelt":
            return False
        form = await self.decided()
        turn = await self.agent.turn()
        resolved = turn.resolve(form.names.unspell(name), arguments)
        return not isinstance(resolved, Refusal) and resolved.approve

    async def run(self, id_: str, name: str, arguments: object, *, approved: bool = False) -> ToolResult:
        """One call, through the gate as it stands now.

        Args:
            id_: the call's id.
            name: the target's name of the tool.
            arguments: an object, or the JSON of one.
            approved: whether the SDK says that a person has approved this very call; it is asked only where
                the SDK is who asks.
        """
        form = await self.decided()
        call = ToolCall(id_, form.names.unspell(name), arguments, form.speech)
        given = self.asked if approved and self.approvals == "sdk" else None
        (result,) = await self.agent.run([call], approve=given)
        return result

    async def asked(self, approval: Approval) -> bool:
        """Answers for a call that a person has approved already; what it leads to further down he has not."""
        return approval.path == self.agent.path or not await self.agent.asking.refusal(approval)


def refuse_given(given: Mapping[str, Any], reasons: Mapping[str, str], *, where: str) -> None:
    """Refuse options of the host that cannot go with a belt.

    Args:
        given: the host's options.
        reasons: by option, what of packbelt it is against, and the mend, after a `;`.
        where: whose options they are.

    Raises:
        AdapterError: one of them is set.
    """
    for name, reason in reasons.items():
        if given.get(name):
            problem, _, mend = reason.partition("; ")
            raise AdapterError(f"{where}'s `{name}` {problem}", mend=mend, name=name)


__all__ = ["AdapterError", "Approvals", "Steps", "refuse_given"]
