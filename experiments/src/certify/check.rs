//! A saved certificate, computed once more from its weights and its data.

use std::path::Path;

use super::budget::Budget;
use super::document::Document;
use super::error::Result;
use super::run::{recount, run};
use super::sample::Sample;
use super::settings::Method;

/// One thing that a certificate says, and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What is compared.
    pub what: &'static str,
    /// What the certificate says.
    pub stated: String,
    /// What was found.
    pub found: String,
    /// Whether they agree.
    pub agrees: bool,
}

/// Errors counted on another processor may differ by this share of the draws: single precision rounds differently.
const OTHER_PROCESSOR: f64 = 1e-4;
/// Relative difference of the divergence, whose sum is rounded.
const SUMMATION: f64 = 1e-6;

/// Computes a saved certificate again: checksums of data and weights, the divergence, the errors, the max-information
/// and the bounds. With `retrain`, prior and posterior are also trained again and compared bit by bit.
///
/// That settings, seed and division of the data were fixed before anybody looked at the data cannot be seen in a file.
///
/// # Errors
/// [`super::CertifyError`] if a file cannot be read. What differs is a [`Finding`].
pub fn check(path: &Path, retrain: bool) -> Result<Vec<Finding>> {
    let document = Document::read(path)?;
    let (arrays, checksum) = document.read_weights(path)?;
    let sample = Sample::load(&document.source)?;
    let mut findings = vec![
        equal("data checksum", &document.sample.checksum, &sample.checksum),
        equal("weights checksum", &document.weights.checksum, &checksum),
    ];
    let (ingredients, settings) = (&document.ingredients, &document.settings);
    findings.extend(consistency(&document, sample.records()));
    if findings.iter().any(|finding| !finding.agrees) {
        // What follows would be about other data, other weights or other settings.
        return Ok(findings);
    }
    document.settings.check(sample.records())?;
    let empty = Vec::new();
    let (prior, posterior) = (&arrays[0], &arrays[1]);
    let weights = (&prior[..], &posterior[..], &arrays.get(2).unwrap_or(&empty)[..]);
    let at = (document.spread, document.seed);
    let again = recount(&document.settings, &sample, weights, at)?;
    findings.push(Finding {
        what: "mean of the prior",
        stated: if settings.priors.is_empty() { "the initial network" } else { "learned" }
            .to_owned(),
        found: if again.prior_is_initial { "as stated" } else { "another" }.to_owned(),
        agrees: again.prior_is_initial,
    });
    let same_processor = again.instruction_set == document.instruction_set;
    let allowed = |trials: u64| {
        #[allow(clippy::cast_precision_loss)]
        if same_processor { 0.0 } else { OTHER_PROCESSOR * trials as f64 }
    };
    let number = |what, stated: f64, found: f64, within: f64| Finding {
        what,
        stated: stated.to_string(),
        found: found.to_string(),
        agrees: (stated - found).abs() <= within,
    };
    #[allow(clippy::cast_precision_loss)]
    let count = |what, stated: u64, found: u64, trials: u64| {
        number(what, stated as f64, found as f64, allowed(trials))
    };
    let drift = SUMMATION * ingredients.kl;
    findings.push(number("divergence [nats]", ingredients.kl, again.kl, drift));
    if let (Some(stated), Some(found)) = (ingredients.model_errors, again.model_errors) {
        findings.push(count(
            "training errors of the private model",
            stated,
            found,
            ingredients.records,
        ));
    }
    let (stated, found) = (ingredients.gibbs_errors, again.gibbs_errors);
    findings.push(count("errors among the draws", stated, found, ingredients.draws));
    // The bounds as they follow from what the certificate says, which was compared above.
    let (stated, found) = (&document.certified, ingredients.certify()?);
    let pairs = [
        ("max-information [nats]", stated.max_information, found.max_information),
        ("B(h0)", stated.model_bound, found.model_bound),
        ("B(rho)", Some(stated.posterior_bound), Some(found.posterior_bound)),
        ("failure probability", Some(stated.failure_probability), Some(found.failure_probability)),
        ("R^(h0)", stated.model_risk, found.model_risk),
        ("nats per record of h0", stated.model_complexity, found.model_complexity),
        ("R^(rho)", Some(stated.posterior_risk), Some(found.posterior_risk)),
        ("limit of R^(rho)", Some(stated.posterior_risk_upper), Some(found.posterior_risk_upper)),
        ("nats per record", Some(stated.posterior_complexity), Some(found.posterior_complexity)),
    ];
    for (what, stated, found) in pairs {
        match (stated, found) {
            (None, None) => {}
            (Some(stated), Some(found)) => {
                findings.push(number(what, stated, found, 1e-9 * found.abs()));
            }
            _ => findings.push(equal(what, &format!("{stated:?}"), &format!("{found:?}"))),
        }
    }
    if retrain {
        let trained = run(&document.settings, &sample, document.seed)?;
        let same = trained.prior == arrays[0]
            && trained.posterior == arrays[1]
            && trained.deviations == *weights.2
            && trained.ingredients == *ingredients
            && (trained.chosen, trained.spread) == (document.chosen, document.spread);
        let found = if same { "the same bits" } else { "others" }.to_owned();
        let stated = "the same bits".to_owned();
        findings.push(Finding { what: "trained again", stated, found, agrees: same });
    }
    Ok(findings)
}

/// What the parts of a certificate say of each other.
fn consistency(document: &Document, records: usize) -> Vec<Finding> {
    let (settings, ingredients) = (&document.settings, &document.ingredients);
    let draws = u64::from(settings.draws) * records as u64;
    let total = ingredients.budget.total();
    let shares = match settings.method {
        Method::DataIndependent => Budget::data_independent(total),
        _ => Budget::private(total),
    };
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12;
    let usual = near(shares.max_information, ingredients.budget.max_information)
        && near(shares.model, ingredients.budget.model)
        && near(shares.posterior, ingredients.budget.posterior);
    let is_one_of = settings.spreads.contains(&document.spread);
    let chosen = document.chosen < settings.priors.len().max(1);
    vec![
        equal("records", &ingredients.records.to_string(), &records.to_string()),
        equal("draws", &ingredients.draws.to_string(), &draws.to_string()),
        equal("spreads", &ingredients.spreads.to_string(), &settings.spreads.len().to_string()),
        Finding {
            what: "settings of the private prior",
            stated: format!("{} and number {}", ingredients.priors.len(), document.chosen),
            found: format!("{}", settings.priors.len()),
            agrees: ingredients.priors == settings.priors && chosen,
        },
        Finding {
            what: "the spread",
            stated: document.spread.to_string(),
            found: format!(
                "{} among {}",
                if is_one_of { "one" } else { "none" },
                settings.spreads.len()
            ),
            agrees: is_one_of,
        },
        Finding {
            what: "failure probabilities",
            stated: format!("{:?}", ingredients.budget),
            found: format!("{:?}", settings.budget),
            agrees: ingredients.budget == settings.budget && usual,
        },
        Finding {
            what: "training errors",
            stated: format!("{:?}", ingredients.model_errors),
            found: if settings.priors.is_empty() { "none" } else { "a number" }.to_owned(),
            agrees: ingredients.model_errors.is_some() != settings.priors.is_empty(),
        },
    ]
}

fn equal(what: &'static str, stated: &str, found: &str) -> Finding {
    Finding { what, stated: stated.to_owned(), found: found.to_owned(), agrees: stated == found }
}
