"""Rows in chunks: on a disk, on the workers of a cluster, or made when they are read. Nothing holds all of them."""

from fourierwalk.chunks.blocks import Blocks
from fourierwalk.chunks.chunk import Chunk, Chunks
from fourierwalk.chunks.dask import DaskChunks
from fourierwalk.chunks.loky import Loky
from fourierwalk.chunks.parquet import ParquetChunks
from fourierwalk.chunks.ranks import Ranks
from fourierwalk.chunks.sliced import Sliced

__all__ = ["Blocks", "Chunk", "Chunks", "DaskChunks", "Loky", "ParquetChunks", "Ranks", "Sliced"]
