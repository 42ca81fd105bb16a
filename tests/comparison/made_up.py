"""A data folder and a checkout that are small enough for tests."""

import numpy as np

from fourierwalk.comparison import suite

FAKE = """
import os, sys
import numpy as np

class AdaptiveFourierRegressor:
    def __init__(self, n_frequencies, random_state):
        self.n_frequencies, self.seed = n_frequencies, random_state

    def fit(self, X, y):
        if self.n_frequencies == 13:
            raise ValueError("unlucky")
        if self.n_frequencies == 14:
            print("a last word", file=sys.stderr)
            os._exit(3)
        print("noise on standard output")
        k = 5 if self.n_frequencies == "auto" else self.n_frequencies
        self.frequencies_, self.regularization_ = np.zeros((k, X.shape[1])), 0.25
        return self

    def predict(self, X):
        return np.full(X.shape[0], 100.0 * self.seed + float(os.environ["OMP_NUM_THREADS"]))
"""

UCI_FILES = {"data": "1 2\n3 4\n5 6\n7 8\n", "index_features": "0\n", "index_target": "1\n"}


def data_folder(folder):
    """A data folder of two tables and three tiny UCI sets of four splits."""
    (folder / "tabular").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name, task, n in (("small", "regression", 60), ("large", "classification", 90)):
        x = rng.standard_normal((n, 2))
        y = x[:, 0] if task == "regression" else (x[:, 0] > 0).astype(int)
        test = np.arange(n)[:, None] % 3 == np.arange(3)
        np.savez(folder / "tabular" / f"{name}.npz", X=x, y=y, task=np.array(task), test=test)
    for name in suite.UCI:
        (folder / "uci" / name).mkdir(parents=True)
        files = UCI_FILES | {f"index_{part}_{i}": "0\n1\n2\n" for part in ("train", "test") for i in range(4)}
        for file, text in files.items():
            (folder / "uci" / name / f"{file}.txt").write_text(text)
    return folder


def mixed_folder(folder):
    """A data folder with a table of words, holes and numbers: the price of 600 cars by make, fuel and size."""
    rng = np.random.default_rng(0)
    makes, fuels, sizes = rng.integers(15, size=600), rng.integers(2, size=600), rng.standard_normal(600)
    prices = makes + 3 * fuels + 2 * sizes
    lines = [
        f"make{make},{'gas' if fuel else 'diesel'},{'' if number % 10 == 0 else size},{price}"
        for number, (make, fuel, size, price) in enumerate(zip(makes, fuels, sizes, prices, strict=True))
    ]
    (folder / "mixed").mkdir(parents=True)
    (folder / "mixed" / "cars.csv").write_text("\n".join(["make,fuel,size,price", *lines]) + "\n")
    return folder
