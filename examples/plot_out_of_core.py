"""
Rows that do not fit
====================

A table of six million rows lies on the disk as a memory map. The fit reads it in pieces: frequencies are found on a
sample that stays in memory, and one pass over all rows gives the amplitudes. Memory does not grow with the file.
"""

import shutil
import tempfile
import time
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from fourierwalk import AdaptiveFourierRegressor

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)


def truth(X):
    """Six inputs, of which five matter, as in Friedman's problem."""
    return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def written(n_rows):
    """Write inputs and noisy targets in pieces, as a program would that never holds them all."""
    X = np.lib.format.open_memmap(folder / f"X{n_rows}.npy", "w+", shape=(n_rows, 6))
    y = np.lib.format.open_memmap(folder / f"y{n_rows}.npy", "w+", shape=(n_rows,))
    for start in range(0, n_rows, 100_000):
        piece = rng.uniform(size=(min(100_000, n_rows - start), 6))
        X[start : start + len(piece)], y[start : start + len(piece)] = piece, truth(piece) + rng.normal(size=len(piece))
    return folder / f"X{n_rows}.npy", folder / f"y{n_rows}.npy"


# %%
# **Three files.** The last has a hundred times as many rows as the first. ``fit`` gets memory maps; everything else is
# decided by itself. ``tracemalloc`` counts the bytes that NumPy and Python allocate.

sizes = [60_000, 600_000, 6_000_000]
fresh = rng.uniform(size=(20_000, 6))
megabytes, seconds, errors, peaks = [], [], [], []
for n_rows in sizes:
    X, y = (np.load(path, mmap_mode="r") for path in written(n_rows))
    tracemalloc.start()
    start = time.perf_counter()
    model = AdaptiveFourierRegressor(n_frequencies=64, random_state=0).fit(X, y)
    seconds.append(time.perf_counter() - start)
    peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()
    megabytes.append((X.nbytes + y.nbytes) / 1e6)
    errors.append(np.sqrt(np.mean((model.predict(fresh) - truth(fresh)) ** 2)))
print("\n".join(model.history_.decisions))
shutil.rmtree(folder)

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4))
place = np.arange(3)
names = [f"{n:,}" for n in sizes]
axes[0].bar(place - 0.2, megabytes, 0.38, color="#edae49", label="file")
axes[0].bar(place + 0.2, peaks, 0.38, color="#2a6f97", label="peak memory of the fit")
axes[0].set(title="The file grows, the memory does not", ylabel="MB", xticks=place, xticklabels=names, xlabel="rows")
axes[0].legend(loc="upper left")
axes[1].bar(place, seconds, 0.6, color="#d1495b")
axes[1].set(
    title=f"{sizes[-1] // sizes[0]} times the rows, {seconds[-1] / seconds[0]:.0f} times the seconds",
    ylabel="seconds of the fit",
    xticks=place,
    xticklabels=names,
    xlabel="rows",
    ylim=(0, 1.2 * max(seconds)),
)
for index in place:
    label = f"error\n{errors[index]:.2f}"
    axes[1].annotate(label, (index, seconds[index]), (0, 5), textcoords="offset points", ha="center")
plt.show()

# %%
# The error is that of fresh rows against the truth, beside noise of size 1. Frequencies are found on a sample, so the
# error does not fall with every row. The amplitudes are those of all rows.
