//! The 0/1 risk of a Gaussian posterior by sampling.

use rayon::prelude::*;

use super::blocks::rows_of_a_block;
use super::network::{Network, is_correct};
use super::records::Records;
use super::stochastic::{Gaussian, Noise, draw};
use crate::train::{TrainError, noise_key};

/// Errors in `draws` independent draws at each record: `draws·n` independent pairs of a network from the
/// posterior and a record, each record equally often.
///
/// The outputs at a record are drawn from their exact law (rounding apart), so a pair errs with the posterior's
/// probability of an error at its record. Bound the Gibbs risk from the count by the kl form
/// ([`dpbounds_bounds::pac_bayes::sampling::langford`] with `draws·n`): with the records fixed, the count is a sum of
/// independent 0/1 variables, whose moments are at most those of a binomial with the same mean.
///
/// # Errors
/// [`TrainError`] for a posterior or records that do not fit the network, or no draws.
pub fn gibbs_errors(
    network: &Network,
    posterior: &Gaussian,
    records: &Records,
    draws: u32,
    seed: u64,
) -> Result<u64, TrainError> {
    posterior.check(network)?;
    network.check(&posterior.mean, records)?;
    if draws == 0 {
        return Err(TrainError::Value { what: "draws", value: 0.0, allowed: "at least 1" });
    }
    let variance: Vec<f32> = posterior.deviation.iter().map(|s| s * s).collect();
    let parameters = (&*posterior.mean, &*variance);
    let (widths, depth, all) = (network.widths(), network.depth(), records.all());
    let key = noise_key(seed);
    let rows = |widths: &[usize], count: usize| -> Vec<Vec<f32>> {
        widths.iter().map(|width| vec![0.0; width * count]).collect()
    };
    let errors_of = |step: u64, index: usize, block: &[u32]| -> u64 {
        let mut activations = rows(widths, block.len());
        let mut squares = rows(&widths[..depth], block.len());
        let mut factors = rows(&widths[1..], block.len());
        records.gather(block, &mut activations[0]);
        let mut activations = views(&mut activations);
        let noise = Noise { key, step };
        draw(
            network,
            parameters,
            &mut activations,
            &mut views(&mut squares),
            &mut views(&mut factors),
            |layer| noise.stream(index, layer),
        );
        let outputs = activations[depth].chunks_exact(records.classes());
        let wrong =
            outputs.zip(block).filter(|(row, record)| !is_correct(row, records.label(**record)));
        wrong.count() as u64
    };
    // Steps of training count from 0 in the lower half of their range.
    let first = 1 << 31;
    Ok((0..u64::from(draws))
        .map(|repetition| -> u64 {
            all.par_chunks(rows_of_a_block(all.len()))
                .enumerate()
                .map(|(index, block)| errors_of(first + repetition, index, block))
                .sum()
        })
        .sum())
}

fn views(layers: &mut [Vec<f32>]) -> Vec<&mut [f32]> {
    layers.iter_mut().map(Vec::as_mut_slice).collect()
}
