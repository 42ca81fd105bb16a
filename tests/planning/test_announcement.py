"""A long fit is announced."""

import numpy as np
import pytest

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.planning.announcement import announcement
from fourierwalk.sampling.descent import Descent
from fourierwalk.sampling.proposals import RandomWalk
from fourierwalk.sampling.sampler import Metropolis
from fourierwalk.training.automatic import Automatic
from fourierwalk.training.followed import Followed


@pytest.mark.parametrize(
    "search", [Automatic(), Followed(Metropolis(RandomWalk(1.0), 3.0), 100, 10, 30), Followed(Descent(), 100, 10, 30)]
)
def test_only_a_long_fit_is_announced(search):
    assert announcement(search, 200, 5, 1, 16) is None
    said = announcement(search, 10**8, 10, 1, 64)
    assert said.startswith("the fit takes up to about" if isinstance(search, Automatic) else "the fit takes about")
    assert "a solve on all rows takes" in said


def test_nothing_is_known_about_a_search_of_the_users_own():
    assert announcement(object(), 10**9, 10, 1, None) is None


def test_a_fit_says_so_before_it_begins(capsys):
    x = np.random.default_rng(0).normal(size=(200, 2))
    long = {"n_steps": 10**7, "max_seconds": 0.05, "random_state": 0}
    for verbose in (0, 1):
        AdaptiveFourierRegressor(8, verbose=verbose, **long).fit(x, x[:, 0])
        out = capsys.readouterr().out
        assert ("the fit takes up to about" in out.partition("\n")[0]) == bool(verbose)
