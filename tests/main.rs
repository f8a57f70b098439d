//! End-to-end tests of dpbounds.

mod oracles;
