//! Experiments: data sets, training by DP-SGD with correlated noise, and published numbers recomputed from the inputs that their papers print.

pub mod certify;
pub mod data;
pub mod kan;
pub mod ledger;
mod lines;
pub mod mlp;
pub mod paper_tables;
pub mod run;
pub mod train;
mod whole;
