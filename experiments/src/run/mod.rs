//! Experiments as files: a TOML names data, model, algorithm, swept parameters and seeds; the runs are
//! spread over threads, recorded one JSON line each, and end in measured slopes beside predicted ones.

mod builtin;
mod certificate;
mod curve;
mod error;
mod estimate;
mod fit;
mod grid;
mod judgement;
mod material;
mod measure;
mod read;
mod record;
mod runner;
mod spec;
mod summary;

pub use builtin::{BuiltIn, built_in, built_ins};
pub use certificate::{CertificateSpec, Certified, RouteName};
pub use curve::Curve;
pub use error::{Result, RunError};
pub use fit::{Slope, Verdict, fit};
pub use grid::{Plan, Point};
pub use judgement::{Judgement, Standing, judge};
pub use measure::{AveragedRisk, Outcome};
pub use record::{Header, Record};
pub use runner::{Finished, Options, load, run, run_in_memory};
pub use spec::{
    ActivationName, Algorithm, Axis, BoundName, Dtype, InitialisationName, Measure, Model, Privacy,
    Quick, Response, Seeds, SlopeSpec, Spec, ViaName,
};
pub use summary::{mean_and_error, summary_csv};
