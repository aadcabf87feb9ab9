"""A second, slow implementation of section 2 of the design: one tool at a time, no masks, no tables.

Written from the text of the design. It shares nothing with `packbelt.belt` but the data classes; where the
two disagree, one of them is wrong, and the design says which.
"""

from fnmatch import fnmatchcase

from packbelt.catalog.tokens import count
from packbelt.model import Access, Exposure, Permission, ServerStatus, State


class Reference:
    def __init__(self, workspace, snapshot):
        self.workspace = workspace
        self.snapshot = snapshot
        self.known_servers = {*workspace.servers, *workspace.inline, *snapshot.servers}
        self.tools = {tool.id: tool for tool in workspace.tools}
        for state in snapshot.servers.values():
            self.tools.update({tool.id: tool for tool in state.tools})
        wires = [tool.wire_name for tool in self.tools.values()]
        self.clashing = {name for name in wires if wires.count(name) > 1}

    # selectors ------------------------------------------------------------------------------------------

    def meant(self, server, agent, *, narrow):
        """The servers that a name stands for: itself, and inline ones of that short name."""
        found = {server} & self.known_servers
        inline = self.workspace.inline
        mine = agent.inline if narrow and agent else inline if not narrow else ()
        return found | {name for name in mine if inline[name].short_name == server}

    def readings(self, text, agent, *, narrow):
        pieces = text.split("/")
        for cut in range(1, len(pieces)):
            server, part = "/".join(pieces[:cut]), "/".join(pieces[cut:])
            for meant in self.meant(server, agent, narrow=narrow):
                yield meant, part

    def in_pack(self, tool, pack):
        return self.pack_of(tool) == pack

    def pack_of(self, tool):
        if tool.id.server is not None:
            return f"mcp:{tool.id.server}"
        return next((p.id for p in self.workspace.packs.values() if tool.name in p.members), None)

    def grants(self, text, agent, tool):
        if tool.id.source == "handoff":
            return False  # by `delegates`, never by `tools`
        if text == "*":
            return True
        if text == "*/*":
            return tool.id.server is not None
        if text.startswith("pack:"):
            return self.in_pack(tool, text[5:])
        if "/" not in text:
            return tool.id.server is None and tool.name == text
        found = list(self.readings(text, agent, narrow=True))
        if len(found) != 1:
            return False
        server, part = found[0]
        return tool.id.server == server and part in ("*", tool.name)

    def denies(self, text, tool):
        """Whether an entry of a deny or approve list binds a tool; hand-offs included."""
        if text == "*":
            return True
        if text == "*/*":
            return tool.id.server is not None
        if text.startswith("pack:"):
            return self.in_pack(tool, text[5:])
        if "/" not in text:
            return tool.id.server is None and (tool.name == text or fnmatchcase(tool.name, text))
        if tool.id.server is None:
            return False
        parts = [part for server, part in self.readings(text, None, narrow=False) if server == tool.id.server]
        parts += [text[2:]] if text.startswith("*/") else []
        return any(part in ("*", tool.name) or fnmatchcase(tool.name, part) for part in parts)

    def exact(self, text, agent, tool):
        if tool.id.server is None:
            return text == tool.name
        found = list(self.readings(text, agent, narrow=True))
        return found == [(tool.id.server, tool.name)] and found[0][1] != "*" and text != "*/*"

    # who asks -------------------------------------------------------------------------------------------

    def path(self, scope):
        return [*(self.path(scope.parent) if scope.parent else []), scope]

    def agent(self, scope):
        return self.workspace.agents[scope.agent]

    def ceiling(self, scope):
        said = [self.workspace.config.ceiling, self.snapshot.ceiling]
        for step in self.path(scope):
            said += [self.agent(step).ceiling, step.ceiling]
        return min(one for one in said if one is not None)

    def servers(self, scope):
        """The servers of a scope: its parent's and its profile's, cut by the profile and by every spawn."""
        agent, inline = self.agent(scope), self.workspace.inline
        own = [f"{name}." for name in self.workspace.broken]
        if scope.parent:
            have = self.servers(scope.parent)
        else:  # a server that a broken file declared is still nobody else's
            have = {
                name
                for name in self.known_servers - set(inline)
                if name in self.workspace.servers or not name.startswith(tuple(own))
            }
        shared = {
            name
            for name in self.known_servers - set(inline)
            if name in self.workspace.servers or not name.startswith(tuple(own))
        }
        if agent.inherit_mcp_servers is False:
            have = set()
        elif agent.inherit_mcp_servers is not True:
            wanted = agent.inherit_mcp_servers
            have = {n for n in have if n in wanted or (n in inline and inline[n].short_name in wanted)}
        have = have | (set(agent.mcp_servers) & shared) | set(agent.inline)
        for step in self.path(scope):
            if step.mcp_servers is not None:
                named = set(step.mcp_servers)
                have = {n for n in have if n in named or (n in inline and inline[n].short_name in named)}
        return have

    # one tool -------------------------------------------------------------------------------------------

    def permission(self, tool):
        if tool.id.server is not None:
            policy = self.workspace.policy(tool.id.server)
            single = policy.tools.get(tool.name)
            return policy.permission if single is None or single.permission is None else single.permission
        if tool.permission is not None:
            return tool.permission
        return Permission.EXECUTE if tool.id.source == "handoff" else Permission.READ

    def treatment(self, tool):
        """What a pack's file or a server's policy says: exposure, access, owners, carriers, promoted."""
        if tool.id.server is not None:
            policy = self.workspace.policy(tool.id.server)
            return policy.exposure, policy.access, policy.owners, policy.carriers, ()
        pack = self.workspace.packs.get(self.pack_of(tool))
        return pack and (pack.exposure, pack.access, pack.owners, pack.carriers, pack.direct)

    def delegates(self, agent, other):
        if agent.delegates == "*":
            return other not in (agent.name, self.workspace.config.orchestrator)
        return other in agent.delegates

    def is_denied(self, scope, tool):
        entries = [s.text for s in (*self.workspace.config.deny, *self.snapshot.deny)]
        entries += [text for step in self.path(scope) for text in step.deny]
        entries += [s.text for s in self.agent(scope).disallowed_tools]
        return any(self.denies(text, tool) for text in entries)

    def is_granted(self, scope, tool):
        agent = self.agent(scope)
        if tool.id.source == "handoff":
            return self.delegates(agent, tool.target)
        if tool.id.server is not None and tool.id.server not in self.servers(scope):
            return False
        if agent.tools is None:
            granted = self.workspace.config.default_tools == "inherit"
        else:
            granted = any(self.grants(s.text, agent, tool) for s in agent.tools)
        for step in self.path(scope):
            if step.tools is not None:
                granted = granted and any(self.grants(t, self.agent(step), tool) for t in step.tools)
        return granted

    def is_available(self, tool):
        treated = self.treatment(tool)
        if treated and treated[0] is Exposure.OFF:
            return False
        if tool.target is not None:
            return (
                tool.target not in self.snapshot.disabled_agents and tool.target not in self.workspace.broken
            )
        if tool.id.server is None:
            return True
        if self.snapshot.servers[tool.id.server].status is not ServerStatus.CONNECTED:
            return False
        accepted = (self.workspace.lock or {}).get(tool.id.server)
        if accepted is not None and accepted.get(tool.name) != tool.digest:
            return False
        return tool.wire_name not in self.clashing

    def is_reserved(self, scope, tool):
        treated = self.treatment(tool)
        if treated is None or tool.id.source == "handoff":
            return False
        _, access, owners, carriers, _ = treated
        agent = self.agent(scope)
        if access is Access.OPEN or agent.name in owners or agent.name in carriers:
            return False
        return access is Access.OWNERS or any(self.delegates(agent, owner) for owner in owners)

    def placement(self, scope, tool):
        treated = self.treatment(tool)
        if treated is None:
            return State.DIRECT
        exposure, _, owners, carriers, promoted = treated
        agent = self.agent(scope)
        holds = agent.name in owners or agent.name in carriers
        if (
            any(self.exact(s.text, agent, tool) for s in agent.tools or ())
            or (holds and exposure is not Exposure.AUTO)
            or tool.name in promoted
            or exposure is Exposure.DIRECT
            or (exposure is Exposure.AUTO and tool.id.server in self.fitting(scope))
        ):
            return State.DIRECT
        return State.DEFERRED if exposure is Exposure.DEFERRED else State.PACKED

    def fitting(self, scope):
        """Servers under `auto` whose tools stay direct: as recorded, else while they fit, in order of arrival."""
        budget = self.workspace.config.budget
        order, recorded = [], {}
        ids = {str(tool.id): tool.id.server for tool in self.tools.values() if tool.id.server is not None}
        for entry in self.snapshot.admitted:
            server = ids.get(entry.id)
            if server is not None:
                order += [server] if server not in order else []
                if entry.placed is not None:
                    recorded.setdefault(server, entry.placed)
        order += sorted(self.known_servers - set(order))
        # what was placed before keeps its place, so it is weighed before what is new
        order.sort(key=lambda name: recorded.get(name) is None)
        fit, spent = set(), 0
        for name in order:
            state = self.snapshot.servers.get(name)
            if (
                name not in self.servers(scope)
                or state is None
                or not state.tools
                or self.workspace.policy(name).exposure is not Exposure.AUTO
                or recorded.get(name) == "packed"
            ):
                continue
            tokens = sum(count(tool.line) for tool in state.tools)
            fits = tokens <= budget.server_tokens and spent + tokens <= budget.belt_tokens
            if recorded.get(name) == "direct" or fits:
                fit.add(name)
                spent += tokens
        return fit

    def state(self, scope, tool):
        if self.is_denied(scope, tool):
            return State.DENIED
        if not self.is_granted(scope, tool):
            return State.OFF_BELT
        if not self.is_available(tool):
            return State.UNAVAILABLE
        if self.permission(tool) > self.ceiling(scope):
            return State.OVER_CEILING
        if self.is_reserved(scope, tool):
            return State.RESERVED
        return self.placement(scope, tool)

    def is_approved_first(self, scope, tool):
        """Whether a person must approve each call."""
        if tool.id.server is not None:
            policy = self.workspace.policy(tool.id.server)
            single = policy.tools.get(tool.name)
            marked = policy.approve if single is None or single.approve is None else single.approve
        else:
            marked = tool.approve
        entries = [s.text for s in (*self.workspace.config.approve, *self.snapshot.approve)]
        entries += [text for step in self.path(scope) for text in step.approve]
        return marked or any(self.denies(text, tool) for text in entries)
