import numpy as np
import pandas as pd
import pytest

from fourierwalk import AdaptiveFourierRegressor, TableEncoder
from fourierwalk.chunks import Blocks

X, Y = np.ones((3, 2)), np.ones(3)


def test_blocks_can_be_read_again_and_again():
    blocks = Blocks([(X, Y), (X, Y, 2 * Y)])
    for _ in range(2):
        first, second = blocks
        assert first.weight is None
        assert second.weight.tolist() == [2, 2, 2]
        assert (first.index, second.index) == (0, 1)


def test_a_function_makes_a_new_iterator_for_each_pass():
    calls = []

    def made():
        calls.append(True)
        yield X, Y

    blocks = Blocks(made)
    assert blocks.sum(len) == blocks.sum(len) == 3
    assert len(calls) == 2


def test_an_iterator_is_refused_before_it_is_read():
    def once():
        raise AssertionError("it was read")
        yield

    with pytest.raises(ValueError, match="got a generator, which can be read only once"):
        Blocks(once())


def shared():
    iterator = iter([(X, Y), (X, Y)])
    return lambda: iterator


class Alone:
    """Something to iterate that begins only once."""

    def __init__(self):
        self.left = [(X, Y), (X, Y)]

    def __iter__(self):
        while self.left:
            yield self.left.pop()


@pytest.mark.parametrize("given", [shared(), Alone()])
def test_blocks_that_are_gone_in_the_second_pass_are_told(given):
    said = "got 2 blocks at first and 0 now; an iterator can be read only once: give a list"
    with pytest.raises(ValueError, match=said):
        AdaptiveFourierRegressor(2).fit(given)


@pytest.mark.parametrize("x", [X, pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"]})])
def test_blocks_that_become_more_are_told(x):
    passes = []

    def growing():
        passes.append(True)
        return [(x, Y)] * len(passes)

    with pytest.raises(ValueError, match="X must give the same blocks whenever it is read, got more than 1 now"):
        AdaptiveFourierRegressor(2).fit(growing)


def test_categories_are_encoded_by_an_encoder_of_some_rows():
    def frames():
        for seed in range(3):
            rng = np.random.default_rng(seed)
            places = [*"abc", *("z" * (seed == 2))]  # the encoder has not seen z
            frame = pd.DataFrame({"place": rng.choice(places, 500), "time": rng.uniform(0, 1, 500)})
            yield frame, np.sin(9 * frame["time"]) * (frame["place"] == "a")

    encoder = TableEncoder().fit(*next(frames()))
    model = AdaptiveFourierRegressor(32, random_state=0)
    model.fit(lambda: ((encoder.transform(frame), y) for frame, y in frames()))
    frame, y = next(frames())
    assert np.mean((model.predict(encoder.transform(frame)) - y) ** 2) < 1e-3 * np.var(y)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (X, r"a block must be \(X, y\) or \(X, y, weight\), got a ndarray as block 1"),
        ((X,), "got 1 values as block 1"),
        ((X, Y[:2]), "y must have as many rows as X in every block, got 2 for 3 rows in block 1"),
        ((X, Y, Y[:1]), "sample_weight must have as many rows as X in every block, got 1 for 3 rows in block 1"),
        ((Y, Y), "X must have 2 dimensions, got 1 in block 1"),
        ((np.array([["a"]] * 3), Y), "got <U1 in block 1: words may stand in a frame or in an array of objects"),
    ],
)
def test_a_bad_block_is_named(block, message):
    with pytest.raises(ValueError, match=message):
        list(Blocks([(X, Y), block]))
