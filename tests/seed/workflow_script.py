"""The script of the skill `dynamic-workflow`: writes down what it planned, beside itself."""

import json
import sys
from pathlib import Path

steps = ["look", "plan", "act"]
Path("plan.json").write_text(json.dumps({"steps": steps}))
sys.stdout.write(f"planned {len(steps)} steps\n")
