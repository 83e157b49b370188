"""What the examples share: sessions, data, streams from tables, timing and charts."""
