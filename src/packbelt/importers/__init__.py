"""Other people's files into a workspace, with a report of what did not map.

`gather` reads and decides; `write` puts the files there. Nothing that is imported may call more than its
source said: what cannot be read for sure is refused, and what can only be said in part is said narrower.
"""

from packbelt.importers.gather import Imported, gather
from packbelt.importers.report import Item, Kind, Outcome, Remark, Report
from packbelt.importers.sources import Client
from packbelt.importers.write import to_write, write

__all__ = ["Client", "Imported", "Item", "Kind", "Outcome", "Remark", "Report", "gather", "to_write", "write"]
