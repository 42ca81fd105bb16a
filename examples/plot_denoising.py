"""
A chirp out of noise
====================

Two stars spiral into each other: a tone that becomes higher and louder until it stops. The detector hears it in noise
as strong as itself, at moments that are not evenly spaced. A filter wants even samples and one bandwidth. Adapted
frequencies are told neither, and come as close as the best filter that the truth itself could pick.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import savgol_filter

from fourierwalk import AdaptiveFourierRegressor


def chirp(t):
    """The signal: amplitude and frequency grow as the distance to the end shrinks."""
    left = 1.05 - t
    return 0.5 * left**-0.25 * np.sin(2 * np.pi * 20 * (1 - left**0.375))


rng = np.random.default_rng(2)
time = np.sort(rng.uniform(0, 1, 3000))
clean = chirp(time)
noise = clean.std()
heard = clean + noise * rng.normal(size=time.size)

# %%
# **Ours.** No bandwidth is given. The kernel that explores, the width of the model and λ are chosen on validation
# rows.

model = AdaptiveFourierRegressor(64, random_state=0).fit(time[:, None], heard)
found = model.predict(time[:, None])

# %%
# **A filter.** A Savitzky–Golay filter, which takes the samples as if they were evenly spaced. Its window is the
# best of many, picked by the true error: no one could pick it so well in earnest.

filtered = min(
    (savgol_filter(heard, window, 3) for window in range(11, 400, 10)), key=lambda f: np.mean((f - clean) ** 2)
)


def error(estimate):
    """The root mean square error, in units of the signal."""
    return np.sqrt(np.mean((estimate - clean) ** 2)) / clean.std()


print(f"error over the signal's own size: filter {error(filtered):.2f}, ours {error(found):.2f}")

# %%
figure, axes = plt.subplots(3, 1, figsize=(10, 7), sharex=True, height_ratios=[1, 1.1, 1.1])
axes[0].plot(time, heard, ".", color="#8d99ae", markersize=2)
axes[0].set(title="Heard: 3,000 samples, noise as strong as the signal", ylabel="strain")
for panel, estimate, name, colour in (
    (axes[1], filtered, "the best filter", "#edae49"),
    (axes[2], found, "adapted frequencies", "#2a6f97"),
):
    panel.plot(time, clean, color="#1d2530", linewidth=1, label="the truth")
    panel.plot(time, estimate, color=colour, linewidth=2.4, alpha=0.85, label=name)
    panel.set(title=f"{name.capitalize()}: error {error(estimate):.2f}", ylabel="strain", ylim=(-1.3, 1.3), xlim=(0, 1))
    panel.legend(loc="upper left", ncols=2)
axes[2].set_xlabel("time in s")
plt.show()
