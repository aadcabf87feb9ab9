"""A belt in words: the sections of an agent's prompt, and the prompt with them."""

from packbelt.prompt.body import NAMES
from packbelt.prompt.sections import Sections, render_prompt, render_sections

__all__ = ["NAMES", "Sections", "render_prompt", "render_sections"]
