"""What the docstrings of the three estimators share."""

from __future__ import annotations

PARAMETERS = """
    Parameters
    ----------
    n_frequencies : int or "auto", default="auto"
        K, the number of frequencies of the final model; if several models are averaged, of all of them together.
        "auto": with ``sampler="auto"`` the model grows as long as the error on the validation rows falls clearly
        (`n_frequencies_` holds the result); with every other sampler 256.
    sampler : {"auto", "metropolis", "resampling", "descent", "fixed"} or sampler object, default="auto"
        How frequencies are found. "auto": several models are grown, refined by descent and averaged; validation rows
        decide (see `fourierwalk.training.automatic.Automatic`). "metropolis": exactly Algorithm 1 of the paper, or
        Algorithm 2 with `adapt_after`; the last state is kept. "resampling": frequencies with large amplitudes are
        copied, and all copies move. "descent": L-BFGS on the loss as a function of the frequencies, with amplitudes
        solved for exactly. "fixed": frequencies are drawn once (plain random Fourier features).
    n_steps : int, default=None
        M, the largest number of steps. None: 1,000. With ``sampler="auto"`` these are the steps of descent of each
        averaged model; None: 60 at each width and up to 200 more at the last one. Early stopping may end them sooner.
    step_size : float or "paper", default=None
        δ, the standard deviation of a move. None: 2.4²/d, or 0.1 with `adapt_after` (the paper's values);
        "resampling" and "auto" take the covariance of the frequencies instead. "paper": 2.4²/d.
    exponent : float or "paper", default=None
        γ of the Metropolis test. None: 3d − 2, at most 10; "resampling" then has no test. "paper": 3d − 2.
        ``sampler="auto"`` has no test, and accepts only None.
    refit_every : int, default=10
        m: amplitudes are solved for again after every m-th step. Validation rows are looked at as often.
    adapt_after : int, default=None
        t₀, the number of steps after which the covariance of the proposal adapts (Algorithm 2). None: Algorithm 1.
    max_norm : float, default=None
        ω_max: frequencies of this norm or more are rejected. None: no bound.
    initial : float or array of shape (K, d), default=None
        The first frequencies. None: drawn from a distribution that kernel ridge regression on a sample of the rows
        suggests ("auto"), zero ("metropolis"), else N(0, 1). A number σ: N(0, σ²).
    regularization : float or "auto", default="auto"
        λ of N⁻¹|Sβ − y|² + λ|β|². "auto": chosen on the validation rows; without them, by generalised
        cross-validation at the final frequencies.
    features : {"cos-sin", "complex", "sigmoid"} or features object, default="cos-sin"
        The functions of ω·x that the model is a sum of: pairs of cosine and sine, complex exponentials (the paper),
        or logistic sigmoids. A features object implements `fourierwalk.data.Features`.
    standardize : {"auto", "robust", True, False}, default="auto"
        How inputs and targets are scaled. True: each column is centred and divided by its standard deviation
        (Algorithm 3). False: nothing is changed. "robust": each input column is scaled by its median and interquartile
        range, and clipped smoothly at ±3. "auto": all input columns share one scale if they seem to share a unit, as
        pixels do; else as True. With ``sampler="auto"`` it also tries "robust" where inputs have heavy tails.
    early_stopping : {"auto", True, False}, default="auto"
        Whether some rows are held out as validation rows. "auto": with ``sampler="auto"``, or if X_val is given.
    validation_fraction : float, default=0.1
        Share of the rows that are held out. They are picked by a hash of their contents; with fewer than 100 distinct
        rows none are. With 40 to 3,000 distinct rows ``sampler="auto"`` uses five folds instead.
    patience : int, default=None
        Early stopping ends the walk or the descent after this many checks of the validation error without a gain.
        There is a check every `refit_every` steps, with ``sampler="auto"`` every 5. None: 30, or 2 with
        ``sampler="auto"``.
    solver : {"auto", "direct", "spectral", "dual"} or Solver, default="auto"
        How amplitudes are solved for. "direct": normal equations. "spectral": normal equations in Fourier space (at
        most three inputs, extra ``nufft``). "dual": one equation for each row. "auto": whichever is cheapest. A
        `Solver` also sets precision, batch size and memory. Without one, ``sampler="auto"`` uses a lower precision for
        very large products on a GPU, if λ is large enough for that.
    clamp : {"auto", True, False}, default="auto"
        Whether predictions of a regression are clipped to the range of the targets, widened by a tenth on each side.
        Fourier models oscillate where there are no rows. "auto": with ``sampler="auto"``.
    device : {"cpu", "cuda"} or None, default=None
        None: on the device of the data. "cuda": X and y are NumPy arrays, and so are predictions, but the computation
        is on the GPU (extra ``torch``).
    categorical_features : "from_dtype", array of bool, of int or of str, or None, default="from_dtype"
        Which columns of a table are categories. "from_dtype": columns of strings, categories and Booleans. An array: a
        mask, indices or names. None: no column. See `TableEncoder`.
    checkpoint : path, Checkpoint or None, default=None
        A file from which a fit that was interrupted or killed continues, bit for bit, when it is run again with the
        same data and parameters. It is written every 60 seconds; a `Checkpoint` sets other intervals. A file of other
        data or parameters is refused. A folder: each fit has a file of its own there. The file is kept at the end.
    max_seconds : float, default=None
        A fit ends after about this many seconds with the best model so far. There is always one: the first kernels and
        the narrowest model are finished first. A seed then no longer fixes the result.
    warm_start : bool, default=False
        Whether a new fit continues where the last one ended.
    random_state : int, RandomState, Generator or None, default=None
        An int seeds ``numpy.random.default_rng``.
    verbose : int or bool, default=0
        1 prints a line at each decision, 2 also at each check of the validation error.
"""

ATTRIBUTES = """
    Attributes
    ----------
    frequencies_ : array of shape (K, d)
        ωₖ, in units of the scaled inputs; ``model_.spectrum()`` gives them in the inputs' own units.
    amplitudes_ : array of shape (K,) or (K, q)
        βₖ, in the targets' units.
    n_frequencies_ : int
        K; if several models are averaged, of all of them together.
    feature_importances_ : array of shape (d,)
        The mean squared slope of the model along each scaled input, divided by the sum over all inputs.
    regularization_ : float
        λ of the amplitudes; if several models are averaged, the geometric mean.
    n_steps_ : int
        The number of steps taken; if several models are averaged, by the first of them.
    history_ : History
        The steps, the validation errors, and the decisions in words.
    model_ : FourierModel
        The fitted function itself.
    n_features_in_ : int
        The number of columns of X.
    encoder_ : TableEncoder or None
        The encoder that turns X into columns of numbers, if X is a frame or has categories or missing values; else
        None. `frequencies_` and `model_` refer to these columns.
"""

NOTES = """
    Notes
    -----
    The model is f(x) = offset + Re Σₖ βₖ exp(iωₖ·x̃), where x̃ are the scaled inputs. At given frequencies ω the
    amplitudes β are the minimiser of N⁻¹|Sβ − y|² + λ|β|² with Sₙₖ = exp(iωₖ·x̃ₙ): problem (28) and normal equations
    (29) of [1]_, problem (31) and equations (32) for several outputs. With ``features="cos-sin"`` the unknowns are the
    real coefficients of cosine and sine, and βₖ = aₖ − ibₖ.
"""

REFERENCES = """
    References
    ----------
    .. [1] Kammonen, Kiessling, Plecháč, Sandberg, Szepessy: *Adaptive random Fourier features with Metropolis
       sampling* (2020).
"""
