//! Accounts, calibrations, audits and searches on random plans with fixed seeds: orders, both sides, and
//! what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "accounting/batches.rs"]
mod batches;
#[path = "accounting/calibration.rs"]
mod calibration;
#[path = "accounting/matrix.rs"]
mod matrix;
#[path = "accounting/orders.rs"]
mod orders;
#[path = "accounting/support.rs"]
mod support;
