"""
A chirp out of noise
====================

Two stars spiral into each other: a tone that becomes higher and louder until it stops. The detector hears it in noise
as strong as itself, at moments that are not evenly spaced. A filter needs a bandwidth. Adapted frequencies find theirs,
come as close as the best filter that the truth itself could pick, and say how far off they may be.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import savgol_filter

from fourierwalk import AdaptiveFourierRegressor


def chirp(time):
    """The signal: amplitude and frequency grow as the distance to the end shrinks."""
    left = 1.05 - time
    return 0.5 * left**-0.25 * np.sin(2 * np.pi * 20 * (1 - left**0.375))


def listen(seed):
    """Moments, and what is heard at them: the signal, and noise of the same size."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.uniform(0, 1, 3000))
    clean = chirp(time)
    return time, clean + clean.std() * rng.normal(size=time.size)


def error(estimate, time):
    """The root mean square error, in units of the signal."""
    return np.sqrt(np.mean((estimate - chirp(time)) ** 2)) / chirp(time).std()


# %%
# **Ours.** No bandwidth is given. The spread of the frequencies, the width of the model and λ are chosen on validation
# rows.

time, heard = listen(seed=0)
model = AdaptiveFourierRegressor(128, random_state=0).fit(time[:, None], heard)
found = model.predict(time[:, None])
low, high = model.predict_interval(time[:, None], 0.95).T
later, heard_later = listen(seed=1)
low_later, high_later = model.predict_interval(later[:, None], 0.95).T
print(
    f"{np.mean((heard_later > low_later) & (heard_later < high_later)):.1%} of other samples are inside 95 % intervals"
)


# %%
# **A filter.** A Savitzky–Golay filter takes the samples as if they were evenly spaced. Its window is the best of
# many, picked by the true error: no one could pick it so well in earnest. Ten repeats show how much of the difference
# is luck.


def best_filter(time, heard):
    """The filter of the least true error."""
    filtered = (savgol_filter(heard, window, 3) for window in range(11, 400, 10))
    return min(filtered, key=lambda estimate: error(estimate, time))


def both_errors(seed):
    """Of the best filter, and of ours."""
    time, heard = listen(seed)
    ours = AdaptiveFourierRegressor(128, random_state=0).fit(time[:, None], heard).predict(time[:, None])
    return error(best_filter(time, heard), time), error(ours, time)


errors = np.array([both_errors(seed) for seed in range(10)])
print("error over the signal's own size, mean of ten: filter {:.3f}, ours {:.3f}".format(*errors.mean(axis=0)))

# %%
figure, axes = plt.subplot_mosaic([["all", "all"], ["end", "repeats"]], figsize=(10, 7), width_ratios=[1.6, 1])
for name in ("all", "end"):
    panel = axes[name]
    panel.plot(time, heard, ".", color="#8d99ae", markersize=3, label="heard")
    panel.fill_between(time, low, high, color="#2a6f97", alpha=0.15, linewidth=0, label="95 % interval")
    panel.plot(time, chirp(time), color="#1d2530", linewidth=1, label="the truth")
    panel.plot(time, found, color="#d1495b", linewidth=2.4, label="adapted frequencies")
    panel.set(xlabel="time in s", ylabel="strain", ylim=(-2, 2))
axes["end"].plot(time, best_filter(time, heard), color="#edae49", linewidth=1.6, label="the best filter")
axes["end"].set(title="The end, with the best filter", xlim=(0.8, 1))
axes["end"].legend(*(part[4:] for part in axes["end"].get_legend_handles_labels()), loc="lower left")
axes["all"].set(title="Noise as strong as the signal", xlim=(0, 1))
axes["all"].legend(loc="upper left", ncols=4, markerscale=3)
axes["repeats"].plot(errors.T, "o-", color="#8d99ae", linewidth=1, markersize=5)
axes["repeats"].plot(errors.mean(axis=0), "D", color="#d1495b", markersize=9)
axes["repeats"].set(
    title="Ten repeats, and their mean",
    xticks=[0, 1],
    xticklabels=["the best filter,\nby the truth", "adapted,\nwithout it"],
    ylabel="error / signal",
    xlim=(-0.5, 1.5),
    ylim=(0, None),
)
plt.show()
