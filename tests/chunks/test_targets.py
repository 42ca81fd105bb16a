import numpy as np
import pytest

from fourierwalk.chunks import Chunk
from fourierwalk.chunks.targets import LabelTargets, NumberTargets

X = np.ones((3, 2))


def test_numbers_become_columns():
    assert NumberTargets().columns(Chunk.of(0, X, np.arange(3))).tolist() == [[0], [1], [2]]
    with pytest.raises(ValueError, match="y must be real numbers, got <U1 in block 4"):
        NumberTargets().columns(Chunk.of(4, X, np.array(["a", "b", "a"])))


def test_numbers_follow_the_inputs():
    torch = pytest.importorskip("torch")
    assert isinstance(NumberTargets().columns(Chunk.of(0, torch.as_tensor(X), np.arange(3))), torch.Tensor)


@pytest.mark.parametrize("labels", [["b", "a", "b"], [2, 1, 2], [True, False, True]])
def test_labels_become_one_hot_columns(labels):
    names = tuple(sorted(set(labels)))
    assert LabelTargets(names).columns(Chunk.of(0, X, np.array(labels))).tolist() == [[0, 1], [1, 0], [0, 1]]
