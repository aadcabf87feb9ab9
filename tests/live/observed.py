"""An agent at work as the observer sees it, without a server or a process."""

from types import SimpleNamespace

from packbelt.belt import Scope
from packbelt.model import Answer, Outcome, Refusal, ToolCall, ToolResult
from packbelt.testing import agent, make_snapshot, make_workspace, native, pack, policy, server_tool
from packbelt.turn import AgentHandle

WORKSPACE = make_workspace(
    tools=[native("clock"), native("shell")],
    packs=[pack("core", ["clock", "shell"], exposure="direct")],
    servers=["weather"],
    agents=[
        agent("orchestrator", tools=["*"], delegates="*", disallowed_tools=["shell"]),
        agent("forecaster", handoff="ask_forecaster", tools=["*/*"]),
    ],
    policies={"*": policy(exposure="packed")},
)
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CONNECTED = make_snapshot({"weather": [server_tool("forecast", "A forecast.", CITY)]})


class Agent:
    """What a `LiveAgent` is to the observer."""

    def __init__(self, *names, parent=None, run="run-1", snapshot=CONNECTED, workspace=WORKSPACE):
        scope = Scope(names[0])
        for name in names[1:]:
            scope = scope.spawn(name)
        self.path, self.run_id, self.parent, self.snapshot = scope.path, run, parent, snapshot
        self._handle = AgentHandle(workspace, scope)

    def handle(self):
        self._handle.turn(self.snapshot)
        return self._handle

    @property
    def turn(self):
        return self.handle().turn(self.snapshot)

    def name_of(self, identity):
        return self.turn.belt.find(identity).tool.wire_name


def relay(
    observer, acting, name, arguments=None, *, answer="done", outcome=Outcome.OK, asked=None, inside=None
):
    """A call as the relay tells of it."""
    call = ToolCall("call_7", name, arguments)
    with observer.call(acting, call) as seen:
        resolved = acting.handle().resolve(name, arguments)
        if isinstance(resolved, Refusal):
            text = Answer.of_text(resolved.hint.text, Outcome.REJECTED)
            return seen.ended(ToolResult(call, text, hint=resolved.hint))
        if asked is not None:
            seen.asked(asked)
            if asked:
                return seen.ended(ToolResult(call, Answer.of_text(asked, Outcome.REJECTED), resolved.tool.id))
        seen.admitted(resolved)
        seen.dispatched()
        if inside:
            inside()
        return seen.ended(ToolResult(call, Answer.of_text(answer, outcome), resolved.tool.id))


def state(name, status, tools=(), error=""):
    return SimpleNamespace(name=name, status=status, tools=tools, error=error)
