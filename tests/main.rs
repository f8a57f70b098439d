//! End-to-end tests of dpbounds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic

mod accounting_cli;
mod certificate_cli;
mod certify_cli;
mod cli;
mod data_cli;
mod eval;
mod experiment_cli;
mod margin_cli;
mod negative_controls;
mod oracles;
mod privacy_negative_controls;
mod privacy_oracles;
mod readme;
mod real_data_certificates;
mod reproduction;
mod support;
mod verify_cli;
