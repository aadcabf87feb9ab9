"""packbelt's speed beside its peers': one catalogue, one run, one table. `python evals/bench/run.py`."""
