"""Fits an estimator of the `fourierwalk` on PYTHONPATH. It runs as a file and is asked through standard input.

Two pickled questions come in and two answers go out: training rows (fit), then test rows (predict).
It imports nothing from this package but the public estimators, so that any commit can be fitted.
"""

from __future__ import annotations

import pickle
import sys
import time
from typing import Any, BinaryIO

import numpy as np
from threadpoolctl import threadpool_limits


def main(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer both questions. An exception is sent as an answer."""
    try:
        asked = pickle.load(questions)
        with threadpool_limits(asked["threads"]):
            model, answer = fitted(asked)
            send(answers, answer)
            send(answers, {"predicted": np.asarray(model.predict(pickle.load(questions)))})
    except Exception as error:
        send(answers, {"failure": f"{type(error).__name__}: {error}"})


def fitted(asked: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The model, the seconds of its fit alone, and what it learnt."""
    import fourierwalk

    kind = getattr(fourierwalk, f"AdaptiveFourier{'Regressor' if asked['task'] == 'regression' else 'Classifier'}")
    warm_up(kind)
    model = kind(n_frequencies=asked["width"], random_state=asked["seed"], **asked["parameters"])
    start = time.perf_counter()
    model.fit(asked["x"], asked["y"])
    seconds = time.perf_counter() - start
    answer = {
        "seconds": seconds,
        "regularization": float(model.regularization_),
        "n_frequencies": len(model.frequencies_),
        "file": fourierwalk.__file__,
    }
    return model, answer


def warm_up(kind: Any) -> None:
    """Fit a tiny model, so that imports and compilation on first use do not count."""
    x = np.linspace(-1, 1, 60)[:, None]
    kind(n_frequencies=4, random_state=0).fit(x, (x[:, 0] > 0).astype(np.int64))


def send(answers: BinaryIO, answer: dict[str, Any]) -> None:
    """One answer, at once."""
    pickle.dump(answer, answers)
    answers.flush()


if __name__ == "__main__":
    replies = sys.stdout.buffer
    sys.stdout = sys.stderr  # what the estimator prints must not mix with the answers
    main(sys.stdin.buffer, replies)
