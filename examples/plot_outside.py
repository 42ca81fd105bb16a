"""
What happens outside the data
=============================

Between the data a model is as good as its validation says. Beyond them no model knows anything, and each kind is
wrong in its own way. It is good to have seen how.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from fourierwalk import AdaptiveFourierRegressor

rng = np.random.default_rng(0)
x = np.sort(np.concatenate([rng.uniform(-3, -0.6, 150), rng.uniform(0.6, 3, 150)]))
y = np.sin(3 * x) + 0.4 * x + 0.15 * rng.normal(size=x.size)
grid = np.linspace(-7, 7, 800)

# %%
# Four models see the same 300 rows, with a gap in the middle.

waves = AdaptiveFourierRegressor(random_state=0).fit(x[:, None], y)
free = AdaptiveFourierRegressor(clamp=False, random_state=0).fit(x[:, None], y)
process = GaussianProcessRegressor(RBF() + WhiteKernel(0.1), normalize_y=True).fit(x[:, None], y)
trees = HistGradientBoostingRegressor(random_state=0).fit(x[:, None], y)

figure, axes = plt.subplots(2, 2, figsize=(11, 6.6), sharex=True, sharey=True)
panels = [
    ("Adapted waves (default)", waves, "#2a6f97"),
    ("Adapted waves, clamp=False", free, "#6a4c93"),
    ("Gaussian process", process, "#4b8f6b"),
    ("Boosted trees", trees, "#d1495b"),
]
for panel, (title, model, colour) in zip(axes.flat, panels, strict=True):
    for edge in ((-7, -3), (-0.6, 0.6), (3, 7)):
        panel.axvspan(*edge, color="#e9e5da", linewidth=0)
    if model is not trees:
        mean, std = model.predict(grid[:, None], return_std=True)
        panel.fill_between(grid, mean - 2 * std, mean + 2 * std, color=colour, alpha=0.2, linewidth=0)
    panel.plot(x, y, ".", color="#5b6470", markersize=2.5)
    panel.plot(grid, np.sin(3 * grid) + 0.4 * grid, color="#1d2530", linewidth=0.8, linestyle="--")
    panel.plot(grid, model.predict(grid[:, None]), color=colour)
    panel.set(title=title, ylim=(-5, 5), xlim=(-7, 7))
for panel in axes[1]:
    panel.set_xlabel("x (shaded: no data)")
plt.show()

# %%
# - **Waves** go on oscillating. By default predictions are cut off a little beyond the range of the targets
#   (``clamp``), which is why the first panel has flat parts. The band, two standard deviations, grows: believe it.
# - **A Gaussian process** returns to the mean within a length scale.
# - **Trees** continue with the last value.
#
# None of them finds the dashed line. If you need a trend to continue, subtract it first, as in :ref:`the example of
# carbon dioxide <sphx_glr_auto_examples_plot_co2.py>`.
