"""Tables from CSV, TSV, NPZ and Parquet files, read block by block. Every error is one sentence."""
