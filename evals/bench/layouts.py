"""What three layouts of the embedded workspace cost the orchestrator: `python evals/bench/layouts.py`.

The same fleet with its four hand-offs packed (as the reported orchestrator had them), promoted (as shipped),
and with nothing packed at all. Figures are exact o200k_base tokens of the neutral request form, as in
`packbelt dump`.
"""

from dataclasses import replace

from packbelt import Turn, Workspace, load, turn
from packbelt.catalog import embedded_root
from packbelt.model import Exposure

HANDOFFS = ("use_mcp_server", "setup_mcp_server", "setup_skills", "run_skill")


def with_packs(workspace: Workspace, **change: object) -> Workspace:
    """The workspace with one change to every pack."""
    return replace(workspace, packs={name: replace(pack, **change) for name, pack in workspace.packs.items()})


def main() -> None:
    """Print one line for each layout."""
    shipped = load(embedded_root())
    layouts = {
        "four hand-offs packed": with_packs(shipped, direct=()),
        "four hand-offs promoted": shipped,
        "nothing packed": with_packs(shipped, exposure=Exposure.DIRECT),
    }
    print(f"{'layout':24} {'tools sent':>10} {'tools':>8} {'sections':>9} {'total':>8}  the four hand-offs")
    for name, workspace in layouts.items():
        now: Turn = turn(workspace, None, "orchestrator")
        states = {str(now.belt[handoff].state) for handoff in HANDOFFS}
        cost = now.cost
        figures = f"{len(now.tools):>10} {cost.tools:>8,} {cost.sections:>9,} {cost.total:>8,}"
        print(f"{name:24} {figures}  {', '.join(sorted(states))}")


if __name__ == "__main__":
    main()
