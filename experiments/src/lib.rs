//! experiments placeholder
