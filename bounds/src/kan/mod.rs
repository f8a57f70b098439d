//! Kolmogorov–Arnold networks trained by DP-SGD: the model, and what the theory of arXiv 2605.12648 predicts.
//!
//! The model. Inputs `x` in [−1, 1]^d, labels `y = ±1`, a basis `h(v)` of p B-splines, width m:
//!
//! ```text
//! h(x) = (h(x_1), .., h(x_d))        features, d·p values
//! a_j  = <w_j, h(x)>/sqrt(d)         preactivations; W is m x dp and trained
//! s_j(v) = <c_j, h(v)>               the splines of the second layer; c is m x p and fixed
//! φ_j(a) = s_j(act(a))               units
//! f_W(x) = m^{-1/2} Σ_j φ_j(a_j)     output
//! ```
//!
//! * [`SplineBasis`], [`Activation`], [`Network`], [`Initialisation`]: the model, in plain double precision.
//! * [`RealisedConstants`], [`vector_constants`], [`worst_case_constants`]: bounds `G` and `ν` of the gradient and
//!   the Hessian of `f`, at three levels.
//! * [`Linearisation`], [`ntk_margin`], [`free_comparator`]: what a sample looks like from the initial weights.
//! * [`certificates`]: risk certificates with explicit constants, every hypothesis checked.
//! * [`rates`]: order-form quantities.

mod activation;
mod basis;
pub mod certificates;
mod comparator;
mod constants;
mod enclosure;
mod feature_norm;
mod initialisation;
mod linearisation;
mod loss;
mod margin;
mod minimal_norm;
mod network;
mod normals;
mod polynomial;
pub mod rates;
mod sample;
mod summation;
mod sup_norms;

pub use activation::Activation;
pub use basis::{Knots, SplineBasis};
pub use comparator::{Comparator, comparator_at, free_comparator};
pub use constants::{
    Constants, RealisedConstants, SELF_BOUNDING_CONSTANT, vector_constants, worst_case_constants,
};
pub use feature_norm::{InputDomain, feature_norm2};
pub use initialisation::{Initialisation, initialise};
pub use linearisation::Linearisation;
pub use loss::{logistic_loss, logistic_slope};
pub use margin::{Margin, MarginOptions, margin_of_gram, ntk_margin};
pub use network::{Network, Output, RankOneGradient, Unit};
pub use normals::portable_normals;
pub use sample::Sample;
pub use sup_norms::SupNorms;

use crate::error::{BoundError, Result, Shown};

/// Refuses a slice of the wrong length.
fn ensure_length(
    parameter: &'static str,
    found: usize,
    other: &'static str,
    expected: usize,
    requirement: &'static str,
) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    #[allow(clippy::cast_precision_loss)] // for a message
    let (value, other_value) = (Shown(found as f64), Shown(expected as f64));
    Err(BoundError::Conflict { parameter, value, other, other_value, requirement })
}

/// Refuses a slice with a value that is not finite.
fn ensure_finite(parameter: &'static str, values: &[f64]) -> Result<()> {
    values.iter().try_for_each(|value| crate::domain::finite(parameter, *value).map(drop))
}

/// Most numbers in one array: 8 GiB.
const MOST_NUMBERS: usize = 1 << 30;

/// Refuses an array of `rows` times `columns` numbers that no memory holds.
fn ensure_memory(parameter: &'static str, rows: usize, columns: usize) -> Result<()> {
    if rows.checked_mul(columns).is_some_and(|count| count <= MOST_NUMBERS) {
        return Ok(());
    }
    Err(BoundError::OutOfRange {
        parameter,
        value: Shown(number(rows)),
        allowed: "arrays of at most 2^30 numbers",
        remedy: "use a smaller width, basis, input dimension or sample",
    })
}

/// A size as a number; sizes of arrays are far below 2^53.
#[allow(clippy::cast_precision_loss)]
fn number(size: usize) -> f64 {
    size as f64
}
