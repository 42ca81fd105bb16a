"""How we read the paper: where its text is open or contradicts itself, and what is done here.

Equations, sections, theorems, figures and tables have the numbers that the paper's source gives them.
"""

from __future__ import annotations

from typing import NamedTuple


class Reading(NamedTuple):
    """A place of the paper, what it says there, and what is done here."""

    where: str
    paper: str
    here: str


READINGS: tuple[Reading, ...] = (
    Reading(
        "Section 2.2",
        "The transform of exp(−σ²|x|²/2) is printed with a factor (2πσ²)^(−d/2).",
        "σ^(−d): in the convention of Section 2.1 the factor (2π)^(−d/2) is one too many.",
    ),
    Reading(
        "Section 2.2, Example II",
        "p = p* = |f̂|.",
        "|f̂|/‖f̂‖₁, as in (16): |f̂| is no density.",
    ),
    Reading(
        "(20)",
        "λ ζ̂ₗ is added to sums of ρ̂.",
        "E exp(i(ωₖ−ωₗ)·x), as in (19). In the convention of Section 2.1 ρ̂ is that over (2π)^(d/2); so λ would be.",
    ),
    Reading(
        "Proposition 3.1, (25)",
        "The limit is f̂.",
        "(2π)^(−d/2) f̂, for the same reason; the check measures the distance to that.",
    ),
    Reading(
        "Remark 3.2",
        "γ = 3d − 2 minimises the work.",
        "It minimises the rough estimate. With the exact Gaussian integral the minimum satisfies (γ+1)(γ+2) = 3d.",
    ),
    Reading(
        "Remark 3.3",
        "The penalty makes “a least squares problem”.",
        "It is not smooth: solved by accelerated proximal gradient steps.",
    ),
    Reading("(29) and (32)", "Sᵀ in the normal equations.", "The conjugate transpose Sᴴ: S is complex."),
    Reading(
        "Algorithms 1 and 2",
        "Step length 2.4²/d in the text, other values in Table 2.",
        "Table 2. δ multiplies a standard normal vector, so it is a standard deviation.",
    ),
    Reading(
        "Algorithms 1 and 2",
        "M is the integer part of T/δ².",
        "M of Table 2; no sampling time T is given.",
    ),
    Reading(
        "Algorithm 1",
        "The test divides by |β̂ₖ|^γ.",
        "|β̂'ₖ| > r^(1/γ) |β̂ₖ|, the same test: γ is 2,350 on MNIST, and at ω = 0 all amplitudes are equal.",
    ),
    Reading(
        "Algorithm 2",
        "S_C is summed, but C_ω is set to zero; the number of updates is called Ň, then m.",
        "One sum S_C that starts at zero; m: amplitudes are solved for after every m-th step.",
    ),
    Reading(
        "Algorithm 2",
        "r is drawn from N(0, C̄).",
        "C̄ can be singular: 10⁻¹⁰ of its mean variance is added to its diagonal before the root is taken.",
    ),
    Reading(
        "Algorithm 3",
        "x̄ₙ with an index n.",
        "The mean over all rows, and N − 1 in the variance; constant columns do not occur in the paper's cases.",
    ),
    Reading(
        "Section 5",
        "“Three case studies”, “the second case” and “the third case”.",
        "There are four: Case 3 is meant by the second, Case 4 by the third.",
    ),
    Reading(
        "Section 5 and Case 1",
        "Test data are normalised with the training statistics; in Case 1 “analogously”.",
        "With the training statistics, in Cases 1 to 3.",
    ),
    Reading(
        "Section 5, e_K",
        "The root of a sum over test rows, not of a mean, of the modulus of a complex number.",
        "Reported as printed. Figures show it divided by √Ñ; tables have the error of the real part too.",
    ),
    Reading(
        "Section 5, error bars",
        "σ_K over M̄ = 10 realisations.",
        "The standard deviation with M̄ − 1. Each realisation has its own data and its own frequencies.",
    ),
    Reading(
        "Table 2, M̄ = 1",
        "One realisation in Cases 3 and 4.",
        "Five, so that there are standard errors.",
    ),
    Reading(
        "Experiment 4",
        "No initial amplitudes, no order of samples.",
        "β̂ = 0; one sample a step, drawn with replacement in Cases 1 and 2. In Case 3, N = M: each sample once.",
    ),
    Reading(
        "Experiment 4",
        "λ = 0 and Δt.",
        "Steps of Δt down the gradient of |f(xₙ) − yₙ|² with respect to ω and to real and imaginary part of β̂.",
    ),
    Reading(
        "Experiment 5",
        "A component of one is added to x; γ and δ are those of d = 1.",
        "The walk has dimension 2; γ = 1 and δ = 5.76 as in Table 2, not those of d = 2.",
    ),
    Reading(
        "Case 1, |f̂|",
        "FFT on 2N points in [−2π, 2π].",
        "The same; what is left beyond |ω| = 1,000 is rounding and does not count in the distance to p*.",
    ),
    Reading(
        "Case 2",
        "The text runs Experiments 1, 3 and 4; Table 2 has 1 and 4.",
        "1, 3 and 4. Experiment 3 has N(0,1) and λ = 0.1, as in Case 1.",
    ),
    Reading(
        "Section 5, “second case”",
        "Experiments 1 to 4; in Case 3 itself 1, 2 and 4.",
        "1, 2 and 4, as in Table 2.",
    ),
    Reading(
        "Case 3, below (30)",
        "The optimal covariance is diag(32⁻², 32²).",
        "diag(32², 32⁻²): f is narrow in x₁, so f̂ is wide in ω₁.",
    ),
    Reading(
        "Case 3, Figure 4",
        "Time on a desktop computer, in Matlab.",
        "One thread each, compilation and the drawing of rows not counted; and work, counted.",
    ),
    Reading(
        "Case 4",
        "“All training data” are normalised (Section 4).",
        "Not MNIST: pixels over 255 and targets of 0 and 1 give the printed columns, component-wise scaling does not.",
    ),
    Reading(
        "Case 4, ‖·‖₂",
        "The root of a sum of squares of complex numbers.",
        "Squares of moduli.",
    ),
    Reading(
        "Case 4, argmax",
        "Of the modulus of the ten complex outputs.",
        "As printed, and beside it of the real part.",
    ),
    Reading(
        "Case 4, m = M + 1",
        "Amplitudes are not solved for again within the walk.",
        "As printed. With m = 10 the same walk diverges.",
    ),
    Reading(
        "Section 5.1",
        "No test size; normalisation is not mentioned.",
        "Ñ = 10,000, raw data, whose optimum is σ_ω = 1; errors against noisy and against noise-free targets.",
    ),
    Reading(
        "Section 5.1",
        "Algorithm 1 “would” sample p*; no parameters.",
        "δ = 2.4²/d, γ = 3d − 2, M = 1,000, m = 10, λ = 0.01.",
    ),
)


def markdown() -> str:
    """The readings as a table for the documentation.

    Examples
    --------
    >>> print(markdown().splitlines()[0])
    | where | the paper | here |
    """
    rows = [" | ".join(cell.replace("|", "\\\\|") for cell in each) for each in READINGS]
    return "\n".join(["| where | the paper | here |", "| --- | --- | --- |", *(f"| {row} |" for row in rows)]) + "\n"
