"""What the specialists do, step by step: a script each, which calls what its belt shows and nothing else.

A script is a generator: it yields a tool's name and arguments, is sent what the tool answered, and returns what
it says in the end. It follows its agent's own prompt, and learns what to do from the request alone.
"""

import json
import re
from pathlib import Path

from packbelt.evals.models import call, say
from packbelt.evals.models.sight import Sight

ARGUMENTS = {
    "generate": {},
    "forecast": {"city": "Lisbon"},
    "get_current_time": {"timezone": "Asia/Tokyo"},
}


def skill_setup(request):
    skill, source = skill_of(request), re.search(r" from (\w+)", request)
    limit = {"source": source[1]} if source else {}
    found = yield "skill_registry_search", {"query": skill, **limit}
    chosen = found["skills"][0]
    done = yield "skill_registry_install", {"id": chosen["id"], "source": chosen["source"]}
    text = yield "read_workflow_resource", {"name": done["name"]}
    needs = yield "skill_runtime_resolve_runtimes", {"name": done["name"]}
    return f"Installed {done['name']} in {done['folder']}; {len(str(text))} characters; needs {needs}."


def skill_executor(request):
    skill = skill_of(request)
    text = yield "read_workflow_resource", {"name": skill}
    command = re.search(r"Run `(.+?)`", text)[1]
    yield "skill_runtime_resolve_runtimes", {"name": skill}
    ran = yield "shell", {"command": command, "cwd": f"skills/{skill}"}
    return f"{skill} ended with {ran['exit_code']} and said: {ran['stdout']}"


def mcp_agent(request):
    server = server_of(request)
    state = yield "mcp_registry_status", {"server": server}
    if state["servers"][0]["state"] != "connected":
        yield "mcp_registry_connect", {"server": server}
    listed = yield "mcp_registry_list_tools", {"server": server}
    tool = next(one["name"] for one in listed["tools"] if one["name"] in ARGUMENTS)
    given = ARGUMENTS[tool]
    if server == "time":  # the other way of the two
        said = yield "mcp_registry_tool_call", {"server": server, "tool": tool, "arguments": given}
    else:
        said = yield f"mcp__{server}__{tool}", given
    return f"{server}/{tool} says: {said if isinstance(said, str) else json.dumps(said)}"


def mcp_setup(request):
    server = server_of(request)
    yield "mcp_registry_installed_list", {}
    found = yield "mcp_registry_search", {"query": server}
    name = found["servers"][0]["name"]
    needs = yield "mcp_registry_config_assist", {"name": name}
    env = {one["name"]: f"${{{one['name']}}}" for one in needs["variables"] if one["secret"]}
    done = yield "mcp_registry_install", {"name": name, "server": server, "env": env}
    state = yield "mcp_registry_connect", {"server": done["server"]}
    yield "mcp_registry_list_tools", {"server": done["server"]}
    return f"{done['server']} {done['version']} is {state['state']}."


SCRIPTS = {
    "skill_setup": skill_setup,
    "skill_executor": skill_executor,
    "mcp_agent": mcp_agent,
    "mcp_setup": mcp_setup,
}


def skill_of(request):
    return re.search(r"(?:the|a) ([a-z -]+?) skill", request)[1].replace(" ", "-")


def server_of(request):
    return re.search(r"the (?:connected )?(\w+) MCP server", request)[1].lower()


class Following:
    """A model that follows a script; what it does not see advertised it cannot call."""

    def __init__(self, script, request):
        self.steps = script(request)
        self.number = 0

    async def reply(self, request):
        sight = Sight(request)
        try:
            name, arguments = self.steps.send(_read(sight.last_answer) if self.number else None)
        except StopIteration as end:
            return say(end.value)
        except (AttributeError, IndexError, KeyError, TypeError, StopAsyncIteration) as error:
            return say(f"I cannot go on ({error!r}) from: {sight.last_answer}")
        if name not in sight.advertised:
            return say(f"I was not shown {name}.")
        self.number += 1
        return call(self.number, name, arguments)


def _read(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def skill_files():
    """Skills of two repositories, by path. `gstack` has many, and one of them is called as another is about."""
    script = (Path(__file__).parent / "workflow_script.py").read_text()
    community = {
        "dynamic-workflow/SKILL.md": _skill(
            "dynamic-workflow", "Plans a workflow at run time and writes it down.", "python3 scripts/run.py"
        ),
        "dynamic-workflow/scripts/run.py": script,
        "static-workflow/SKILL.md": _skill("static-workflow", "Runs one fixed workflow.", "true"),
        "code-review/SKILL.md": _skill("code-review", "Reviews a change, line by line.", "true"),
        "code-style/SKILL.md": _skill("code-style", "Keeps to a style of code.", "true"),
    }
    names = [f"{what}-{how}" for what in ("ship", "plan", "test", "design", "retro") for how in "abcdef"]
    gstack = {f"skills/{name}/SKILL.md": _skill(name, f"Does {name}.", "true") for name in names}
    gstack |= {
        "skills/benchmark/SKILL.md": _skill("benchmark", "Measures how fast a page loads.", "true"),
        "skills/benchmark/reference/metrics.md": "# Metrics\n",
        "skills/canary/SKILL.md": _skill("canary", "Watches a release beside a benchmark.", "true"),
    }
    return {"community": community, "gstack": gstack}


def _skill(name, description, command):
    return f"---\nname: {name}\ndescription: {description}\n---\n# {name}\n\nRun `{command}`.\n"
