//! The network, its constants, the margin and the comparator against reference values and properties.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "kan/certificate_attack.rs"]
mod certificate_attack;
#[path = "kan/certificate_controls.rs"]
mod certificate_controls;
#[path = "kan/certificate_fuzz.rs"]
mod certificate_fuzz;
#[path = "kan/certificate_population.rs"]
mod certificate_population;
#[path = "kan/certificates.rs"]
mod certificates;
#[path = "kan/comparator.rs"]
mod comparator;
#[path = "kan/constants.rs"]
mod constants;
#[path = "kan/margin.rs"]
mod margin;
#[path = "kan/network.rs"]
mod network;
#[path = "kan/oracle.rs"]
mod oracle;
#[path = "kan/reference_certificates.rs"]
mod reference_certificates;
