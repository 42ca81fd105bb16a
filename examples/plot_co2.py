"""
Carbon dioxide: trend, season and error bars
============================================

The air above Mauna Loa has been measured since 1958. The weekly record has a trend, a season and gaps. One model
finds both, and says how sure it is, also about three years that we hide from it.
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

from fourierwalk import AdaptiveFourierRegressor

weekly = sm.datasets.co2.load_pandas().data["co2"].dropna()
year = weekly.index.year.to_numpy() + (weekly.index.day_of_year.to_numpy() - 0.5) / 365.25
ppm = weekly.to_numpy()
hidden = (year > 1979) & (year < 1982)

# %%
# **Inputs.** A sum of waves does not continue a trend, so a parabola goes first and the waves get what is left. The
# time of the year is a cycle: its cosine and sine are inputs, beside the time itself.

parabola = np.polynomial.Polynomial.fit(year[~hidden], ppm[~hidden], 2)


def inputs(time):
    """The time, and where in the year it is."""
    return np.column_stack([time, np.cos(2 * np.pi * time), np.sin(2 * np.pi * time)])


# %%
# **Neighbours in time.** A week resembles the weeks beside it. If single weeks were held out, validation would
# reward a model that copies neighbours, and error bars would be too small. So whole years are held out together:
# ``groups`` says so.

model = AdaptiveFourierRegressor(standardize=True, random_state=0)
model.fit(inputs(year[~hidden]), (ppm - parabola(year))[~hidden], groups=np.floor(year[~hidden]))

grid = np.arange(1958.25, 2002.0, 1 / 52)
mean = parabola(grid) + model.predict(inputs(grid))
low, high = (parabola(grid)[:, None] + model.predict_interval(inputs(grid), 0.95)).T

inside = (ppm[hidden] > np.interp(year[hidden], grid, low)) & (ppm[hidden] < np.interp(year[hidden], grid, high))
error = np.sqrt(np.mean((ppm[hidden] - np.interp(year[hidden], grid, mean)) ** 2))
print(
    f"hidden years: root mean square error {error:.2f} ppm, {inside.mean():.0%} of the weeks inside the 95 % interval"
)

# %%
# **The picture.** Above, the record with the model's 95 % interval, and the hidden years enlarged. Below, the
# season that the model has found. It swings a little more widely in 1990 than in 1960: the plants of the northern
# hemisphere breathe more deeply.

figure, axes = plt.subplot_mosaic(
    [["record", "hidden"], ["season", "season"]], figsize=(10, 7), width_ratios=[1.7, 1], height_ratios=[1.35, 1]
)
for name in ("record", "hidden"):
    panel = axes[name]
    panel.fill_between(grid, low, high, color="#2a6f97", alpha=0.25, linewidth=0, label="95 % interval")
    panel.plot(grid, mean, color="#2a6f97", linewidth=1, label="model")
    panel.plot(year[~hidden], ppm[~hidden], ".", color="#5b6470", markersize=1.5, label="measured")
    panel.plot(year[hidden], ppm[hidden], ".", color="#d1495b", markersize=4, label="hidden from the fit")
axes["record"].set(title="CO₂ above Mauna Loa", xlabel="year", ylabel="CO₂ in ppm")
axes["record"].legend(loc="upper left", markerscale=2)
axes["hidden"].set(
    title="The hidden years", xlabel="year", xlim=(1978.5, 1982.5), ylim=(330, 346), xticks=[1979, 1980, 1981, 1982]
)

months = np.linspace(0, 1, 200)
colours = plt.get_cmap("viridis")
for start in (1960, 1970, 1980, 1990, 2000):
    season = model.predict(inputs(start + months))
    axes["season"].plot(
        12 * months, season - season.mean(), color=colours((start - 1960) / 45), label=str(start), linewidth=2.2
    )
axes["season"].set(
    title="The season",
    ylabel="ppm above the year's mean",
    xlim=(0, 12),
    xticks=np.arange(12) + 0.5,
    xticklabels=list("JFMAMJJASOND"),
)
axes["season"].axhline(0, color="#5b6470", linewidth=0.6)
axes["season"].legend(ncols=5, loc="lower left")
plt.show()
