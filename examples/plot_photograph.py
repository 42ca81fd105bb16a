"""
A photograph from 200 waves
===========================

A colour photograph is a function of two inputs with three outputs. Here 200 waves have to draw it. If their
frequencies are drawn at random once and for all, much of the budget is spent on waves that the picture does not need.
If the frequencies may move, the same number of waves draws eyes and fur.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data, transform

from fourierwalk import AdaptiveFourierRegressor

cat = transform.resize(data.chelsea()[20:280, 90:350] / 255.0, (112, 112), anti_aliasing=True)
axis = np.linspace(0, 1, 112)
rows, columns = np.meshgrid(axis, axis, indexing="ij")
X = np.column_stack([columns.ravel(), rows.ravel()])
colours = cat.reshape(-1, 3)


def drawn(model):
    """The picture that a model draws."""
    return np.clip(model.predict(X), 0, 1)


def decibels(picture):
    """The peak signal-to-noise ratio: more is better."""
    return -10 * np.log10(np.mean((picture - colours) ** 2))


# %%
# Random Fourier features draw all frequencies from N(0, σ²). We let them choose the best of three σ, by the error
# itself.

K = 200
candidates = [
    drawn(
        AdaptiveFourierRegressor(K, sampler="fixed", initial=spread, regularization=1e-5, random_state=0).fit(
            X, colours
        )
    )
    for spread in (8.0, 12.0, 18.0)
]
fixed = max(candidates, key=decibels)

# %%
# Now the frequencies move: 40 steps of descent on the loss, with the amplitudes solved for at every step.

model = AdaptiveFourierRegressor(K, sampler="descent", initial=12.0, n_steps=40, regularization=1e-5, random_state=0)
moved = drawn(model.fit(X, colours))

# %%
# Side by side. The last panel shows where the frequencies went. Each dot is a wave: its direction and how many
# times it repeats across the picture. Large dots carry large amplitudes.

figure, axes = plt.subplots(1, 4, figsize=(13, 3.6))
titles = [
    "The photograph",
    f"{K} random waves: {decibels(fixed):.1f} dB",
    f"{K} waves that moved: {decibels(moved):.1f} dB",
]
for panel, title, picture in zip(axes, titles, [cat, fixed, moved], strict=False):
    panel.imshow(picture.reshape(112, 112, 3), interpolation="bicubic")
    panel.set_title(title)
    panel.axis("off")
waves, amplitudes = model.model_.spectrum()
cycles = waves / (2 * np.pi)
strength = np.sqrt(np.sum(np.abs(amplitudes) ** 2, axis=1))
for sign in (1, -1):
    axes[3].scatter(
        *(sign * cycles.T),
        s=8 + 150 * strength / strength.max(),
        c=np.log(strength),
        cmap="plasma",
        alpha=0.75,
        linewidths=0,
    )
for line in (axes[3].axhline, axes[3].axvline):
    line(0, color="#5b6470", linewidth=0.8, zorder=0)
axes[3].set(title="Where the waves went", box_aspect=1, xlim=(-14, 14), ylim=(-14, 14), xticks=[], yticks=[])
axes[3].text(14, -13.8, "edges: 14 cycles", ha="right", fontsize=9)
axes[3].spines[["left", "bottom"]].set_visible(False)
plt.show()

# %%
# A photograph has edges, and edges are hard for waves. A compressor for photographs would use blocks or wavelets.
# The point here is another one: at the same budget, adapted frequencies beat random ones by some decibels.
