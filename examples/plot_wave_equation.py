"""
A wave equation without a mesh
==============================

A string hangs between two walls. It is pulled up at one place and let go. Nothing is meshed: the equation, the walls
and the start are conditions at scattered points, and a sum of waves has to meet them all.
"""

import matplotlib.pyplot as plt
import numpy as np

from fourierwalk import AdaptiveFourierSolver
from fourierwalk.operators import Condition, Domain, d, identity

# %%
# **Conditions.** uₜₜ = uₓₓ for positions x between 0 and 1 and times t up to 1.6. Input 0 is x, input 1 is t.


def start(points):
    """A smooth bump that is zero at both walls."""
    x = points[:, 0]
    return np.exp(-(((x - 0.35) / 0.15) ** 2))


box = Domain([0, 0], [1, 1.6])
first = box.face(1, "lower", 400)
conditions = [
    Condition(d(1, 1) - d(0, 0), box.inside(3000), 0.0, name="equation"),
    Condition(identity(), box.boundary(800, [0]), 0.0, name="walls"),
    Condition(identity(), first, start, name="first position"),
    Condition(d(1), first, 0.0, name="first velocity"),
]
solver = AdaptiveFourierSolver(random_state=0).fit(conditions)
print("residuals at points that no condition has seen:")
for name, residual in solver.residuals_.items():
    print(f"{name:15} {residual:.1e}")

# %%
# **Check.** d'Alembert's formula is the exact solution: two half bumps run apart and are turned over at the walls.

x, t = np.meshgrid(np.linspace(0, 1, 200), np.linspace(0, 1.6, 320), indexing="ij")
points = np.column_stack([x.ravel(), t.ravel()])
u = solver.predict(points).reshape(x.shape)


def bump(position):
    """The start, continued beyond the walls: odd, with period 2."""
    position = (position + 1) % 2 - 1
    return np.sign(position) * np.exp(-(((np.abs(position) - 0.35) / 0.15) ** 2))


exact = (bump(x - t) + bump(x + t)) / 2
error = np.sqrt(np.mean((u - exact) ** 2) / np.mean(exact**2))
print(f"relative error {error:.1e}")

figure, axes = plt.subplots(1, 2, figsize=(12, 4.8), width_ratios=[1.3, 1])
picture = axes[0].imshow(
    u, extent=(0, 1.6, 0, 1), origin="lower", aspect="auto", cmap="RdBu_r", vmin=-1, vmax=1, interpolation="bicubic"
)
axes[0].set(title="A pulse between two walls", xlabel="time t", ylabel="position x")
figure.colorbar(picture, ax=axes[0], label="height u")
for step, moment in enumerate(np.linspace(0, 1.5, 7)):
    line = solver.predict(np.column_stack([x[:, 0], np.full(200, moment)]))
    axes[1].fill_between(
        x[:, 0], -step, line * 0.9 - step, color=plt.get_cmap("viridis")(step / 7), alpha=0.85, linewidth=0
    )
    axes[1].text(1.02, -step, f"t = {moment:.2f}", va="center", fontsize=9)
axes[1].set(title="Turned over at each wall", xlabel="position x", yticks=[], xlim=(0, 1))
axes[1].spines["left"].set_visible(False)
plt.show()
