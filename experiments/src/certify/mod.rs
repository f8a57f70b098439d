//! PAC-Bayes certificates of trained networks whose prior was learned privately from the same data.

mod budget;
mod certificate;
mod check;
mod dense;
mod document;
mod error;
mod machine;
mod posterior;
mod private_prior;
mod run;
mod runner;
mod sample;
mod settings;

pub use budget::Budget;
pub use certificate::{Certified, Ingredients, max_information};
pub use check::{Finding, check};
pub use document::{Document, Facts, WeightsFile};
pub use error::CertifyError;
pub use posterior::PosteriorTraining;
pub use private_prior::PrivatePrior;
pub use run::{Run, Tested, run};
pub use runner::{RECORDS, Record, certify};
pub use sample::{Part, Sample, Source};
pub use settings::{Dense, Kan, MOST_UPDATES, Method, Model, Settings, usual_max_information};
