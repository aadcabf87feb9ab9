"""The loop that README.md and docs/live.md show runs as it stands, with the provider's own types."""

import shutil

import anyio
import pytest
from pages import README, ROOT, fences

import packbelt

PAGES = (README, ROOT / "docs" / "live.md")


def loops():
    return [
        (page.name, text)
        for page in PAGES
        for language, _, text in fences(page)
        if language == "python" and "async def run_agent" in text
    ]


def test_both_pages_show_the_loop():
    assert [name for name, _ in loops()] == ["README.md", "live.md"]


class Client:
    """The provider: the orchestrator hands the request over, the specialist answers."""

    def __init__(self):
        self.messages = self
        self.requests = []

    async def create(self, **request):
        from anthropic.types import Message

        self.requests.append(request)
        names = [tool["name"] for tool in request["tools"]]
        last = request["messages"][-1]["content"]
        if "use_mcp_server" in names and isinstance(last, str):
            block = {"type": "tool_use", "id": "t1", "name": "use_mcp_server", "input": {"request": "a UUID"}}
        else:
            said = "7f" if isinstance(last, str) else last[0]["content"].rpartition('"output":"')[2][:2]
            block = {"type": "text", "text": said}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return Message.model_validate(
            {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "content": [block],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": usage,
            }
        )


@pytest.mark.parametrize("code", [text for _, text in loops()], ids=[name for name, _ in loops()])
def test_the_loop_runs_and_its_run_is_kept(code, tmp_path, monkeypatch):
    pytest.importorskip("anthropic")
    for name in ("packs", "prompts"):
        shutil.copytree(ROOT / name, tmp_path / "my-agents" / name)
    shutil.copy(ROOT / "packbelt.yaml", tmp_path / "my-agents")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    client, said = Client(), []
    names = {"client": client, "MODEL": "m", "ask": lambda _: True, "print": said.append}
    exec(code, names)  # the pages' own lines
    returned = anyio.run(names["main"])
    assert returned == "7f" or said == ["7f"]
    agents = [request["messages"][0]["content"] for request in client.requests]
    assert agents == ["Generate a UUID", "a UUID", "Generate a UUID"]

    async def kept():
        workspace = packbelt.load("my-agents")
        async with packbelt.open(workspace) as fleet:
            return [(run.agent, run.status) for run in await fleet.runs.find(str(workspace.root))]

    assert set(anyio.run(kept)) == {("orchestrator", "completed"), ("mcp_agent", "completed")}
