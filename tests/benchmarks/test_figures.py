from fourierwalk.benchmarks import figures as bench


def test_a_target_is_met_or_not():
    assert bench.Figure("", "", 1.0, 2.0, True).met
    assert not bench.Figure("", "", 1.0, 2.0, False).met


def test_a_figure_without_a_target_falls_short_of_none():
    figure = bench.Figure("case", "what", 1.0)
    assert figure.met
    assert figure.cells == ("case", "what", "1", "", "")
