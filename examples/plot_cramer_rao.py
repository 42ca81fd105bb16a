"""
One frequency in noise, against the Cramér–Rao bound
====================================================

How well can the frequency of a tone be measured from 128 noisy samples? The Cramér–Rao bound says what no unbiased
estimator can beat. A Fourier transform alone stops at the width of its bins. One adapted frequency follows the bound
over sixty decibels.
"""

import matplotlib.pyplot as plt
import numpy as np

from fourierwalk import AdaptiveFourierRegressor

N, TRIALS = 128, 40
time = np.arange(N) - (N - 1) / 2
X = time[:, None]
bins = np.arange(1, N // 2) * 2 * np.pi / N


def estimates(y):
    """The frequency by the highest bin of a Fourier transform, and after it was allowed to move."""
    first = bins[np.argmax(np.abs(np.exp(-1j * np.outer(bins, time)) @ y))]
    model = AdaptiveFourierRegressor(
        1,
        sampler="descent",
        initial=[[first]],
        n_steps=30,
        regularization=1e-12,
        standardize=False,
        early_stopping=False,
    )
    return first, abs(float(model.fit(X, y).frequencies_[0, 0]))


# %%
# **Trials.** A tone of amplitude 1 with a random frequency and phase, and white noise. For each noise level 40
# tones are estimated.
#
# The bound for the frequency of a tone of amplitude A in noise of variance σ², with N samples one unit apart, is 24
# σ² / (A² N (N² − 1)).

rng = np.random.default_rng(0)
ratios = np.arange(-12, 61, 6)  # decibels: power of the tone over power of the noise
errors = np.empty((len(ratios), TRIALS, 2))
for row, ratio in enumerate(ratios):
    sigma = np.sqrt(0.5 * 10 ** (-ratio / 10))
    for trial in range(TRIALS):
        omega, phase = rng.uniform(0.3, 2.8), rng.uniform(0, 2 * np.pi)
        y = np.cos(omega * time + phase) + sigma * rng.normal(size=N)
        errors[row, trial] = np.array(estimates(y)) - omega
measured = np.sqrt(np.mean(errors**2, axis=1))
bound = np.sqrt(24 * 0.5 * 10 ** (-ratios / 10) / (N * (N**2 - 1)))
print("error over the bound, by noise level:", (measured[:, 1] / bound).round(2))

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), width_ratios=[1, 1.25])
sigma = np.sqrt(0.5)
y = np.cos(0.37 * time + 1) + sigma * rng.normal(size=N)
axes[0].plot(time, y, ".", color="#8d99ae", label="samples at 0 dB")
axes[0].plot(time, np.cos(0.37 * time + 1), color="#edae49", linewidth=3, alpha=0.7, label="the tone")
model = AdaptiveFourierRegressor(
    1, sampler="descent", initial=[[0.35]], n_steps=30, regularization=1e-12, standardize=False
)
axes[0].plot(time, model.fit(X, y).predict(X), color="#2a6f97", linewidth=1.2, label="found")
axes[0].set(title="A tone in noise", xlabel="sample", xlim=(-64, 64), ylim=(-3.4, 4.4))
axes[0].legend(ncols=3, loc="upper center", columnspacing=1, handlelength=1.2)
axes[1].semilogy(ratios, measured[:, 0], "s--", color="#d1495b", label="highest bin of the Fourier transform")
axes[1].semilogy(ratios, measured[:, 1], "o", color="#2a6f97", markersize=8, label="one adapted frequency")
axes[1].semilogy(ratios, bound, color="#1d2530", linewidth=1.2, label="Cramér–Rao bound")
axes[1].set(
    title="Error of the frequency",
    xlabel="signal-to-noise ratio in dB",
    ylabel="root mean square error, rad per sample",
)
axes[1].legend()
plt.show()

# %%
# At −6 dB and below both fail together: the highest bin is sometimes a peak of the noise, and no local move can
# mend that. This threshold is known for every estimator of this kind.
