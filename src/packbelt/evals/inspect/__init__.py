"""The same cases as a task of inspect-ai: `inspect eval packbelt/routing --model PROVIDER/MODEL`.

inspect-ai plays them with its own models, limits, retries, caches and logs; belt, dispatch and outcome are
packbelt's. `pip install 'packbelt[inspect]'`.
"""
