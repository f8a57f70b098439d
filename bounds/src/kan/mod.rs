//! Kolmogorov–Arnold networks trained by DP-SGD: what the theory of arXiv 2605.12648 predicts.

pub mod rates;
