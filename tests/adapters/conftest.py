import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path += [str(HERE.parent / "live"), str(HERE.parent / "providers")]  # fleet_world; the proofs' modules
