"""The closed tables of codes: states, rules, diagnostics, hints.

Every code that packbelt emits stands here with one sentence on what it means; a test holds that no
other is ever emitted. Codes are part of the interface: they are added, never renamed.
"""

from enum import StrEnum


class State(StrEnum):
    """What one tool is to one scope, from what it cannot call at all to what it sees."""

    UNKNOWN = "unknown"
    DENIED = "denied"
    OFF_BELT = "off_belt"
    UNAVAILABLE = "unavailable"
    OVER_CEILING = "over_ceiling"
    RESERVED = "reserved"
    PACKED = "packed"
    DEFERRED = "deferred"
    DIRECT = "direct"

    @property
    def callable(self) -> bool:
        """Whether a call is admitted: direct, packed and deferred tools are, nothing else is."""
        return self in _CALLABLE


_CALLABLE = frozenset({State.PACKED, State.DEFERRED, State.DIRECT})


class Exposure(StrEnum):
    """How a pack's tools are presented to those who may call them."""

    PACKED = "packed"
    DIRECT = "direct"
    DEFERRED = "deferred"
    AUTO = "auto"
    OFF = "off"


class Access(StrEnum):
    """For whom a pack is reserved."""

    OPEN = "open"
    HANDOFF = "handoff"
    OWNERS = "owners"


class ServerStatus(StrEnum):
    """What is known of a server now."""

    CONNECTED = "connected"
    STARTING = "starting"
    FAILED = "failed"
    DISCONNECTED = "disconnected"


class Level(StrEnum):
    """How grave a diagnostic is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Origin(StrEnum):
    """Where a file was found; never a thing that a file says of itself."""

    EMBEDDED = "embedded"
    PLUGIN = "plugin"
    USER = "user"
    PROJECT = "project"


class Rule(StrEnum):
    """The rules that decide a tool's state, in the order of the states they lead to."""

    # unknown
    NO_SUCH_TOOL = "no_such_tool"
    # denied
    WORKSPACE_DENY = "workspace.deny"
    SNAPSHOT_DENY = "snapshot.deny"
    SPAWN_DENY = "spawn.deny"
    AGENT_DENY = "agent.disallowed_tools"
    # off_belt
    AGENT_TOOLS = "agent.tools"
    DEFAULT_TOOLS = "default_tools"
    AGENT_DELEGATES = "agent.delegates"
    SPAWN_TOOLS = "spawn.tools"
    SCOPE_SERVERS = "scope.servers"
    # unavailable
    PACK_OFF = "pack.off"
    AGENT_DISABLED = "agent.disabled"
    AGENT_BROKEN = "agent.broken"
    SERVER_STARTING = "server.starting"
    SERVER_FAILED = "server.failed"
    SERVER_DISCONNECTED = "server.disconnected"
    TOOL_CHANGED = "tool.changed"
    WIRE_CLASH = "wire.clash"
    NO_HANDLER = "no_handler"
    NO_RUNNER = "no_runner"
    # over_ceiling
    CEILING = "ceiling"
    # reserved
    PACK_ACCESS = "pack.access"
    # packed, deferred, direct
    PACK_EXPOSURE = "pack.exposure"
    SERVER_BUDGET = "server.budget"
    ADMITTED = "admitted"
    PACK_OWNER = "pack.owner"
    PACK_CARRIER = "pack.carrier"
    PACK_DIRECT = "pack.direct"
    EXACT_SELECTOR = "agent.tools.exact"
    NO_PACK = "no_pack"

    @property
    def meaning(self) -> str:
        """One sentence on what the rule says."""
        return RULES[self]


RULES: dict[Rule, str] = {
    Rule.NO_SUCH_TOOL: "Neither the workspace nor the snapshot has a tool of this name.",
    Rule.WORKSPACE_DENY: "A `deny` selector of packbelt.yaml matches; it binds every agent.",
    Rule.SNAPSHOT_DENY: "A `deny` selector of the snapshot matches; it binds every agent.",
    Rule.SPAWN_DENY: "A `deny` of a spawn on the agent's path matches; it binds that whole subtree.",
    Rule.AGENT_DENY: "An entry of the agent's own `disallowed_tools` matches.",
    Rule.AGENT_TOOLS: "The agent's `tools` list does not grant it.",
    Rule.DEFAULT_TOOLS: "The agent has no `tools` list and `default_tools` is `none`.",
    Rule.AGENT_DELEGATES: "Hand-offs are granted by `delegates`, and the agent's do not name this target.",
    Rule.SPAWN_TOOLS: "The `tools` of a spawn on the agent's path do not grant it.",
    Rule.SCOPE_SERVERS: "The server is outside the servers that this agent has.",
    Rule.PACK_OFF: "The pack's exposure is `off`.",
    Rule.AGENT_DISABLED: "The agent that the hand-off leads to is disabled.",
    Rule.AGENT_BROKEN: "The file of the agent that the hand-off leads to did not load.",
    Rule.SERVER_STARTING: "The server is starting.",
    Rule.SERVER_FAILED: "The server failed.",
    Rule.SERVER_DISCONNECTED: "The server is not connected.",
    Rule.TOOL_CHANGED: "The definition differs from the one in packbelt.lock and was not accepted.",
    Rule.WIRE_CLASH: "Another server tool has the same wire name.",
    Rule.NO_HANDLER: "The host registered no handler for this native tool.",
    Rule.NO_RUNNER: "The host gave no `run`, so hand-offs have nobody to run them.",
    Rule.CEILING: "It needs a higher permission than the lowest ceiling along the agent's path.",
    Rule.PACK_ACCESS: "The pack's `access` keeps it for its owners and carriers.",
    Rule.PACK_EXPOSURE: "The pack's exposure decides how it is presented.",
    Rule.SERVER_BUDGET: "Exposure `auto`: the server's tools fit the token budget, or they do not.",
    Rule.ADMITTED: "The placement was recorded when the tool was admitted.",
    Rule.PACK_OWNER: "The agent owns the pack and carries its tools directly.",
    Rule.PACK_CARRIER: "The agent carries the pack's tools directly.",
    Rule.PACK_DIRECT: "The pack's `direct` list promotes it.",
    Rule.EXACT_SELECTOR: "The agent's `tools` names it exactly.",
    Rule.NO_PACK: "It belongs to no pack.",
}


class Code(StrEnum):
    """What a diagnostic is about."""

    # files that did not load, or not as written
    AGENT_BROKEN = "agent.broken"
    AGENT_SHADOWED = "agent.shadowed"
    ROOT_UNKNOWN = "agent.root_unknown"
    AGENT_KEY = "agent.key"
    AGENT_TOOL_UNKNOWN = "agent.tool_unknown"
    AGENT_BUILTIN = "agent.builtin"
    AGENT_SPECIFIER = "agent.specifier"
    AGENT_REFUSED = "agent.refused"
    SKILL_BROKEN = "skill.broken"
    SKILL_SHADOWED = "skill.shadowed"
    SKILL_NAME = "skill.name"
    SKILL_FORM = "skill.form"
    SERVER_BROKEN = "server.broken"
    SERVER_KEY = "server.key"
    SERVER_IGNORED = "server.ignored"
    SERVER_UNKNOWN = "server.unknown"
    SERVER_FAILED = "server.failed"
    SERVER_EMPTY = "server.empty"
    SERVER_LISTING = "server.listing"
    SECRET_IN_ARGS = "server.args_placeholder"  # noqa: S105 - a code, not a secret
    TOOL_BROKEN = "tool.broken"
    TOOL_DUPLICATE = "tool.duplicate"
    TOOL_CHANGED = "tool.changed"
    TEMPLATE_BROKEN = "template.broken"
    TEXT_CUT = "text.cut"
    LIST_CUT = "list.cut"
    DENY_UNMATCHED = "deny.unmatched"
    SELECTOR_VANISHED = "selector.vanished"
    # what a belt reports
    WIRE_ALTERED = "wire.altered"
    WIRE_CLASH = "wire.clash"
    # what compiling for a target reports
    TARGET_NAME = "target.name"
    TARGET_LIMIT = "target.limit"
    TARGET_SCHEMA = "target.schema"
    # what `check` finds
    MEMBER_UNKNOWN = "pack.member_unknown"
    OWNER_UNKNOWN = "pack.owner_unknown"
    OWNER_IDLE = "pack.owner_idle"
    PACK_IS_TOOL = "pack.is_tool"
    PACK_UNUSED = "pack.unused"
    PACK_NO_WAY_IN = "pack.no_way_in"
    RESERVED_HANDOFF_PACKED = "reserved.handoff_packed"
    RESERVED_DEAD_END = "reserved.dead_end"
    HANDOFF_PACKED = "handoff.packed"
    HANDOFF_WIDENS = "handoff.widens"
    HANDOFF_CYCLE = "handoff.cycle"
    DELEGATE_UNKNOWN = "agent.delegate_unknown"
    DELEGATES_IDLE = "agent.delegates_idle"
    AGENT_UNUSED = "agent.unused"
    AGENT_EMPTY = "agent.empty"
    PROMISE_BROKEN = "promise.broken"
    UNREACHABLE = "capability.unreachable"
    OVER_BUDGET = "tool.over_budget"
    PACKED_AT_A_LOSS = "pack.at_a_loss"
    TEXT_SHARED = "tool.text_shared"
    TEMPLATE_UNUSED = "template.unused"
    SERVER_POLICY_UNUSED = "server.policy_unused"
    AGENT_DISABLED_UNKNOWN = "agent.disabled_unknown"
    LAW_BROKEN = "law.broken"

    @property
    def meaning(self) -> str:
        """One sentence on what the diagnostic says."""
        return CODES[self]


CODES: dict[Code, str] = {
    Code.AGENT_BROKEN: "An agent's file did not load; the agent cannot start.",
    Code.ROOT_UNKNOWN: "The root agent that packbelt.yaml names has no file, and others have.",
    Code.AGENT_SHADOWED: "A nearer file defines the same agent.",
    Code.AGENT_KEY: "An agent's file of another format has a key that packbelt does not read.",
    Code.AGENT_BUILTIN: "An agent names a tool that Claude Code runs; only a belt compiled for it has it.",
    Code.AGENT_TOOL_UNKNOWN: "An imported agent's list names a tool that nothing here has.",
    Code.AGENT_SPECIFIER: "An imported agent's entry says more than packbelt can; it is read narrowly.",
    Code.AGENT_REFUSED: "An agent cannot start: an entry of its file means nothing, or means two things.",
    Code.SKILL_BROKEN: "A skill's file did not load.",
    Code.SKILL_SHADOWED: "A nearer file defines the same skill.",
    Code.SKILL_FORM: "A skill can be read and is not as the Agent Skills format says.",
    Code.SKILL_NAME: "A skill's name is not its folder's, or not one that the Agent Skills format takes.",
    Code.SERVER_BROKEN: "A server's entry cannot be used.",
    Code.SERVER_KEY: "A server's entry has a key that packbelt does not read.",
    Code.SERVER_IGNORED: (
        "A server is left out on purpose: switched off, this workspace's own gateway, or not a plugin's."
    ),
    Code.SERVER_UNKNOWN: "A named reference to a server that is not configured; it is skipped.",
    Code.SERVER_FAILED: "A server failed; its tools are left out.",
    Code.SERVER_EMPTY: "A selector grants all tools of a server that has none.",
    Code.SERVER_LISTING: "A server's list of tools does not end; what it listed so far counts.",
    Code.SECRET_IN_ARGS: "A ${NAME} in `args` is readable by every user of the machine.",
    Code.TOOL_BROKEN: "A server's tool cannot be used; the others are unaffected.",
    Code.TOOL_DUPLICATE: "A server lists one name twice; the first counts.",
    Code.TOOL_CHANGED: "A tool's definition differs from the accepted one.",
    Code.TEMPLATE_BROKEN: "A section's template failed; the section is left out.",
    Code.TEXT_CUT: "A third party's text was cut for a prompt.",
    Code.LIST_CUT: "A section of a prompt has no room for all that it lists.",
    Code.DENY_UNMATCHED: "A deny selector matches nothing that the connected server has.",
    Code.SELECTOR_VANISHED: "A tool named exactly is no longer advertised by its server.",
    Code.WIRE_ALTERED: "A server tool's name had to be changed for the wire.",
    Code.WIRE_CLASH: "Two server tools have one wire name; neither is available.",
    Code.TARGET_NAME: "A tool has no name in a target, or shares one there; it is left out.",
    Code.TARGET_LIMIT: "More tools are sent than a target takes.",
    Code.TARGET_SCHEMA: "A target refuses a tool's schema; it is sent in another form, or the tool is not.",
    Code.MEMBER_UNKNOWN: "A pack's member has no tool behind it.",
    Code.OWNER_UNKNOWN: "A pack's owner or carrier is no agent.",
    Code.OWNER_IDLE: "A pack's owner can call none of its tools.",
    Code.PACK_IS_TOOL: "A pack's id is also a tool's name.",
    Code.PACK_UNUSED: "No agent can call any tool of a pack.",
    Code.PACK_NO_WAY_IN: "A reserved pack has no owner.",
    Code.RESERVED_HANDOFF_PACKED: "Every hand-off to a reserved tool is itself packed.",
    Code.RESERVED_DEAD_END: "A reserved tool has no route for its reader.",
    Code.HANDOFF_PACKED: "A hand-off is packed beside the raw tools of its own specialist.",
    Code.HANDOFF_WIDENS: "A hand-off leads to an agent that may call what its caller is denied.",
    Code.HANDOFF_CYCLE: "Hand-offs lead in a circle that nobody in it can leave with an answer of his own.",
    Code.DELEGATE_UNKNOWN: "A delegate is no agent.",
    Code.DELEGATES_IDLE: "An agent has delegates and can call none of its hand-offs.",
    Code.AGENT_UNUSED: "No hand-off from the root agent leads to an agent.",
    Code.AGENT_EMPTY: "An agent can call nothing at all.",
    Code.PROMISE_BROKEN: "A text names a tool that its reader cannot call.",
    Code.UNREACHABLE: "No route leads from the root agent to a tool.",
    Code.PACKED_AT_A_LOSS: "What an agent's packs save is less than the opener costs.",
    Code.OVER_BUDGET: "A tool's description and schema cost more tokens than the budget allows.",
    Code.TEXT_SHARED: "Tools of one belt repeat the same text.",
    Code.TEMPLATE_UNUSED: "A section template has a name that no prompt uses.",
    Code.SERVER_POLICY_UNUSED: "An entry of `servers:` is about a server or a tool that nothing has.",
    Code.AGENT_DISABLED_UNKNOWN: "The snapshot disables an agent that is none.",
    Code.LAW_BROKEN: "Two readings of one belt disagree; please report it.",
}


class HintClass(StrEnum):
    """What kind of answer a caller of a name gets."""

    CALLABLE = "callable"
    PACKED = "packed"
    RESERVED = "reserved"
    WRONG_PACK = "wrong_pack"
    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"
    DENIED = "denied"
    UNAVAILABLE = "unavailable"
    OFF_BELT = "off_belt"
    OVER_CEILING = "over_ceiling"
    INVALID_ARGUMENTS = "invalid_arguments"
    REPEAT = "repeat"
