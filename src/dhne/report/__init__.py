"""Pictures and pages, all drawn from records.

`write_report` makes one self-contained page, Markdown, and a picture and a CSV for each table or
figure.
"""

from .build import write_report
from .collect import Cell, Table, table
from .document import Document, compose
from .figures import draw

__all__ = ["Cell", "Document", "Table", "compose", "draw", "table", "write_report"]
