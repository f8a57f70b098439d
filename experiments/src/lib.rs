//! Experiments: data sets, and published numbers recomputed from the inputs that their papers print.

pub mod data;
pub mod paper_tables;
