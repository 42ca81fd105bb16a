"""The demo, at toy size: every method at every width, tables, and a page with all figures and a film."""

from fourierwalk import cli
from fourierwalk.paper import ways


def test_page_and_tables(tmp_path, capsys, browser):
    assert cli.main(["demo", "--small", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "default" in shown
    assert "K = 8" in shown
    path = tmp_path / "index.html"
    html = path.read_text()
    assert html.count("<svg ") == 7
    assert html.count("<table ") == 5
    assert html.count('class="film"') == 1
    assert "N = 300 training rows" in html
    assert "&quot;metropolis&quot;" in html
    browser.check(path)
    browser.open(path)
    tips = browser.evaluate("[...document.querySelectorAll('figure [data-tip]')].map(e => e.dataset.tip)")
    assert len(tips) == 2 * len(ways.METHODS) * 2
    assert all("seed 1: " in tip and " s\n" in tip and "commit " in tip for tip in tips)
