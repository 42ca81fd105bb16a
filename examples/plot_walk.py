"""
The walk itself, as a film
==========================

Sixty-four frequencies start at zero. At every step each of them makes a small random move, and the amplitudes are
solved for. A move is kept if the amplitude grows by it, and sometimes if it does not. After a while the frequencies
lie where the Fourier transform of the target is large: nobody told them where that is.
"""

from itertools import chain

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import sici

from fourierwalk.data import ComplexExponentials, Rows
from fourierwalk.reporting.film import Film, Frame, moments, shoot
from fourierwalk.reporting.page import Page
from fourierwalk.sampling import Metropolis, RandomWalk
from fourierwalk.solving import LeastSquares

# %%
# **The target** is that of the paper's Case 1, with a = 0.1: a jump that is smoothed a little, under a bell. Its
# transform has a long tail.

rng = np.random.default_rng(0)
x = np.sort(rng.normal(size=1500))
y = sici(x / 0.1)[0] * np.exp(-(x**2) / 2)

# %%
# **The walk** is one page of code, and can be driven by hand. ``minimize`` takes frequencies to amplitudes; the
# sampler knows nothing else about the data. We take a picture at 80 of the 1,000 steps.

minimize = LeastSquares(Rows(x[:, None], y[:, None]), ComplexExponentials(), regularization=0.01)
walk = Metropolis(RandomWalk(1.0), exponent=1.0)
start = walk.init(minimize, np.zeros((64, 1)))


def look(state):
    """Amplitudes for the present frequencies, the fit and its error."""
    ended, _ = walk.refit(state, minimize)
    fit = (np.exp(1j * x[:, None] @ ended.frequencies.T) @ ended.amplitudes[:, 0]).real
    return Frame(ended.step, ended.frequencies, ended.amplitudes, fit, float(np.sqrt(np.mean((fit - y) ** 2))))


steps = walk.sample(minimize, start, np.random.default_rng(1), n_steps=1000)
frames = list(shoot(chain([(start, None)], steps), moments(1000), look))

# %%
# **Stills.** Four moments of the walk. The error goes down fast, then up and down: a walk samples, it does not
# descend. Early stopping keeps the best moment; ``sampler="auto"`` ends with descent.

figure, axes = plt.subplots(2, 4, figsize=(12.5, 5.2), sharex="row", height_ratios=[1.3, 1])
colours = plt.get_cmap("plasma")
for column, step in enumerate((0, 10, 100, 1000)):
    frame = min(frames, key=lambda f, step=step: abs(f.step - step))
    colour = colours(0.15 + 0.22 * column)
    axes[0, column].plot(x, y, color="#8d99ae", linewidth=3, alpha=0.6)
    axes[0, column].plot(x, frame.fit, color=colour, linewidth=1.6)
    axes[0, column].set(title=f"step {frame.step}: error {frame.error:.3f}", xlim=(-3, 3), xlabel="x")
    sizes = np.abs(frame.amplitudes[:, 0])
    axes[1, column].vlines(frame.frequencies[:, 0], 0, sizes, color=colour, linewidth=1.2)
    axes[1, column].plot(frame.frequencies[:, 0], sizes, ".", color=colour)
    axes[1, column].set(xlabel="frequency ω", xlim=(-32, 32), ylim=(0, None), yticks=[])
    axes[0, column].set_ylim(-1.9, 1.9)
axes[0, 0].set_ylabel("target and fit")
axes[1, 0].set_ylabel("amplitude |β|")
plt.show()


# %%
# **The film.** Press Play, or drag the slider; a click on the curve of the error goes to that step.


class Framed:
    """A page inside this page."""

    def __init__(self, page):
        self.page = page

    def _repr_html_(self):
        source = self.page.html().replace("&", "&amp;").replace('"', "&quot;")
        fit = "this.style.height = this.contentDocument.documentElement.scrollHeight + 'px'"
        style = "width: 100%; height: 46rem; border: 0"
        return f'<iframe title="The walk as a film" srcdoc="{source}" style="{style}" onload="{fit}"></iframe>'


film = Film("64 frequencies walk", frames, target=y, x=x, error_name="RMSE", about="seed 1")
Framed(Page("The walk").fragment(film.html()))
