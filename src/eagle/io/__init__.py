"""Files: plain values under a digest. No class of eagle is known here.

`container` writes them as JSON, `parquet` as tables, and `atomic` whole or not at all.
"""
