import pickle
from dataclasses import replace

import numpy as np

from fourierwalk.chunks import Chunks, Sliced
from fourierwalk.chunks.converted import Converted


def doubled(chunk):
    return replace(chunk, x=2 * chunk.x)


def total(chunk):
    return float(np.sum(chunk.x))


def test_every_chunk_is_converted_at_each_pass():
    chunks = Converted(Sliced(np.arange(5.0)[:, None], np.ones(5), rows=2), doubled)
    assert isinstance(chunks, Chunks)
    for _ in range(2):
        assert chunks.each(total) == [2.0, 10.0, 8.0]
        assert chunks.sum(total) == 20.0


def test_shares_travel():
    class Spy:
        def sum(self, share):
            return pickle.loads(pickle.dumps(share))

    share = Converted(Spy(), doubled).sum(total)
    assert share(next(iter(Sliced(np.ones((3, 1)), np.ones(3))))) == 6.0
