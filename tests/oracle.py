"""Algorithms 1, 2 and 3 as printed: plain loops, plain NumPy. This is the specification.

Three slips of the text are mended: Sᵀ in the normal equations is the conjugate transpose; S_C is what Algorithm 2
initialises as C_ω; and C̄ can be singular, so its square root (shared with the package) adds a tiny diagonal.
"""

import numpy as np

from fourierwalk.proposals import covariance_root


def features(x, omega):
    return np.exp(1j * (x @ omega.T))


def minimizer(x, y, omega, regularization):
    s = features(x, omega)
    n = x.shape[0]
    return np.linalg.solve(s.conj().T @ s + regularization * n * np.eye(omega.shape[0]), s.conj().T @ y)


def amplitude_norm(beta_k):
    return np.sqrt(sum(abs(b) ** 2 for b in beta_k))


def algorithm_1(x, y, n_frequencies, n_steps, step_size, exponent, regularization, refit_every, rng):
    d = x.shape[1]
    omega = np.zeros((n_frequencies, d))
    beta = minimizer(x, y, omega, regularization)
    for i in range(1, n_steps + 1):
        r_normal = rng.standard_normal((n_frequencies, d))
        omega_new = omega + step_size * r_normal
        beta_new = minimizer(x, y, omega_new, regularization)
        for k in range(n_frequencies):
            r_uniform = rng.random()
            if amplitude_norm(beta_new[k]) ** exponent / amplitude_norm(beta[k]) ** exponent > r_uniform:
                omega[k] = omega_new[k]
                beta[k] = beta_new[k]
        if i % refit_every == 0:
            beta = minimizer(x, y, omega, regularization)
    beta = minimizer(x, y, omega, regularization)
    return omega, beta


def algorithm_2(
    x, y, n_frequencies, n_steps, step_size, exponent, regularization, refit_every, adapt_after, max_norm, rng
):
    d = x.shape[1]
    omega = np.zeros((n_frequencies, d))
    beta = minimizer(x, y, omega, regularization)
    s_omega = np.zeros(d)
    s_c = np.zeros((d, d))
    c_bar = np.eye(d)
    root = np.eye(d)
    for i in range(1, n_steps + 1):
        r_normal = np.array([root @ row for row in rng.standard_normal((n_frequencies, d))])
        omega_new = omega + step_size * r_normal
        beta_new = minimizer(x, y, omega_new, regularization)
        for k in range(n_frequencies):
            r_uniform = rng.random()
            ratio = amplitude_norm(beta_new[k]) ** exponent / amplitude_norm(beta[k]) ** exponent
            if ratio > r_uniform and np.sqrt(sum(omega_new[k] ** 2)) < max_norm:
                omega[k] = omega_new[k]
                beta[k] = beta_new[k]
            s_omega = s_omega + omega[k]
            s_c = s_c + np.outer(omega[k], omega[k])
        omega_bar = s_omega / (i * n_frequencies)
        c_new = s_c / (i * n_frequencies) - np.outer(omega_bar, omega_bar)
        if i > adapt_after:
            c_bar = c_new
            root = covariance_root(c_bar)
        if i % refit_every == 0:
            beta = minimizer(x, y, omega, regularization)
    beta = minimizer(x, y, omega, regularization)
    return omega, beta, c_bar


def algorithm_3(x, y):
    n, d = x.shape
    x, y = x.copy(), y.copy()
    for column in [*(x[:, j] for j in range(d)), *(y[:, j] for j in range(y.shape[1]))]:
        mean = sum(column) / n
        deviation = np.sqrt(sum((value - mean) ** 2 for value in column) / (n - 1))
        for i in range(n):
            column[i] = (column[i] - mean) / deviation
    return x, y
