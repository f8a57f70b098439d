//! Distributions on finitely many points: the risk under them is a finite sum.

use rand::distr::Distribution;
use rand::rngs::ChaCha8Rng;
use rand_distr::Binomial;

use super::{Dataset, Domain};
use crate::data::dataset::plain_columns;
use crate::data::error::{Result, out_of_range};

/// Points with labels and weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Atoms {
    /// Name for reports.
    pub name: String,
    /// Number of features d.
    pub dimension: usize,
    /// The points, one row of d values in [−1, 1] after the other.
    pub points: Vec<f64>,
    /// Their labels, −1 or +1.
    pub labels: Vec<f64>,
    /// Their weights: probabilities are proportional to these whole numbers from 1.
    pub weights: Vec<u64>,
}

/// How a sample is drawn from atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AtomDraw {
    /// Every atom exactly as often as its weight says, so that the sample is the distribution.
    #[default]
    Balanced,
    /// Independently: multiplicities are multinomial. Atoms that do not occur are left out.
    Independent,
}

impl Atoms {
    /// A4: x = −.95, −.7, .7, .95 with y = sign x.
    #[must_use]
    pub fn a4() -> Self {
        Self {
            name: "A4".into(),
            dimension: 1,
            points: vec![-0.95, -0.7, 0.7, 0.95],
            labels: vec![-1.0, -1.0, 1.0, 1.0],
            weights: vec![1; 4],
        }
    }

    /// X4: x = (±.7, ±.7) with y = sign(x1 x2).
    #[must_use]
    pub fn x4() -> Self {
        Self {
            name: "X4".into(),
            dimension: 2,
            points: vec![-0.7, -0.7, -0.7, 0.7, 0.7, -0.7, 0.7, 0.7],
            labels: vec![1.0, -1.0, -1.0, 1.0],
            weights: vec![1; 4],
        }
    }

    /// The rows of a data set as atoms, with its multiplicities, or 1 each, as weights.
    #[must_use]
    pub fn of(set: &Dataset) -> Self {
        Self {
            name: set.name.clone(),
            dimension: set.dimension,
            points: set.features.clone(),
            labels: set.labels.clone(),
            weights: set.multiplicities.clone().unwrap_or_else(|| vec![1; set.rows()]),
        }
    }

    /// The same atoms, multiplied so that the smallest coordinate that is not 0 has size `gamma`.
    ///
    /// # Errors
    /// [`DataError`](crate::data::DataError) if `gamma` is not positive, or an atom would leave the cube.
    ///
    /// # Examples
    /// ```
    /// use dpbounds_experiments::data::{Request, prepare};
    /// assert_eq!(prepare(&Request::new("atoms:X4,gamma=0.25"))?.row(0), [-0.25, -0.25]);
    /// # Ok::<(), dpbounds_experiments::data::DataError>(())
    /// ```
    pub fn with_gap(mut self, gamma: f64) -> Result<Self> {
        let sizes = || self.points.iter().map(|x| x.abs()).filter(|size| *size > 0.0);
        let smallest = sizes().fold(f64::INFINITY, f64::min);
        let most = smallest / sizes().fold(0.0, f64::max);
        if !(gamma > 0.0 && gamma <= most) {
            let allowed = format!("above 0 and at most {most}, where an atom reaches the cube");
            return Err(out_of_range("atoms: gamma", gamma, allowed));
        }
        for x in &mut self.points {
            *x = (*x / smallest * gamma).clamp(-1.0, 1.0);
        }
        Ok(self)
    }

    /// The distribution: one row an atom, multiplicities proportional to the probabilities.
    ///
    /// # Errors
    /// [`DataError`](crate::data::DataError) if the fields do not fit each other, a point lies outside
    /// [−1, 1], or one label is missing.
    pub fn support(&self) -> Result<Dataset> {
        let set = self.dataset(self.weights.clone(), "the distribution itself");
        set.check()?;
        Ok(set)
    }

    fn dataset(&self, multiplicities: Vec<u64>, how: &str) -> Dataset {
        Dataset {
            name: format!("atoms {}", self.name),
            description: format!("{} atoms, {how}", self.labels.len()),
            dimension: self.dimension,
            features: self.points.clone(),
            labels: self.labels.clone(),
            multiplicities: Some(multiplicities),
            classes: ["-1".to_owned(), "1".to_owned()],
            columns: plain_columns(self.dimension),
            domain: Domain::Cube,
            scaled_by_data: false,
        }
    }

    pub(super) fn sample(
        &self,
        records: u64,
        draw: AtomDraw,
        rng: &mut ChaCha8Rng,
    ) -> Result<Dataset> {
        let total = self.support()?.records();
        if !(2..=1 << 53).contains(&records) {
            return Err(out_of_range("n", records, "2 to 2^53 records"));
        }
        match draw {
            AtomDraw::Balanced => {
                if !records.is_multiple_of(total) {
                    let allowed = format!("multiples of {total}; or draw independently");
                    return Err(out_of_range("n", records, allowed));
                }
                let counts = self.weights.iter().map(|weight| weight * (records / total)).collect();
                Ok(self.dataset(counts, "each as often as its probability says"))
            }
            AtomDraw::Independent => {
                let counts = multinomial(records, &self.weights, total, rng)?;
                let mut set = self.dataset(counts.clone(), "drawn independently");
                let occurs = |index: &usize| counts[*index] > 0;
                let kept: Vec<usize> = (0..counts.len()).filter(occurs).collect();
                set.features = kept.iter().flat_map(|&atom| self.point(atom)).copied().collect();
                set.labels = kept.iter().map(|&atom| self.labels[atom]).collect();
                set.multiplicities = Some(kept.iter().map(|&atom| counts[atom]).collect());
                Ok(set)
            }
        }
    }

    fn point(&self, atom: usize) -> &[f64] {
        &self.points[atom * self.dimension..(atom + 1) * self.dimension]
    }
}

/// Multinomial counts, one atom after the other: each is binomial among the records that are left.
fn multinomial(
    mut records: u64,
    weights: &[u64],
    mut total: u64,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<u64>> {
    let mut counts = Vec::with_capacity(weights.len());
    for &weight in weights {
        #[allow(clippy::cast_precision_loss)] // below 2^53
        let share = weight as f64 / total as f64;
        let count = if weight == total {
            records
        } else {
            let binomial = Binomial::new(records, share)
                .map_err(|_| out_of_range("weights", weight, "whole numbers from 1"))?;
            binomial.sample(rng).min(records)
        };
        counts.push(count);
        records -= count;
        total -= weight;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Part, Synthetic};

    #[test]
    fn balanced_samples_are_the_distribution() {
        let set: Synthetic = "atoms:A4,n=1e6".parse().unwrap();
        let sample = set.draw(0, Part::Training).unwrap();
        assert_eq!(sample.multiplicities, Some(vec![250_000; 4]));
        assert_eq!(sample.weights(), set.support().unwrap().unwrap().weights());
        let odd: Synthetic = "atoms:A4,n=6".parse().unwrap();
        let error = odd.draw(0, Part::Training).unwrap_err().to_string();
        assert!(error.contains("multiples of 4"), "{error}");
    }

    #[test]
    fn labels_of_x4_are_the_sign_of_the_product() {
        let atoms = Atoms::x4();
        for (point, label) in atoms.points.chunks(2).zip(&atoms.labels) {
            assert_eq!((point[0] * point[1]).signum(), *label);
        }
    }

    #[test]
    fn independent_samples_have_multinomial_counts() {
        let atoms = Atoms { weights: vec![1, 2, 3, 4], ..Atoms::a4() };
        let family = super::super::Family::Atoms { atoms, draw: AtomDraw::Independent };
        let (n, draws) = (100_u64, 400_u32);
        let set = Synthetic { family, records: n };
        let (mut sum, mut squares) = (0.0, 0.0);
        for seed in 0..draws {
            let sample = set.draw(seed.into(), Part::Training).unwrap();
            assert_eq!(sample.records(), n);
            let counts = sample.multiplicities.clone().unwrap();
            let last = sample.features.iter().position(|&x| x == 0.95).map_or(0, |at| counts[at]);
            sum += last as f64;
            squares += (last * last) as f64;
        }
        let mean = sum / f64::from(draws);
        let variance = squares / f64::from(draws) - mean * mean;
        // Mean 40 with standard error sqrt(24/400) = 0.24; variance 24 with standard error 1.7.
        assert!((mean - 40.0).abs() < 1.2 && (variance - 24.0).abs() < 8.0, "{mean} {variance}");
    }

    #[test]
    fn a_gap_scales_all_points() {
        let set: Synthetic = "atoms:A4,gamma=0.14".parse().unwrap();
        let sample = set.draw(0, Part::Training).unwrap();
        let expected = [-0.19, -0.14, 0.14, 0.19];
        assert!(sample.features.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15));
        assert!("atoms:A4,gamma=0.736".parse::<Synthetic>().is_ok());
        for (gamma, said) in [("0.74", "at most 0.7368"), ("0", "above 0"), ("-1", "above 0")] {
            let error = format!("atoms:A4,gamma={gamma}").parse::<Synthetic>().unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn atoms_that_do_not_occur_are_left_out() {
        let set: Synthetic = "atoms:A4,n=2,draw=independent".parse().unwrap();
        let sample = (0..50).find_map(|seed| set.draw(seed, Part::Training).ok()).unwrap();
        assert_eq!((sample.rows(), sample.records()), (2, 2));
    }
}
