#!/usr/bin/env bash
# The way of somebody who has never seen packbelt: from an empty directory to a belt that a real MCP client uses.
#
#     .ci/newcomer.sh DIST        DIST holds the wheel
#
# Needs uv, git, and the clients that .ci/run keeps in PACKBELT_TEST_NODE.
set -euo pipefail

wheel=$(realpath "$1"/packbelt-*.whl)
pins=$(realpath "$(dirname "$0")/constraints.txt")
inspector=$PACKBELT_TEST_NODE/node_modules/.bin/mcp-inspector
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
UV_CACHE_DIR=$(uv cache dir)  # somebody new has none; downloading all again would prove nothing more
export UV_CACHE_DIR
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config XDG_DATA_HOME=$work/home/.local/share NO_COLOR=1
mkdir -p "$HOME" "$work/empty"

fail() { printf 'newcomer: %s\n' "$*" >&2; exit 1; }
holds() { grep -qF -- "$2" "$1" || { cat "$1" >&2; fail "$3"; }; }

cd "$work/empty"
uvx --constraints "$pins" --from "$wheel" packbelt dump > dump.txt
holds dump.txt orchestrator "without a workspace, dump shows no fleet"

uv tool install --quiet --constraints "$pins" "$wheel"
PATH=$(uv tool dir --bin):$PATH
packbelt init my-agents > /dev/null
cd my-agents
git init --quiet && git add . && git -c user.name=me -c user.email=me@localhost commit --quiet --message "A workspace"
packbelt check > ../check.txt
packbelt explain orchestrator note_delete > ../explain.txt
holds ../explain.txt ask_librarian "explain does not name the hand-off"

# A server gets a small environment: what a package runner needs here beyond it is named in its entry.
python3 - <<'PYTHON'
import json, os, pathlib
file = pathlib.Path(".mcp.json")
entries = json.loads(file.read_text())
named = [name for name in os.environ if name.startswith(("UV_", "PIP_")) or name.lower().endswith("_proxy")]
named += [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ]
entries["mcpServers"]["time"]["env"] = {name: "${%s}" % name for name in named}
file.write_text(json.dumps(entries))
PYTHON
packbelt connect --trust --save ../now.yaml > ../connect.txt || { cat ../connect.txt >&2; fail "connect failed"; }
packbelt dump librarian --snapshot ../now.yaml > ../belt.txt
packbelt diff HEAD > ../diff.txt || true

# The belt as a server of a client that knows nothing of packbelt.
cat > ../client.json <<JSON
{"mcpServers": {"belt": {"type": "stdio", "command": "$(command -v packbelt)", "args":
  ["serve", "--agent", "orchestrator", "-w", "$PWD", "--as", "belt", "--handoffs", "brief"],
  "env": {"PACKBELT_TRUST": "$PWD", "HOME": "$HOME", "PATH": "$PATH"}}}}
JSON
ask() { "$inspector" --cli --quiet --connect-timeout 120000 --config ../client.json --server belt "$@"; }
ask --method tools/list > ../list.json
holds ../list.json ask_librarian "the client does not see the hand-off"
ask --method tools/call --tool-name ask_librarian --tool-arg request="What time is it in Paris?" > ../call.json
holds ../call.json "librarian" "the client's hand-off has no answer"
printf 'newcomer: from an empty directory to a belt that a client uses\n'
