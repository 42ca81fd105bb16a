"""Tables from a user's files: CSV and TSV, NPZ, Parquet; read block by block, every mistake one sentence."""
