"""Belts at work inside agent SDKs: one module for each, and the only imports of SDKs.

Each module imports its SDK, which is an extra of its own: `pip install 'packbelt[openai-agents]'`.
"""
