"""The benchmark of the plan runs, and its figures are what they say."""

from fourierwalk.benchmarks import plan


def test_each_configuration_has_a_ratio_and_its_distance_from_one():
    figures = plan.bench_plan(16)
    assert len(figures) == 4 * len(plan.CASES) + 15
    for ratio, distance in zip(figures[:32:2], figures[1:32:2], strict=True):
        assert ratio.value > 0
        assert distance.value == abs(ratio.value - 1)
        assert distance.target == 0.3
