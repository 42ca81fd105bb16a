"""
A surrogate of a simulation, with its slopes and Sobol indices
==============================================================

A simulation takes four inputs and some time. We run it 500 times, fit the outcome, and ask the fitted function what
we could not ask the simulation: its exact slopes, and which inputs matter, in closed form.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.stats import qmc

from fourierwalk import AdaptiveFourierRegressor
from fourierwalk.calculus import Uniform

# %%
# **The simulation.** An epidemic: susceptible, infected and recovered people, with a lockdown that begins on some
# day. The outcome is the largest share of people who are ill at the same time.

names = ["contacts a day", "days ill", "lockdown starts on day", "contacts left in lockdown"]
lower, upper = np.array([0.2, 4.0, 10.0, 0.3]), np.array([0.6, 12.0, 60.0, 0.9])


def peak(inputs):
    """The largest share of ill people."""
    contacts, days, start, left = inputs

    def change(t, state):
        infected = contacts * (left + (1 - left) / (1 + np.exp(t - start))) * state[0] * state[1]
        return [-infected, infected - state[1] / days]

    return solve_ivp(change, (0, 250), [0.999, 0.001], max_step=4.0, rtol=1e-5).y[1].max()


X = qmc.scale(qmc.Sobol(4, seed=0).random(512), lower, upper)
y = np.array([peak(row) for row in X])
model = AdaptiveFourierRegressor(standardize=True, random_state=0).fit(X[:400], y[:400])
print(f"R² at 112 runs that the fit has not seen: {model.score(X[400:], y[400:]):.4f}")

# %%
# **Questions to the surrogate.** A derivative multiplies each amplitude by its frequency; an integral over a box is
# a product of one factor per input. No sampling is needed for either.

sobol = model.model_.sobol(Uniform(lower, upper))
side = np.linspace(0, 1, 60)
plane = np.tile([0.4, 8.0, 35.0, 0.5], (3600, 1))
plane[:, 0], plane[:, 2] = (a.ravel() for a in np.meshgrid(lower[0] + side * 0.4, lower[2] + side * 50))
value = model.predict(plane).reshape(60, 60)
slopes = model.model_.gradient(plane).reshape(60, 60, 4)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), width_ratios=[1.25, 1])
a, b = plane[:, 0].reshape(60, 60), plane[:, 2].reshape(60, 60)
filled = axes[0].contourf(a, b, 100 * value, levels=16, cmap="magma")
axes[0].contour(a, b, 100 * value, levels=16, colors="white", linewidths=0.3)
few = np.s_[4::9, 4::9]
axes[0].quiver(
    a[few], b[few], -slopes[few][..., 0] * 0.4, -slopes[few][..., 2] * 50, color="#fbfaf7", width=0.004, angles="uv"
)
axes[0].set(title="Arrows point to fewer ill people", xlabel=names[0], ylabel=names[2])
figure.colorbar(filled, label="ill at the peak, %")
place = np.arange(4)
axes[1].barh(place + 0.19, sobol.total, 0.36, color="#d1495b", label="total")
axes[1].barh(place - 0.19, sobol.first, 0.36, color="#2a6f97", label="alone")
axes[1].set(title="Which inputs matter", xlabel="Sobol index: share of the variance", yticks=place, yticklabels=names)
axes[1].legend()
plt.show()

# %%
# Where the bars "total" are longer than "alone", an input matters together with others: an early lockdown helps if
# contacts are many.
