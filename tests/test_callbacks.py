import numpy as np
import pytest

from fourierwalk import AdaptiveFourierRegressor

pytest.importorskip("sklearn.callback")


class Recorder:
    """A callback that writes down what it is told, and may end the fit at some task."""

    def __init__(self, end_at=""):
        self.tasks, self.calls, self.end_at = [], [], end_at

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.calls.append("begin")

    def on_fit_task_end(self, estimator, context):
        self.tasks.append(context.task_name)
        return bool(self.end_at) and self.end_at in context.task_name


def fitted(recorder, **settings):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1200, 2))
    model = AdaptiveFourierRegressor(256, random_state=0, **settings)
    return model.set_callbacks(recorder).fit(x, np.sin(2 * x[:, 0]) + 0.1 * rng.standard_normal(1200))


def test_callbacks_are_told_of_every_decision_of_a_search():
    recorder = Recorder()
    model = fitted(recorder)
    assert recorder.calls[0] == "setup"
    assert recorder.calls[-1] == "teardown"
    assert recorder.tasks[-1] == "fit"
    assert set(recorder.tasks[:-1]) <= set(model.history_.decisions)
    assert any("frequencies: held-out error" in task for task in recorder.tasks)


def test_a_callback_ends_a_fit_with_the_best_model_so_far():
    model = fitted(Recorder("of 16 frequencies"))
    assert "a callback ended the fit: the best model so far" in model.history_.decisions
    assert len(model.history_.infos) < len(fitted(Recorder()).history_.infos)
    assert np.all(np.isfinite(model.predict(np.zeros((3, 2)))))


def test_a_fit_that_fails_tears_its_callbacks_down():
    recorder = Recorder()
    with pytest.raises(ValueError, match="max_seconds"):
        fitted(recorder, max_seconds=-1)
    assert recorder.calls in ([], ["setup", "teardown"])


def test_fits_without_callbacks_have_nothing_to_tell():
    x = np.linspace(-1, 1, 150)[:, None]
    model = AdaptiveFourierRegressor(8, random_state=0).fit(x, x[:, 0])
    assert not hasattr(model, "_callback_fit_ctx")
