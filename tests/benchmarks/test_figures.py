from fourierwalk.benchmarks import figures as bench


def test_a_target_is_met_or_not():
    assert bench.Figure("", "", 1.0, 2.0, True).met
    assert not bench.Figure("", "", 1.0, 2.0, False).met
