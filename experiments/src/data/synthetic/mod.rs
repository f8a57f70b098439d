//! Families of distributions from which data are drawn with a seed.
//!
//! Random numbers are those of ChaCha8: stream 0 of the seed makes the distribution (a hyperplane, a
//! teacher), stream 1 the training sample, stream 2 the held-out sample. A smaller sample is the
//! beginning of a larger one, and nothing depends on the number of threads.

mod atoms;
mod points;
mod spec;
mod teacher;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

pub use atoms::{AtomDraw, Atoms};
pub use teacher::TeacherKind;

use super::dataset::{Dataset, Domain, MOST_COLUMNS, plain_columns};
use super::error::{DataError, Place, Result, RowProblem, out_of_range};

/// Most values n d of a sample of points: 2 GiB.
const MOST_VALUES: u64 = 1 << 28;

/// Which sample is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Part {
    /// The sample that is trained on.
    #[default]
    Training,
    /// A sample of the same distribution, independent of the first.
    HeldOut,
}

/// A distribution of inputs and labels.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Family {
    /// Finitely many points.
    Atoms {
        /// The points.
        atoms: Atoms,
        /// How a sample is drawn from them.
        draw: AtomDraw,
    },
    /// Two Gaussian clusters around `±(separation/2) (1, .., 1)/√d`, each as likely as the other;
    /// coordinates outside [−1, 1] are drawn again.
    Clusters {
        /// Number of features d, 1 to 65536.
        dimension: usize,
        /// Distance of the two centres, above 0 and at most 2 √d.
        separation: f64,
        /// Standard deviation of every coordinate before the cut, above 0 and at most 2.
        spread: f64,
    },
    /// Points at least `margin` from a random hyperplane through 0, which decides the label. Uniform on
    /// either half of the domain, shrunk towards its point farthest from the hyperplane.
    Margin {
        /// Number of features d, 1 to 65536.
        dimension: usize,
        /// Least distance γ from the hyperplane, in [0, 1).
        margin: f64,
        /// Where the points lie.
        domain: Domain,
    },
    /// Points of the cube with `|x_1|, |x_2| >= gap`, labelled by the sign of `x_1 x_2`.
    Xor {
        /// Number of features d, 2 to 65536; those after the second are noise.
        dimension: usize,
        /// Least size of the first two coordinates, in [0, 1).
        gap: f64,
    },
    /// Uniform points labelled by a random function.
    Teacher {
        /// Number of features d, 1 to 65536.
        dimension: usize,
        /// The function.
        kind: TeacherKind,
        /// Where the points lie.
        domain: Domain,
        /// Probability that a label is turned, in [0, 1/2).
        flip: f64,
    },
}

/// A family and the size of the sample; also read from a text such as `margin:n=500,d=3,gamma=0.2`.
///
/// | family | parameters and defaults |
/// |---|---|
/// | `atoms` | `A4` or `X4`, `n` (4, a multiple of the atoms), `draw` (`balanced`, `independent`), `gamma` (smallest coordinate but 0 of the scaled points) |
/// | `clusters` | `n` (1000), `d` (2), `separation` (1), `spread` (0.2) |
/// | `margin` | `n` (1000), `d` (2), `gamma` (0.1), `domain` (`cube`, `ball`) |
/// | `xor` | `n` (1000), `d` (2), `gap` (0.1) |
/// | `teacher` | `n` (1000), `d` (2), `kind` (`kan`, `linear`), `degree` (3), `size` (6), `width` (16), `domain`, `flip` (0) |
///
/// # Examples
/// ```
/// use dpbounds_experiments::data::{Part, Synthetic};
/// let family: Synthetic = "margin:n=500,d=3,gamma=0.2,domain=ball".parse()?;
/// let sample = family.draw(7, Part::Training)?;
/// assert_eq!((sample.rows(), sample.dimension), (500, 3));
/// assert_ne!(sample.features, family.draw(7, Part::HeldOut)?.features);
/// # Ok::<(), dpbounds_experiments::data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Synthetic {
    /// The distribution.
    pub family: Family,
    /// Number of records n: from 2; at most 2^53 for atoms, and n d at most 2^28 for points.
    pub records: u64,
}

impl Synthetic {
    /// Draws a sample.
    ///
    /// # Errors
    /// [`DataError`] for a parameter out of range, or if all labels are the same.
    pub fn draw(&self, seed: u64, part: Part) -> Result<Dataset> {
        let n = self.records;
        let mut distribution = stream(seed, 0);
        let mut sample = stream(
            seed,
            match part {
                Part::Training => 1,
                Part::HeldOut => 2,
            },
        );
        let dataset = match &self.family {
            Family::Atoms { atoms, draw } => atoms.sample(n, *draw, &mut sample)?,
            Family::Clusters { dimension, separation, spread } => {
                let rows = self.size(*dimension, 1)?;
                let points = points::clusters(rows, *dimension, *separation, *spread, &mut sample)?;
                let about = format!(
                    "two Gaussian clusters, centres {separation} apart, standard deviation {spread}, \
                     cut off at the cube"
                );
                dataset("clusters", about, *dimension, points, Domain::Cube)
            }
            Family::Margin { dimension, margin, domain } => {
                let rows = self.size(*dimension, 1)?;
                let normal = points::direction(*dimension, &mut distribution);
                let points = points::margin(rows, &normal, *margin, *domain, &mut sample)?;
                let about = format!("points at least {margin} from a random hyperplane through 0");
                dataset("margin", about, *dimension, points, *domain)
            }
            Family::Xor { dimension, gap } => {
                let rows = self.size(*dimension, 2)?;
                let points = points::xor(rows, *dimension, *gap, &mut sample)?;
                let about = format!("sign of x1 x2, both at least {gap} in size");
                dataset("xor", about, *dimension, points, Domain::Cube)
            }
            Family::Teacher { dimension, kind, domain, flip } => {
                let rows = self.size(*dimension, 1)?;
                let teacher = kind.build(*dimension, *domain, &mut distribution)?;
                let points = teacher.label(rows, *domain, *flip, &mut sample)?;
                let about = format!("labels of a {kind}, turned with probability {flip}");
                dataset("teacher", about, *dimension, points, *domain)
            }
        };
        dataset.check()?;
        Ok(dataset)
    }

    /// The distribution itself, if it has finitely many points: its weights are the exact
    /// probabilities, so that a mean over it is an expectation.
    ///
    /// # Errors
    /// [`DataError`] if the atoms do not fit each other.
    pub fn support(&self) -> Result<Option<Dataset>> {
        match &self.family {
            Family::Atoms { atoms, .. } => atoms.support().map(Some),
            _ => Ok(None),
        }
    }

    /// Number of rows of a sample of points.
    fn size(&self, dimension: usize, least: usize) -> Result<usize> {
        if dimension < least {
            return Err(out_of_range(
                "d",
                dimension,
                format!("{least} to {MOST_COLUMNS} features"),
            ));
        }
        if dimension > MOST_COLUMNS {
            return Err(DataError::Row {
                file: "synthetic data".to_owned(),
                place: Place::Record(1),
                problem: RowProblem::TooManyColumns { found: dimension, limit: MOST_COLUMNS },
            });
        }
        let most = MOST_VALUES / dimension as u64;
        match usize::try_from(self.records) {
            Ok(rows) if (2..=most).contains(&self.records) => Ok(rows),
            _ => {
                let allowed = format!("2 to {most} records of {dimension} features (2^28 values)");
                Err(out_of_range("n", self.records, allowed))
            }
        }
    }
}

fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    rng
}

/// Inputs row by row, and labels.
type Points = (Vec<f64>, Vec<f64>);

fn dataset(
    name: &str,
    description: String,
    dimension: usize,
    (features, labels): Points,
    domain: Domain,
) -> Dataset {
    Dataset {
        name: name.to_owned(),
        description,
        dimension,
        features,
        labels,
        multiplicities: None,
        classes: ["-1".to_owned(), "1".to_owned()],
        columns: plain_columns(dimension),
        domain,
        scaled_by_data: false,
    }
}

/// Refuses a parameter unless it is `ok`.
fn within(parameter: &str, value: f64, ok: bool, allowed: &str) -> Result<()> {
    if ok { Ok(()) } else { Err(out_of_range(parameter, value, allowed)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(text: &str) -> Synthetic {
        text.parse().unwrap()
    }

    const ALL: [&str; 7] = [
        "atoms:A4,n=400,draw=independent",
        "clusters:d=3,spread=1.5",
        "margin:d=4,gamma=0.5,domain=ball",
        "margin:d=4,gamma=0.5",
        "xor:d=3",
        "teacher:d=3,flip=0.1",
        "teacher:d=3,kind=linear,domain=ball",
    ];

    #[test]
    fn a_seed_decides_everything_and_parts_differ() {
        for text in ALL {
            let set = family(text);
            let first = set.draw(3, Part::Training).unwrap();
            assert_eq!(set.draw(3, Part::Training).unwrap(), first, "{text}");
            for other in [set.draw(4, Part::Training), set.draw(3, Part::HeldOut)] {
                assert_ne!(other.unwrap().checksum(), first.checksum(), "{text}");
            }
        }
    }

    #[test]
    fn a_small_sample_begins_a_large_one() {
        for text in &ALL[1..] {
            let set = family(text);
            let small = Synthetic { records: 100, ..set.clone() }.draw(1, Part::HeldOut).unwrap();
            let large = set.draw(1, Part::HeldOut).unwrap();
            assert_eq!(large.features[..small.features.len()], small.features, "{text}");
            assert_eq!(large.labels[..100], small.labels, "{text}");
        }
    }

    #[test]
    fn inputs_stay_in_their_domain_and_classes_are_balanced() {
        for text in ALL {
            let set = family(text).draw(0, Part::Training).unwrap();
            let [negative, positive] = set.class_counts();
            assert!(negative * 3 > positive && positive * 3 > negative, "{text}");
            for row in set.features.chunks(set.dimension) {
                let norm = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                assert!(set.domain == Domain::Cube || norm <= 1.0 + 1e-12, "{text}");
            }
        }
    }

    #[test]
    fn only_atoms_have_an_exact_support() {
        let support = family("atoms:X4").support().unwrap().unwrap();
        assert_eq!(support.weights(), [0.25; 4]);
        assert_eq!(family("xor").support().unwrap(), None);
    }

    #[test]
    fn the_streams_are_pinned() {
        let first = |text: &str| family(text).draw(0, Part::Training).unwrap().features[0];
        let pinned = [first("clusters"), first("margin"), first("xor"), first("teacher")];
        for (value, pinned) in pinned.iter().zip(PINNED) {
            assert!((value - pinned).abs() < 1e-14, "{value} is no longer {pinned}");
        }
    }

    /// Values of this implementation: a change of any is a change of every recorded experiment.
    const PINNED: [f64; 4] =
        [0.282393557787636, 0.5524603061476109, 0.7643050876891728, 0.5110620333740921];
}
