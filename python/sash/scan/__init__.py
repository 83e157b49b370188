"""``python -m sash scan``: what Sash would do to the queries of Spark's event logs.

It reads files and nothing else: no Spark session, no PySpark, no network.
"""
