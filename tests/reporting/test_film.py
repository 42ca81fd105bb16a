"""The film moves: by slider, button, keys and clicks, with what it shows told to those who do not see it."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourierwalk.reporting.film import Film, Frame, moments, shoot
from fourierwalk.reporting.page import Page

X = np.linspace(-1, 1, 50)


class State(NamedTuple):
    """As a sampler yields it."""

    step: int
    frequencies: np.ndarray
    amplitudes: np.ndarray


def walk(n_steps, d=1):
    rng, omega = np.random.default_rng(0), np.zeros((6, d))
    for step in range(n_steps + 1):
        yield State(step, omega, rng.random((6, 2)) + 1j), None
        omega = omega + 40 * rng.standard_normal(omega.shape)


def look(state):
    return Frame(state.step, state.frequencies, state.amplitudes, X * state.step / 30, 1 / (1 + state.step))


def film(d=1, **options):
    frames = list(shoot(walk(30, d), moments(30, 9), look))
    curve = {"x": X} if d == 1 else {}
    return Film("A walk < its end", frames, X, **curve, error_name="test error", about="seed 7, commit abc", **options)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("film")
    return {d: Page("Film").heading("The walk").fragment(film(d).html()).write(folder / f"{d}.html") for d in (1, 2, 5)}


def data_of(markup):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', markup, re.S)[1])


def test_frames_are_the_states_that_were_yielded():
    states = {state.step: state for state, _ in walk(30)}
    data = data_of(film().html())
    assert [frame["step"] for frame in data["frames"]] == moments(30, 9)
    for frame in data["frames"]:
        state = states[frame["step"]]
        np.testing.assert_allclose(frame["first"], state.frequencies[:, 0], rtol=1e-3)
        np.testing.assert_allclose(frame["amplitudes"], np.linalg.norm(np.abs(state.amplitudes), axis=1), rtol=1e-3)
        np.testing.assert_allclose(frame["fit"], X * frame["step"] / 30, rtol=1e-3)


@given(st.integers(1, 100_000), st.integers(1, 200))
def test_moments_go_from_the_start_to_the_end(n_steps, n_frames):
    steps = moments(n_steps, n_frames)
    assert (steps[0], steps[-1]) == (0, n_steps)
    assert steps == sorted(set(steps))
    assert len(steps) <= n_frames + 1


def test_of_many_inputs_the_two_of_most_spread_are_shown():
    rng = np.random.default_rng(0)
    frequencies = rng.standard_normal((50, 4)) * [1, 9, 2, 7]
    frame = Frame(0, frequencies, np.ones(50), np.zeros(3), 1.0)
    data = data_of(Film("x", [frame, frame._replace(step=1)], np.zeros(3), inputs="abcd").html())
    assert data["names"] == ["ω of b", "ω of d"]
    np.testing.assert_allclose(data["frames"][0]["second"], frequencies[:, 3], rtol=1e-3)
    assert data_of(Film("x", [frame], np.zeros(3)).html())["names"] == ["ω₂", "ω₄"]


def test_text_cannot_break_out_of_its_data():
    html = film()
    broken = Film("t", html.frames, html.target, about="</script><script>alert(1)</script>").html()
    assert "</script><script>alert" not in broken
    assert data_of(broken)["about"] == "</script><script>alert(1)</script>"


def test_a_frame_that_is_not_finite_is_refused():
    frame = Frame(0, np.zeros((2, 1)), np.ones(2), np.array([np.nan]), 1.0)
    with pytest.raises(ValueError, match="JSON"):
        Film("x", [frame], np.zeros(1)).html()


@pytest.mark.parametrize("d", [1, 2, 5])
def test_every_reader_sees_all_of_it(browser, pages, d):
    browser.check(pages[d])


POSITIONS = """
({ dots: [...document.querySelectorAll(".scene:nth-child(1) .dot")].map(e => e.getAttribute("cx")),
   bars: [...document.querySelectorAll(".bar")].map(e => e.getAttribute("height")),
   fit: [...document.querySelectorAll(".fit, .spot")].map(e => e.getAttribute("d") ?? e.getAttribute("cy")),
   now: document.querySelector(".now").getAttribute("cx") })
"""


@pytest.mark.parametrize("d", [1, 2])
def test_the_slider_moves_everything(browser, pages, d):
    browser.open(pages[d])
    before = browser.evaluate(POSITIONS)
    browser.evaluate("document.querySelector('.film input').focus()")
    browser.press("ArrowRight")
    after = browser.evaluate(POSITIONS)
    assert all(before[part] != after[part] for part in before)
    assert browser.evaluate("document.querySelector('.film output').textContent").startswith("Step 1 of 30: test error")


def value(browser):
    return int(browser.evaluate("document.querySelector('.film input').value"))


@pytest.mark.parametrize("focused", [".film input", ".film"])
def test_keys(browser, pages, focused):
    browser.open(pages[1])
    browser.evaluate(f"document.querySelector('{focused}').focus()")
    last = len(moments(30, 9)) - 1
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft"):
        browser.press(key)
        seen.append(value(browser))
    assert seen == [1, 2, 1, last, last, 0, 0]


def test_space_and_button_play_and_pause(browser, pages):
    browser.open(pages[1])
    label = "document.querySelector('.film button').textContent"
    browser.evaluate("document.querySelector('.film').focus()")
    browser.press(" ")
    assert browser.evaluate(label) == "Pause"
    browser.until("document.querySelector('.film input').value >= 2")
    browser.press(" ")
    assert browser.evaluate(label) == "Play"
    browser.evaluate("document.querySelector('.film button').click()")
    browser.until(f"document.querySelector('.film input').value == {len(moments(30, 9)) - 1} && {label} == 'Play'")
    browser.evaluate("document.querySelector('.film button').click()")  # at the end it begins anew
    assert value(browser) < len(moments(30, 9)) - 1
    assert browser.complaints() == []


def test_nothing_plays_unasked_and_calm_readers_see_slow_steps(browser, pages):
    periods = {}
    for motion in ("no-preference", "reduce"):
        browser.open(pages[1], motion=motion)
        assert browser.evaluate("document.querySelector('.film button').textContent") == "Play"
        heard = "window.asked = []; const own = setInterval; window.setInterval = (f, t) => (asked.push(t), own(f, t))"
        browser.evaluate(heard)
        browser.evaluate("document.querySelector('.film button').click()")
        (periods[motion],) = browser.evaluate("asked")
    assert periods["reduce"] >= 1000 > periods["no-preference"]


def test_the_error_curve_tells_and_leads(browser, pages):
    browser.open(pages[1], 1280, 1400)
    dots = "[...document.querySelectorAll('.scene:nth-child(4) .dot')]"
    place = f"(() => {{ const b = {dots}[4].getBoundingClientRect(); return [b.x + 2, b.y + 2] }})()"
    x, y = browser.evaluate(place)
    browser.point_at(x, y)
    step = moments(30, 9)[4]
    assert browser.evaluate("document.getElementById('tip').textContent").startswith(f"step {step}: test error")
    assert browser.evaluate("document.getElementById('tip').textContent").endswith("seed 7, commit abc")
    browser.click(x, y)
    assert value(browser) == 4


def test_a_screen_reader_hears_what_moves(browser, pages):
    browser.open(pages[1])
    browser.evaluate("document.querySelector('.film input').focus()")
    browser.press("End")
    nodes = browser.tree()
    (slider,) = [node for node in nodes if node["role"]["value"] == "slider"]
    assert slider["name"]["value"] == "Step of the walk"
    told = browser.evaluate("document.querySelector('.film input').getAttribute('aria-valuetext')")
    assert told == "Step 30 of 30: test error 0.0323"
    names = {node["name"]["value"] for node in nodes}
    assert {"A walk < its end", "Play", "Every dot is a frequency with its amplitude."} <= names
    assert "test error over the steps." in names


def test_the_film_fits_the_window_that_is_turned(browser, pages):
    browser.open(pages[1], 400)
    narrow = browser.evaluate("document.querySelector('.scene svg .axis').getAttribute('d')")
    metrics = {"width": 900, "height": 400, "deviceScaleFactor": 1, "mobile": False}
    browser.call("Emulation.setDeviceMetricsOverride", **metrics)
    browser.until(f"document.querySelector('.scene svg .axis').getAttribute('d') != '{narrow}'")
    assert not any(browser.measure().values())


def test_the_example_of_the_docs_runs(tmp_path, monkeypatch, browser):
    text = (Path(__file__).parents[2] / "docs" / "pages.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "pages.md", "exec"), {})
    browser.check(tmp_path / "walk.html")
