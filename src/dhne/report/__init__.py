"""Pictures and pages made from records.

`write_report` writes one self-contained HTML page, Markdown, and a picture and a CSV file per table
or figure.
"""

from .build import write_report
from .document import Document, compose
from .figures import draw
from .metric_tables import Cell, MetricTable, table

__all__ = ["Cell", "Document", "MetricTable", "compose", "draw", "table", "write_report"]
