from fourierwalk.benchmarks import figures as bench


def test_a_target_is_met_or_not():
    assert bench.Figure("", "", 1.0, 2.0, True).met
    assert not bench.Figure("", "", 1.0, 2.0, False).met


def test_a_figure_without_a_target_falls_short_of_none():
    figure = bench.Figure("case", "what", 1.0)
    assert figure.met
    assert figure.cells == ("case", "what", "1", "", "")


def part(commit, *figures):
    origin = {"commit": commit, "machine": {"cores": 2}, "versions": {"numpy": "2"}}
    return {"provenance": origin, "figures": [{**vars(figure), "met": figure.met} for figure in figures]}


def test_a_case_stands_once_above_its_figures():
    error, seconds = bench.Figure("a", "error", 1.0), bench.Figure("a", "seconds", 3.0, 2.0)
    assert bench.markdown([part("c1", error, seconds)]).splitlines() == [
        "| figure | measured | target |",
        "| --- | --- | --- |",
        "| **a** |  |  |",
        "| error | 1 |  |",
        "| seconds | 3 | ≤ 2 (falls short) |",
        "",
        "Commit c1: cores 2, numpy 2.",
    ]


def test_parts_of_one_origin_share_a_table():
    one, two = bench.Figure("a", "error", 1.0), bench.Figure("b", "error", 2.0)
    together = bench.markdown([part("c1", one), part("c1", two)])
    assert together.count("Commit") == 1
    assert "| **a**: error | 1 |  |\n| **b**: error | 2 |  |" in together
    assert bench.markdown([part("c1", one), part("c2", two)]).count("Commit") == 2


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
