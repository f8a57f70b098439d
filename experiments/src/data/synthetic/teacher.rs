//! Random functions whose sign labels uniform points.

use std::fmt;

use dpbounds_bounds::kan::{Knots, SplineBasis};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::points::{direction, uniform};
use super::{Points, within};
use crate::data::dataset::Domain;
use crate::data::error::{Result, out_of_range};

/// Points at which the level of a network teacher is set.
const PROBES: usize = 1001;

/// The function that labels points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TeacherKind {
    /// `<u, x>` with a random unit vector u.
    Linear,
    /// A two-layer network of B-splines with Gaussian coefficients and tanh between the layers, minus
    /// its median on the domain, so that both labels are about as frequent.
    Kan {
        /// Degree of the splines, 1 to 12.
        degree: usize,
        /// Functions in a basis, degree + 1 to 4096.
        size: usize,
        /// Hidden units m, 1 to 4096.
        width: usize,
    },
}

impl fmt::Display for TeacherKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("linear teacher"),
            Self::Kan { degree, size, width } => {
                write!(f, "KAN teacher (degree {degree}, {size} functions, {width} units)")
            }
        }
    }
}

/// A teacher with its coefficients.
pub(super) enum Teacher {
    Linear(Vec<f64>),
    Kan(Box<Network>),
}

pub(super) struct Network {
    basis: SplineBasis,
    dimension: usize,
    width: usize,
    /// First layer, `width` rows of `dimension * size` coefficients.
    first: Vec<f64>,
    /// Second layer, `width` rows of `size` coefficients.
    second: Vec<f64>,
    level: f64,
}

impl TeacherKind {
    pub(super) fn build(
        self,
        dimension: usize,
        domain: Domain,
        rng: &mut ChaCha8Rng,
    ) -> Result<Teacher> {
        match self {
            Self::Linear => Ok(Teacher::Linear(direction(dimension, rng))),
            Self::Kan { degree, size, width } => {
                let basis = SplineBasis::new(degree, size, Knots::Clamped)?;
                let coefficients = dimension.saturating_mul(size).saturating_mul(width);
                if !(1..=4096).contains(&width) || coefficients > 1 << 26 {
                    let allowed =
                        "1 to 4096 units, with at most 2^26 coefficients width * d * size";
                    return Err(out_of_range("width", width, allowed));
                }
                let mut normals = |count: usize| {
                    (0..count).map(|_| rng.sample(StandardNormal)).collect::<Vec<_>>()
                };
                let (first, second) = (normals(coefficients), normals(width * size));
                let mut network = Network { basis, dimension, width, first, second, level: 0.0 };
                let probe = |_| network.value(&uniform(dimension, domain, rng));
                let mut values: Vec<f64> = (0..PROBES).map(probe).collect();
                values.sort_by(f64::total_cmp);
                network.level = values[PROBES / 2];
                Ok(Teacher::Kan(Box::new(network)))
            }
        }
    }
}

impl Teacher {
    pub(super) fn label(
        &self,
        rows: usize,
        domain: Domain,
        flip: f64,
        rng: &mut ChaCha8Rng,
    ) -> Result<Points> {
        within("flip", flip, (0.0..0.5).contains(&flip), "at least 0 and below 1/2")?;
        let dimension = match self {
            Self::Linear(normal) => normal.len(),
            Self::Kan(network) => network.dimension,
        };
        let (mut features, mut labels) = (Vec::with_capacity(rows * dimension), Vec::new());
        for _ in 0..rows {
            let point = uniform(dimension, domain, rng);
            // Drawn in any case, so that the inputs do not depend on `flip`.
            let sign = if rng.random::<f64>() < flip { -1.0 } else { 1.0 };
            labels.push(if self.value(&point) > 0.0 { sign } else { -sign });
            features.extend(point);
        }
        Ok((features, labels))
    }

    fn value(&self, point: &[f64]) -> f64 {
        match self {
            Self::Linear(normal) => normal.iter().zip(point).map(|(w, x)| w * x).sum(),
            Self::Kan(network) => network.value(point) - network.level,
        }
    }
}

impl Network {
    /// `m^{−1/2} Σ_j s_j(tanh a_j)` with `a_j = <w_j, h(x)>/√d`.
    #[allow(clippy::cast_precision_loss)]
    fn value(&self, point: &[f64]) -> f64 {
        let size = self.basis.size();
        let mut inner = vec![0.0; self.width];
        for (input, &x) in point.iter().enumerate() {
            let (start, active) = self.active(x);
            for (unit, sum) in inner.iter_mut().enumerate() {
                let offset = (unit * self.dimension + input) * size + start;
                *sum += dot(&self.first[offset..], &active);
            }
        }
        let root = (self.dimension as f64).sqrt();
        let outer = inner.iter().enumerate().map(|(unit, sum)| {
            let (start, active) = self.active((sum / root).tanh());
            dot(&self.second[unit * size + start..], &active)
        });
        outer.sum::<f64>() / (self.width as f64).sqrt()
    }

    /// The first active function at `v` and the values of the active ones.
    fn active(&self, v: f64) -> (usize, Vec<f64>) {
        let (span, u) = self.basis.locate(v);
        let value = |index| {
            let coefficients = self.basis.piece(span, index).iter().rev();
            coefficients.fold(0.0, |value, coefficient| value * u + coefficient)
        };
        (span, (0..=self.basis.degree()).map(value).collect())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::super::stream;
    use super::*;

    fn network() -> Teacher {
        let kind = TeacherKind::Kan { degree: 3, size: 6, width: 5 };
        kind.build(2, Domain::Cube, &mut stream(1, 0)).unwrap()
    }

    #[test]
    fn the_network_is_the_formula() {
        let Teacher::Kan(network) = network() else { unreachable!() };
        let point = [0.3, -0.8];
        let h: Vec<f64> = point.iter().flat_map(|&x| network.basis.values(x)).collect();
        let mut expected = 0.0;
        for unit in 0..5 {
            let inner = dot(&network.first[unit * 12..(unit + 1) * 12], &h) / 2_f64.sqrt();
            expected += dot(&network.second[unit * 6..], &network.basis.values(inner.tanh()));
        }
        assert!((network.value(&point) - expected / 5_f64.sqrt()).abs() < 1e-14);
    }

    #[test]
    fn a_flip_turns_labels_and_nothing_else() {
        let teacher = network();
        let of = |flip| teacher.label(4000, Domain::Cube, flip, &mut stream(1, 1)).unwrap();
        let ((plain, labels), (same, turned)) = (of(0.0), of(0.2));
        assert_eq!(plain, same);
        let count = labels.iter().zip(&turned).filter(|(a, b)| a != b).count();
        assert!((700..900).contains(&count), "{count}"); // 800 with standard deviation 25
        assert!(teacher.label(2, Domain::Cube, 0.5, &mut stream(1, 1)).is_err());
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        for (degree, size, width) in [(0, 6, 1), (3, 3, 1), (3, 6, 0), (3, 6, 5000)] {
            let kind = TeacherKind::Kan { degree, size, width };
            assert!(kind.build(2, Domain::Cube, &mut stream(1, 0)).is_err());
        }
    }
}
