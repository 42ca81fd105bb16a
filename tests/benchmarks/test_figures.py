from fourierwalk.benchmarks import figures as bench


def test_a_target_is_met_or_not():
    assert bench.Figure("", "", 1.0, 2.0, True).met
    assert not bench.Figure("", "", 1.0, 2.0, False).met


def test_a_figure_without_a_target_falls_short_of_none():
    figure = bench.Figure("case", "what", 1.0)
    assert figure.met
    assert figure.cells == ("case", "what", "1", "", "")


def test_functions_take_turns_and_unmeasured_calls_do_not_count():
    now, calls = [0.0], []

    def taking(name, seconds):
        def function():
            calls.append(name)
            now[0] += seconds.pop(0)

        return function

    functions = [taking("a", [9, 1, 3, 2]), taking("b", [9, 5, 5, 6])]
    assert bench.medians_in_turn(functions, 3, lambda: now[0]) == [2, 5]
    assert calls == ["a", "b"] * 4
    assert bench.medians_in_turn([taking("c", [4, 6])], 2, lambda: now[0], unmeasured=0) == [5]
