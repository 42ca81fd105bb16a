"""
Drift and diffusion from snapshots
==================================

A particle is pushed by a force that we do not know, and shaken by noise that we do not know. All that we have are
pairs of snapshots: where it was, and where it was a moment later. Two regressions give both back.
"""

import matplotlib.pyplot as plt
import numpy as np

from fourierwalk import AdaptiveFourierRegressor

# %%
# **The data.** dX = b(X) dt + s(X) dW in the plane: two valleys with a current that goes round, and noise that is
# stronger on the right. Many particles start somewhere; each is seen twice, Δ apart.

rng = np.random.default_rng(0)
interval = 0.02


def drift(x):
    """The force: down the potential (x₀² − 1)² + x₁², and a rotation."""
    return np.column_stack([-4 * x[:, 0] * (x[:, 0] ** 2 - 1) - x[:, 1], -2 * x[:, 1] + x[:, 0]])


def noise(x):
    """The strength of the noise."""
    return 0.5 + 0.3 * np.tanh(2 * x[:, 0])


before = rng.uniform(-1.7, 1.7, size=(20_000, 2))
after = before.copy()
for _ in range(20):
    after += drift(after) * interval / 20 + noise(after)[:, None] * rng.normal(size=after.shape) * np.sqrt(
        interval / 20
    )

# %%
# **Two regressions.** The mean of a displacement is b(x)Δ. The mean of its square, without the drift's share, is 2
# s(x)²Δ. Each displacement is mostly noise: the drift explains a third of its variance. Validation rows keep the
# models from fitting noise.

moved = (after - before) / interval
force = AdaptiveFourierRegressor(64, random_state=0).fit(before, moved)
shaken = np.sum((after - before - force.predict(before) * interval) ** 2, axis=1) / (2 * interval)
strength = AdaptiveFourierRegressor(64, random_state=0).fit(before, shaken)

grid = np.linspace(-1.5, 1.5, 80)
a, b = np.meshgrid(grid, grid)
points = np.column_stack([a.ravel(), b.ravel()])
found, true = force.predict(points), drift(points)
found_noise = np.sqrt(np.maximum(strength.predict(points), 0))
print(f"R² of the displacements: {force.score(before, moved):.3f}")
print(f"relative error of the drift: {np.linalg.norm(found - true) / np.linalg.norm(true):.3f}")
print(f"relative error of the noise: {np.linalg.norm(found_noise - noise(points)) / np.linalg.norm(noise(points)):.3f}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(13, 4.2))
some = slice(0, 700)
axes[0].quiver(
    *before[some].T, *(after - before)[some].T, angles="xy", scale_units="xy", scale=1, width=0.0025, color="#5b6470"
)
axes[0].set_title("Seen: 20,000 displacements")
speed = np.linalg.norm(found, axis=1).reshape(a.shape)
axes[1].streamplot(a, b, *found.T.reshape(2, *a.shape), color=speed, cmap="plasma", density=1.3, linewidth=1.4)
axes[1].set_title("Found: the drift")
shade = axes[2].contourf(a, b, found_noise.reshape(a.shape), levels=14, cmap="viridis")
lines = axes[2].contour(a, b, noise(points).reshape(a.shape), levels=[0.3, 0.5, 0.7], colors="white", linewidths=1.2)
axes[2].clabel(lines)
axes[2].set_title("Found: the noise (white: true)")
figure.colorbar(shade, ax=axes[2], label="s(x)", shrink=0.8)
for panel in axes:
    panel.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", xlabel="x₀")
axes[0].set_ylabel("x₁")
plt.show()
