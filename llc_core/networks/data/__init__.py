"""Data sets for networks: digits, pictures, tables, text and its tokens."""
