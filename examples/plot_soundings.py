"""
A sea floor from scattered soundings
====================================

A ship measures the depth where it happens to be. From 2,000 such soundings around Vancouver Island we draw the land
and the sea floor, with a map of how far off it may be.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cbook
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

from fourierwalk import AdaptiveFourierRegressor

with cbook.get_sample_data("topobathy.npz") as file:
    height, longitude, latitude = file["topo"], file["longitude"] - 360.0, file["latitude"]
east, north = np.meshgrid(longitude, latitude)
everywhere = np.column_stack([east.ravel() * np.cos(np.deg2rad(49)), north.ravel()]) * 111.2  # kilometres
truth = height.ravel() / 1000.0

# %%
# **Soundings.** 2,000 points of the grid, fewer than one in five. There are fjords, ranges of 2,000 m and a shelf:
# far from one smooth hill.

rng = np.random.default_rng(0)
seen = rng.choice(len(truth), 2000, replace=False)
model = AdaptiveFourierRegressor(n_frequencies=640, random_state=0).fit(everywhere[seen], truth[seen])
map_, spread = model.predict(everywhere, return_std=True)

unseen = np.setdiff1d(np.arange(len(truth)), seen)
error = np.sqrt(np.mean((map_ - truth)[unseen] ** 2))
low, high = model.predict_interval(everywhere[unseen], 0.9).T
inside = np.mean((truth[unseen] > low) & (truth[unseen] < high))
print(f"{model.n_frequencies_} waves; heights vary by {1000 * truth.std():.0f} m")
print(f"error where nobody measured: {1000 * error:.0f} m")
print(f"{inside:.0%} of the other points are inside their 90 % intervals")

# %%
sea, land = plt.get_cmap("GnBu_r")(np.linspace(0, 0.85, 128)), plt.get_cmap("YlOrBr")(np.linspace(0.15, 1, 128))
colours = LinearSegmentedColormap.from_list("relief", np.vstack([sea, land]))
relief = {"cmap": colours, "norm": TwoSlopeNorm(0, -1.5, 2.2)}
figure, axes = plt.subplots(2, 2, figsize=(11, 7.4), sharex=True, sharey=True)
axes[0, 0].scatter(east.ravel()[seen], north.ravel()[seen], c=truth[seen], s=7, **relief)
axes[0, 0].set_title("2,000 soundings")
picture = axes[0, 1].pcolormesh(east, north, map_.reshape(east.shape), shading="nearest", **relief)
axes[0, 1].set_title(f"The map: {model.n_frequencies_:,} waves")
axes[1, 0].pcolormesh(east, north, height / 1000, shading="nearest", **relief)
axes[1, 0].set_title("The truth")
doubt = axes[1, 1].pcolormesh(
    east,
    north,
    1000 * spread.reshape(east.shape),
    shading="nearest",
    cmap="magma",
    vmax=1000 * np.quantile(spread, 0.99),
)
axes[1, 1].set_title("How far off it may be")
for panel in axes.flat:
    panel.contour(east, north, height, levels=[0], colors="#1d2530", linewidths=0.6)
    panel.set(aspect=1 / np.cos(np.deg2rad(49)), xticks=[-125, -124, -123, -122])
for panel in axes[1]:
    panel.set_xlabel("longitude")
for panel in axes[:, 0]:
    panel.set_ylabel("latitude")
figure.colorbar(picture, ax=axes[0, 1], label="height in km")
figure.colorbar(doubt, ax=axes[1, 1], label="standard deviation in m")
plt.show()

# %%
# The black line is the true coast; the model has not seen it. Standard deviations are larger in the mountains,
# where heights change from point to point.
