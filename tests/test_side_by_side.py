"""Ratios of two trees' times, and the processes that measure them."""

from side_by_side import REPEATS, ROOT, SIDES, Side, summary, table


def rounds(factors):
    """Two rounds of three turns: the machine is slow in the second turn, and for everybody."""
    times = {side: [factor * second for second in (1.0, 5.0, 1.0)] for side, factor in factors.items()}
    return 2 * [dict.fromkeys(REPEATS, times)]


def test_a_slow_turn_of_all_changes_no_ratio():
    found = summary(rounds({"before": 1.0, "before again": 1.01, "now": 1.2}))
    assert list(found) == list(REPEATS)
    for row in found.values():
        assert (round(row["ratio"], 12), round(row["noise"], 12)) == (1.2, 1.01)
        assert (row["seconds before"], row["seconds now"]) == (1.0, 1.2)
        assert len(row["ratio by round"]) == len(row["noise by round"]) == 2
    assert table(found).count("| 1.200 | 1.200 to 1.200 | 1.010 |") == len(REPEATS)


def test_a_side_times_a_case():
    """With this tree's code; the shortest case is asked for, because all of them take seconds."""
    assert SIDES == ("before", "before again", "now")
    side = Side(ROOT)
    assert 0 < side.seconds(list(REPEATS)[-1]) < 1
    side.end()
    assert side.process.returncode == 0
