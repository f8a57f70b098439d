//! Published numbers recomputed from the inputs that their papers print.

pub mod paper_tables;
