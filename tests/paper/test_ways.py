"""Each of the four ways is what its name says."""

import numpy as np

from fourierwalk.paper import ways


def test_study_fills_every_cell():
    sizes = ways.Sizes(widths=(4,), seeds=(0,))
    problem = ways.step_problem(sizes.n_rows)
    counted = []
    result = ways.study(problem, sizes, lambda: counted.append(1))
    assert len(counted) == len(ways.METHODS)
    assert set(result.models) == set(ways.METHODS)
    for values in result.errors.values():
        assert values.shape == (1, 1)
        assert np.all((values > 0) & (values < 2))
    assert all(np.all(seconds > 0) for seconds in result.seconds.values())


def test_each_method_is_what_the_page_says():
    problem = ways.step_problem(300)
    x, _, y, _ = problem.split(0)
    fits = {method: ways.fit(method, problem, 4, 0, x, y) for method in (ways.DEFAULT, ways.PAPER, ways.FIXED)}
    assert fits[ways.DEFAULT].get_params() == problem.estimator(4, random_state=0).get_params()
    assert fits[ways.FIXED].n_steps_ == 0
    paper = fits[ways.PAPER]
    assert (paper.sampler, paper.n_steps_, paper.regularization_) == ("metropolis", 1000, 0.1)
    np.testing.assert_allclose(paper.history_.step_size, 2.4**2)
