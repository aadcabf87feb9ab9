"""The tools that Claude Code runs itself, as agents' files name them.

Read to tell a built-in from a typo, never to grant one: what a target runs by itself is known only when a
belt is compiled for it, from that target's descriptor, whose names are all among these. Gathered from the
files of eleven public collections of agents and the tool lists of the CLI versions 1.0 to 2.1; names that
have since been dropped stay, because the files still say them.
"""

from packbelt.model.selector import glob

BUILTIN = frozenset(
    {
        "Agent",
        "AskUserQuestion",
        "Bash",
        "BashOutput",
        "CronCreate",
        "CronDelete",
        "CronList",
        "Edit",
        "EnterPlanMode",
        "EnterWorktree",
        "ExitPlanMode",
        "ExitWorktree",
        "Glob",
        "Grep",
        "KillBash",
        "KillShell",
        "LS",
        "LSP",
        "ListAgents",
        "ListMcpResourcesTool",
        "Monitor",
        "MultiEdit",
        "NotebookEdit",
        "NotebookRead",
        "Read",
        "ReadMcpResourceTool",
        "ReportFindings",
        "ScheduleWakeup",
        "SendMessage",
        "Skill",
        "SlashCommand",
        "Task",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TodoRead",
        "TodoWrite",
        "ToolSearch",
        "WebFetch",
        "WebSearch",
        "Workflow",
        "Write",
    }
)


def means_builtin(entry: str) -> bool:
    """Whether a plain name, or a glob over names, means one of them."""
    return entry in BUILTIN or any(map(glob(entry).match, BUILTIN))
