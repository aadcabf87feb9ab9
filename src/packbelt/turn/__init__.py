"""One turn of one agent: belt, sections, prompt and cost from one snapshot."""

from packbelt.turn.handle import AgentHandle
from packbelt.turn.turn import NOTHING, Turn, turn

__all__ = ["NOTHING", "AgentHandle", "Turn", "turn"]
