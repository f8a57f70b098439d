//! Orderings, monotony and identities of the bounds on random arguments, with fixed seeds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

#[path = "properties/max_information.rs"]
mod max_information;
#[path = "properties/pac_bayes.rs"]
mod pac_bayes;
#[path = "properties/privacy.rs"]
mod privacy;
#[path = "properties/renyi.rs"]
mod renyi;
#[path = "properties/support.rs"]
mod support;
