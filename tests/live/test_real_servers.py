"""Against servers that other people wrote. They are among the development dependencies."""

import sys

from packbelt.catalog.workspace import ServerSpec, Times
from packbelt.model import ServerStatus


def test_servers_from_pypi_beside_broken_ones(meet):
    specs = [
        ServerSpec(
            "time", "stdio", command=sys.executable, args=("-m", "mcp_server_time", "--local-timezone", "UTC")
        ),
        ServerSpec("dead", "stdio", command="no-such-command-anywhere"),
        ServerSpec("git", "stdio", command=sys.executable, args=("-m", "mcp_server_git")),
        ServerSpec("unset", "stdio", command="true", env={"TOKEN": "${PACKBELT_TEST_UNSET}"}),
    ]
    snapshot = meet(*specs, times=Times(start=60))
    assert {name: state.status for name, state in snapshot.servers.items()} == {
        "time": ServerStatus.CONNECTED,
        "dead": ServerStatus.FAILED,
        "git": ServerStatus.CONNECTED,
        "unset": ServerStatus.FAILED,
    }
    assert [tool.name for tool in snapshot.servers["time"].tools] == ["convert_time", "get_current_time"]
    assert {"git_status", "git_diff_staged", "git_log"} <= snapshot.servers["git"].by_name.keys()
