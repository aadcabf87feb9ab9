"""The shape of packbelt's own files. Unknown keys are refused and nothing is coerced."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

PermissionWord = Literal["none", "read", "write", "execute", "dangerous"]
AccessWord = Literal["open", "handoff", "owners"]
StatusWord = Literal["connected", "starting", "failed", "disconnected"]
Text = Annotated[str, Field(min_length=1)]
Tokens = Annotated[int, Field(gt=0)]
AtOnce = Annotated[int, Field(ge=1, le=256)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class FileModel(BaseModel):
    """A mapping in a file."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ToolPolicyFile(FileModel):
    """`servers.<server>.tools.<tool>`."""

    permission: PermissionWord = "execute"
    approve: bool = False


class ServerPolicyFile(FileModel):
    """`servers.<server>`."""

    exposure: Literal["packed", "direct", "deferred", "auto", "off"] = "auto"
    access: AccessWord = "open"
    owners: list[Text] = []
    carriers: list[Text] = []
    permission: PermissionWord = "execute"
    approve: bool = False
    concurrency: AtOnce = 8
    tools: dict[str, ToolPolicyFile] = {}


class BudgetFile(FileModel):
    """`budget`, in o200k_base tokens."""

    server_tokens: Tokens = 4000
    tool_tokens: Tokens = 800
    belt_tokens: Tokens = 12000


class TimesFile(FileModel):
    """`times`, in seconds."""

    start: Seconds = 15
    list: Seconds = 60
    call: Seconds = 60
    queue: Seconds = 60
    shutdown: Seconds = 5


class ConfigFile(FileModel):
    """`packbelt.yaml`."""

    orchestrator: Text = "orchestrator"
    default_tools: Literal["inherit", "none"] = "inherit"
    ceiling: PermissionWord = "execute"
    deny: list[str] = []
    approve: list[str] = []
    opener: Text = "use_pack"
    servers: dict[str, ServerPolicyFile] = {}
    budget: BudgetFile = BudgetFile()
    times: TimesFile = TimesFile()
    skills: list[Text] = ["skills"]
    plugins_only: bool = False


class ToolFile(FileModel):
    """A native tool that a pack defines in full."""

    name: Text
    description: str = ""
    permission: PermissionWord = "read"
    approve: bool = False
    input_schema: dict[str, Any] = {}


class PackFile(FileModel):
    """`packs/<id>.yaml`. `tools` holds names and `ToolFile`s, which are read one by one."""

    id: str = ""
    summary: str = ""
    exposure: Literal["packed", "direct", "deferred", "off"] = "packed"
    access: AccessWord = "open"
    owners: list[Text] = []
    carriers: list[Text] = []
    direct: list[Text] = []
    guide: str = ""
    tools: list[Any] = []


class AgentFile(FileModel):
    """Front matter of `prompts/agents/<name>.md`.

    `delegates`, `inherit_mcp_servers` and `mcp_servers` have several forms and are read by hand.
    """

    name: Text = "agent"
    description: Text
    handoff: Text = "handoff"
    tools: list[str] = []
    disallowed_tools: list[str] = []
    delegates: Any = []
    mcp_servers: Any = []
    inherit_mcp_servers: Any = True
    skills: list[Text] = []
    permission: PermissionWord = "execute"
    ceiling: PermissionWord = "execute"


class SnapshotServerFile(FileModel):
    """`servers.<server>` of a snapshot; `tools` are entries of `tools/list`, each of which may be broken."""

    status: StatusWord
    instructions: str | None = None
    tools: list[Any] = []
    error: str | None = None


class SkillFile(FileModel):
    """An entry of a snapshot's `skills`."""

    name: Text
    description: str = ""
    path: str = ""


class AdmittedFile(FileModel):
    """An entry of a snapshot's `admitted`."""

    id: Text
    placed: Literal["direct", "packed", "deferred"] | None = None


class SnapshotFile(FileModel):
    """A snapshot file."""

    servers: dict[Text, SnapshotServerFile] = {}
    skills: list[SkillFile] = []
    disabled_agents: list[Text] = []
    ceiling: PermissionWord = "execute"
    deny: list[Text] = []
    approve: list[Text] = []
    admitted: list[AdmittedFile] = []


class LockFile(FileModel):
    """`packbelt.lock`."""

    version: Literal[1]
    servers: dict[str, dict[str, Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]]]
