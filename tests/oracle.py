"""Algorithms 1, 2 and 3 as printed, and the walks beside them: plain loops, plain NumPy. This is the specification.

Three slips of the text are mended: Sᵀ in the normal equations is the conjugate transpose; S_C is what Algorithm 2
initialises as C_ω; and C̄ can be singular, so that a tiny diagonal is added before its root is taken. Nothing is
borrowed from the code that this is the specification of.
"""

import numpy as np

TRIALS, SHORTER, ENOUGH = 8, 0.3, 1e-4
"""Of descent: lengths that are tried, each this much shorter, until so much of the promised decrease is there."""


def covariance_root(covariance):
    """The lower L with L Lᵀ = C + ε, ε a tiny share of the mean variance; of no covariance, that of its diagonal."""
    d = len(covariance)
    tiny = 1e-10 * max(np.trace(covariance) / d, 1e-12)
    try:
        return np.linalg.cholesky(covariance + tiny * np.eye(d))
    except np.linalg.LinAlgError:
        return np.diag(np.sqrt(np.maximum(np.diag(covariance), 0) + tiny))


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


def systematic(size, uniform):
    """The first k whose share of the total, with all before it, reaches (u + j)/K: for every j."""
    n, chosen = len(size), []
    for j in range(n):
        k, reached = 0, size[0] / sum(size)
        while reached < (uniform + j) / n and k < n - 1:
            k += 1
            reached += size[k] / sum(size)
        chosen.append(k)
    return chosen


def resampling(x, y, omega, n_steps, step_size, threshold, exponent, max_norm, regularization, rng):
    """The resampling walk with moves ω + δ r; also the numbers of copies, refused moves and moves beyond ω_max."""
    n, d = omega.shape
    beta = minimizer(x, y, omega, regularization)
    n_copies = n_refused = n_beyond = 0
    for _ in range(n_steps):
        size = [amplitude_norm(one) for one in beta]
        chosen = list(range(n))
        if threshold == 1 or sum(size) ** 2 / sum(one**2 for one in size) <= threshold * n:
            chosen = systematic(size, rng.random())
        before = np.array([omega[k] for k in chosen])
        share = np.array([beta[k] / chosen.count(k) for k in chosen])
        after = before + step_size * rng.standard_normal((n, d))
        stays = [np.sqrt(sum(one**2)) >= max_norm for one in after]
        for k in range(n):
            if stays[k]:
                after[k] = omega[k]
                n_beyond += 1
        beta_new = minimizer(x, y, after, regularization)
        for k in range(n) if exponent is not None else []:
            r_uniform = rng.random()
            is_copy = chosen.index(chosen[k]) < k or stays[chosen[k]]
            n_copies += is_copy
            passes = amplitude_norm(beta_new[k]) ** exponent / amplitude_norm(share[k]) ** exponent > r_uniform
            if not passes and not is_copy:
                after[k] = before[k]
                n_refused += 1
        omega, beta = after, minimizer(x, y, after, regularization)
    return omega, beta, (n_copies, n_refused, n_beyond)


def projected_loss(x, y, omega, regularization):
    """min over β of N⁻¹|Sβ − y|² + λ|β|², its gradient by ωₖⱼ, and β."""
    n, beta = x.shape[0], minimizer(x, y, omega, regularization)
    s = features(x, omega)
    residual = s @ beta - y
    gradient = np.zeros_like(omega)
    for k, j in np.ndindex(omega.shape):
        change = 1j * x[:, j, None] * s[:, k, None] * beta[k]  # of the model
        gradient[k, j] = 2 / n * np.sum(residual.conj() * change).real
    return np.sum(abs(residual) ** 2) / n + regularization * np.sum(abs(beta) ** 2), gradient, beta


def inverse_hessian(diagonal, moves, changes):
    """BFGS as a matrix, one update after the other from the diagonal, scaled by the last pair."""
    matrix = np.diag(diagonal)
    if moves:
        matrix = matrix * (moves[-1] @ changes[-1]) / (changes[-1] @ matrix @ changes[-1])
    for s, c in zip(moves, changes, strict=True):
        turn = np.eye(len(s)) - np.outer(s, c) / (s @ c)
        matrix = turn @ matrix @ turn.T + np.outer(s, s) / (s @ c)
    return matrix


def descent(x, y, omega, n_steps, memory, first_step, longest_step, damping, max_norm, regularization):
    """BFGS with the last `memory` pairs and backtracking; the losses after each step."""
    moves, changes, losses = [], [], []
    loss, gradient, beta = projected_loss(x, y, omega, regularization)
    for _ in range(n_steps):
        squares = np.array([amplitude_norm(one) ** 2 for one in beta])
        diagonal = np.repeat(1 / (squares + damping * squares.mean()), omega.shape[1])
        direction = -inverse_hessian(diagonal, moves, changes) @ gradient.ravel()
        most = (longest_step if moves else first_step) * np.sqrt(np.mean(omega**2))
        length = np.sqrt(np.mean(direction**2))
        if not moves or length > most:
            direction = direction * most / length
        for trial in range(TRIALS):
            proposed = omega + SHORTER**trial * direction.reshape(omega.shape)
            for k in range(len(omega)):
                if np.sqrt(sum(proposed[k] ** 2)) >= max_norm:
                    proposed[k] = omega[k]
            move = (proposed - omega).ravel()
            new_loss, new_gradient, new_beta = projected_loss(x, y, proposed, regularization)
            if new_loss <= loss + ENOUGH * move @ gradient.ravel() < loss:
                break
        else:
            moves, changes = [], []
            losses.append(loss)
            continue
        change = (new_gradient - gradient).ravel()
        if move @ change > 1e-10 * np.linalg.norm(move) * np.linalg.norm(change):
            moves, changes = [*moves, move][-memory:], [*changes, change][-memory:]
        omega, loss, gradient, beta = proposed, new_loss, new_gradient, new_beta
        losses.append(loss)
    return omega, beta, losses
