//! Initial weights from the portable stream.

use super::network::positive_size;
use super::{Activation, Network, SplineBasis, ensure_memory, portable_normals};
use crate::error::{BoundError, Result, Shown};

/// How the second layer `c` and the initial weights `W_0` are drawn.
///
/// Certificates with realised constants hold for any choice that does not depend on the data or on the randomness of
/// the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Initialisation {
    /// All entries standard normal, as in the paper.
    Gaussian,
    /// Gaussian in the first half of the units; unit `j + m/2` is unit `j` with `c_j` negated. The initial network is
    /// zero. The width has to be even.
    Antithetic,
    /// Antithetic, and `c_j = ±(ξ_0, .., ξ_{p−1})` with the Greville abscissae ξ and the sign of the first normal of
    /// the row: `s_j(v) = ±v`, so `sup |φ_j'|` and `sup |φ_j''|` are those of the activation. Only the first layer
    /// is then a genuine spline layer; this leaves the paper's model.
    Greville,
}

/// A network and its initial weights: `c` row-major, then `W_0` row-major, from [`portable_normals`] of `seed`.
///
/// `inputs` d and `width` m are at least 1; the width is even for the antithetic kinds. The weights are `m x dp`.
///
/// # Source
/// Gaussian: arXiv 2605.12648, Section 3. The others: ours.
///
/// # Errors
/// [`BoundError`] for a size of 0, more than 2^30 numbers in all, or an odd width where it has to be even.
///
/// # Examples
/// ```
/// use dpbounds_bounds::kan::{Activation, Initialisation, Knots, SplineBasis, initialise};
/// let basis = SplineBasis::new(3, 6, Knots::Clamped)?;
/// let (network, weights) = initialise(basis, Activation::Tanh, 1, 100, Initialisation::Antithetic, 7)?;
/// assert_eq!(network.output(&weights, &network.features(&[0.3])?)?.value, 0.0);
/// # Ok::<(), dpbounds_bounds::BoundError>(())
/// ```
pub fn initialise(
    basis: SplineBasis,
    activation: Activation,
    inputs: usize,
    width: usize,
    initialisation: Initialisation,
    seed: u64,
) -> Result<(Network, Vec<f64>)> {
    positive_size("inputs", inputs)?;
    positive_size("width", width)?;
    let size = basis.size();
    ensure_memory("inputs", inputs, size)?;
    ensure_memory("width", width, size * (1 + inputs))?;
    let mut second_layer = portable_normals(seed, width * size * (1 + inputs));
    let mut weights = second_layer.split_off(width * size);
    if initialisation != Initialisation::Gaussian {
        if !width.is_multiple_of(2) {
            #[allow(clippy::cast_precision_loss)] // for a message
            return Err(BoundError::OutOfRange {
                parameter: "width",
                value: Shown(width as f64),
                allowed: "an even number",
                remedy: "antithetic units come in pairs; add one",
            });
        }
        let (first, second) = second_layer.split_at_mut(width / 2 * size);
        if initialisation == Initialisation::Greville {
            let abscissae = basis.greville();
            for row in first.chunks_exact_mut(size) {
                let sign = if row[0] >= 0.0 { 1.0 } else { -1.0 };
                for (value, abscissa) in row.iter_mut().zip(&abscissae) {
                    *value = sign * abscissa;
                }
            }
        }
        for (value, opposite) in second.iter_mut().zip(first) {
            *value = -*opposite;
        }
        let (first, second) = weights.split_at_mut(width / 2 * size * inputs);
        second.copy_from_slice(first);
    }
    Ok((Network::new(basis, activation, inputs, second_layer)?, weights))
}
