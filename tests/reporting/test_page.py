"""The page is self-contained, and a browser shows all of it to every reader."""

import re

import numpy as np
import pytest

from fourierwalk.reporting import vector
from fourierwalk.reporting.claims import SIGNS, ShownClaim
from fourierwalk.reporting.page import Page
from fourierwalk.reporting.plots import bars, error_figure, legend, logarithmic, new_figure


def told_figure():
    figure, (axis,) = new_figure()
    logarithmic(axis, "powers", "decades")
    words = [f"cell {i} < {i + 1}\nseed {i}" for i in range(3)]
    bars(axis, [2, 4, 8], np.array([3.0, 2.0, 1.0]), np.array([0.1, 3.0, 0.2]), words, label="walk", marker="o")
    legend(figure)
    return figure


def page_with_everything():
    page = Page("A < B").heading("Numbers & words").text("x < y", "warn").text("small", "note")
    page.table("Errors", ["method", "error (%)", "fit (s)"], [["adaptive & more", "1.5 ± 0.1", 16]])
    wide = [f"a rather long name of column {i} (s)" for i in range(7)]
    page.table("Wide", ["K", *wide], [[2**i, *["0.1234 ± 0.0012"] * 7] for i in range(3)])
    page.heading("Claims").claims(
        [ShownClaim("It is so.", "Figure 2", verdict, "1 ± 0", "for some") for verdict in SIGNS]
    )
    return page.figure(told_figure(), "a line").figure([told_figure(), told_figure()], "two lines")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return page_with_everything().write(tmp_path_factory.mktemp("page") / "page.html")


def test_text_is_escaped_and_nothing_is_fetched():
    html = page_with_everything().html()
    assert "<title>A &lt; B</title>" in html
    assert "Numbers &amp; words" in html
    assert '<p class="warn">x &lt; y</p>' in html
    assert not re.search(r'(src|href)="(?!data:|#)', html)


def test_words_stand_left_and_numbers_right():
    html = page_with_everything().html()
    assert '<th scope="row" role="rowheader" class="text" data-label="method">adaptive &amp; more</th>' in html
    assert '<td role="cell" data-label="fit (s)">16</td>' in html


def test_the_contents_lead_to_every_heading():
    html = page_with_everything().html()
    targets = re.findall(r'<a href="#([^"]+)">([^<]+)</a>', html)
    headings = re.findall(r'<h2 id="([^"]+)">([^<]+)</h2>', html)
    assert targets == headings
    assert len(headings) == 2


def test_no_id_is_there_twice():
    ids = re.findall(r' id="([^"]+)"', page_with_everything().html())
    assert sorted(ids) == sorted(set(ids))


def test_a_row_that_does_not_fit_its_columns_is_refused():
    with pytest.raises(IndexError):
        Page("x").table("t", ["a", "b"], [["1"]])


def test_every_reader_sees_all_of_it(browser, written):
    browser.check(written)


def test_what_is_hidden_small_crossed_or_pale_is_found(browser, tmp_path):
    """The measure can fail."""
    figure, (axis,) = new_figure()
    axis.plot([0, 1], [0, 1])
    axis.text(0.5, 0.5, "one", size=4)
    axis.text(0.5, 0.5, "two")
    page = Page("Bad").figure(figure, "bad")
    page.fragment('<div style="width: 3000px">wide</div><p style="color: #bbb; background: #ccc">pale</p>')
    page.fragment('<div style="width: 50px; overflow: hidden; white-space: nowrap">cut off text</div>')
    found = browser.open(page.write(tmp_path / "bad.html"), 1280).measure()
    assert any("page is" in line for line in found["hidden"])
    assert any("scrolls" in line for line in found["hidden"])
    assert found["small"][0].endswith("one")
    assert "one and two" in found["crossed"]
    assert any("pale" in line for line in found["pale"])
    page = Page("Loud").fragment('<script>console.error("no")</script><img alt="" src="http://127.0.0.1:9/x.png">')
    browser.open(page.write(tmp_path / "loud.html"))
    kinds = {event["method"] for event in browser.complaints()}
    assert {"Runtime.consoleAPICalled", "Network.requestWillBeSent"} <= kinds


def test_verdicts_are_seen_on_a_phone(browser, written):
    browser.open(written, 400)
    boxes = browser.evaluate(
        "[...document.querySelectorAll('.claims .verdict')].map(e => { const b = e.getBoundingClientRect();"
        " return [e.innerText, b.left, b.right, b.height, getComputedStyle(e).backgroundColor] })"
    )
    assert [box[0].split(" ", 1)[1] for box in boxes] == list(SIGNS)
    assert all(box[1] >= 0 and box[2] <= 400 and box[3] > 10 for box in boxes)
    colors = {box[0].split(" ", 1)[1]: box[4] for box in boxes}
    assert len({colors[verdict] for verdict in list(SIGNS)[:4]}) == 4


def test_a_table_is_stacked_on_a_phone_and_keeps_its_names(browser, written):
    shown = "getComputedStyle(document.querySelector('.few tr td')).display"
    name = "getComputedStyle(document.querySelector('.few tr td'), '::before').content"
    browser.open(written, 1280)
    assert browser.evaluate(shown) == "table-cell"
    browser.open(written, 400)
    assert (browser.evaluate(shown), browser.evaluate(name)) == ("flex", '"error (%)"')


def test_pointing_at_a_mark_tells_its_cell(browser, written):
    browser.open(written, 1280)
    assert browser.evaluate("document.querySelectorAll('.point > title').length") == 0  # no second, native, tooltip
    browser.show("figure svg")
    place = "(() => { const b = document.querySelectorAll('.point')[1].getBoundingClientRect(); return [b.x, b.y] })()"
    x, y = browser.evaluate(place)
    browser.point_at(x + 3, y + 3)
    tip = "document.getElementById('tip')"
    assert browser.evaluate(f"{tip}.hidden ? '' : {tip}.textContent") == "cell 1 < 2\nseed 1"
    browser.point_at(5, 5)
    assert browser.evaluate(f"{tip}.hidden")


def test_the_arrow_keys_walk_over_the_marks(browser, written):
    browser.open(written, 1280)
    browser.show("figure svg")
    browser.evaluate("document.querySelector('figure svg').focus()")
    told = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        browser.press(key)
        told.append(browser.evaluate("document.getElementById('tip').textContent")[:6])
    assert told == ["cell 0", "cell 1", "cell 0"]
    browser.press("Escape")
    assert browser.evaluate("document.getElementById('tip').hidden")


def test_a_screen_reader_hears_tables_and_figures(browser, written):
    browser.open(written, 400)
    heard = {(node["role"]["value"], node["name"]["value"]) for node in browser.tree()}
    assert {("image", "a line"), ("navigation", "Contents"), ("table", "Errors"), ("cell", "error (%) 1.5 ± 0.1")} <= {
        (role.replace("img", "image"), name) for role, name in heard
    }


def test_marks_lie_where_their_numbers_are(tmp_path):
    """What is told belongs to the point: a lower error stands lower in the picture."""
    errors = {"walk": np.array([[4.0, 2.0, 1.0]] * 2)}
    figure = error_figure([2, 4, 8], errors, "error", {"walk": ["four", "two", "one"]})
    text = vector.inline(figure, "f", "label")
    heights = dict(re.findall(r'y="([\d.]+)"[^>]*class="point"><title>(\w+)', text))
    order = sorted(heights, key=float)
    assert [heights[y] for y in order] == ["four", "two", "one"]
