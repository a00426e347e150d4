"""Results as one HTML file each, to be read, mailed and printed: `eagle.report`."""

from eagle.reports.write import report

__all__ = ["report"]
