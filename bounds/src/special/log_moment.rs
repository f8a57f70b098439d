//! Log moments of the two extremal likelihood ratios: randomised response and bounded range.

/// `R(λ) = log cosh(ε(λ+½)) − log cosh(ε/2)`: the log moment `log E w^{1+λ}` of randomised response.
///
/// `λ >= 0`, `ε >= 0` (nats). At most `min(λε, λ(1+λ)ε²/2)`. Source: ours, docs/theory/max-information.md
/// (bound B+).
///
/// ```
/// let r = dpbounds_bounds::special::randomized_response_log_moment(3.0, 1e-8);
/// assert!((r / 6e-16 - 1.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn randomized_response_log_moment(lambda: f64, epsilon: f64) -> f64 {
    let product = lambda * epsilon;
    if product < 1.0 && epsilon < 300.0 {
        let half = epsilon / 2.0;
        (2.0 * (product / 2.0 + half).sinh() * (product / 2.0).sinh() / half.cosh()).ln_1p()
    } else {
        product + (-2.0 * product - epsilon).exp().ln_1p() - (-epsilon).exp().ln_1p()
    }
}

/// Taylor coefficients of `log(sinh x / x)` in `x²`.
const LOG_SINHC: [f64; 6] = [
    1.0 / 6.0,
    -1.0 / 180.0,
    1.0 / 2835.0,
    -1.0 / 37800.0,
    1.0 / 467_775.0,
    -1.803_670_234_005_331e-7,
];

/// `B(λ)`: the largest log moment `log E w^{1+λ}` of a likelihood ratio with mean 1 and log range `ε`.
///
/// `B(λ) = (λ+1) S((λ+1)h) − λ S(λh) − S(h)` with `S(x) = log(sinh x / x)`, `h = ε/2`; at most
/// `min(λε, λ(1+λ)ε²/8)`. `λ >= 0`, `ε >= 0` (nats). Source: ours after Dong, Durfee and Rogers (2020),
/// docs/theory/max-information.md (bound BR).
///
/// ```
/// let b = dpbounds_bounds::special::bounded_range_log_moment(3.0, 1e-8);
/// assert!((b / 1.5e-16 - 1.0).abs() < 1e-12);
/// ```
#[must_use]
pub fn bounded_range_log_moment(lambda: f64, epsilon: f64) -> f64 {
    if epsilon == 0.0 || lambda == 0.0 {
        return 0.0;
    }
    let half = epsilon / 2.0;
    let scaled = lambda * half; // formed once: λ alone may be huge
    if half + scaled < 0.3 {
        return power_series(scaled, half);
    }
    let first =
        half + (-(-epsilon).exp_m1() / (2.0 * scaled).exp_m1()).ln_1p() - (1.0 / lambda).ln_1p();
    let second = scaled + (-(-2.0 * scaled).exp_m1() / epsilon.exp_m1()).ln_1p() - lambda.ln_1p();
    lambda * first + second
}

/// `Σ_k c_k [ (a+h)^{2k+1} − a^{2k+1} − h^{2k+1} ] / h` with `a = λh`, expanded so that nothing cancels.
fn power_series(scaled: f64, half: f64) -> f64 {
    let mut total = 0.0;
    for (index, coefficient) in LOG_SINHC.iter().enumerate() {
        let power = 2 * index + 3;
        let mut binomial = 1.0;
        let mut inner = 0.0;
        for j in 1..power {
            binomial *= (power - j + 1) as f64 / j as f64;
            inner += binomial * scaled.powi(j as i32) * half.powi((power - 1 - j) as i32);
        }
        total += coefficient * inner;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_moments_stay_below_their_closed_relaxations() {
        for epsilon in [1e-9, 1e-3, 0.5, 3.0, 50.0] {
            for lambda in [1e-6, 0.1, 1.0, 7.0, 1e3] {
                let br = bounded_range_log_moment(lambda, epsilon);
                let rr = randomized_response_log_moment(lambda, epsilon);
                let linear = lambda * epsilon * (1.0 + 1e-12);
                let quadratic = lambda * (1.0 + lambda) * epsilon * epsilon * (1.0 + 1e-12);
                assert!(br <= linear.min(quadratic / 8.0) && br >= 0.0, "{lambda} {epsilon} {br}");
                assert!(rr <= linear.min(quadratic / 2.0) && br <= rr * (1.0 + 1e-12));
            }
        }
    }

    #[test]
    fn the_two_branches_of_each_moment_meet() {
        for lambda in [0.2, 1.0, 40.0] {
            let at = 0.6 / (1.0 + lambda);
            let below = bounded_range_log_moment(lambda, at * (1.0 - 1e-13));
            let above = bounded_range_log_moment(lambda, at * (1.0 + 1e-13));
            assert!((below / above - 1.0).abs() < 1e-11, "{lambda}: {below} {above}");
            let below = randomized_response_log_moment(lambda, (1.0 - 1e-14) / lambda);
            let above = randomized_response_log_moment(lambda, (1.0 + 1e-14) / lambda);
            assert!((below / above - 1.0).abs() < 1e-12);
        }
    }
}
