//! PAC-Bayes bounds by name.

use super::parameters::*;
use super::{Arguments, Entry, entry};
use crate::error::Result;
use crate::pac_bayes::{
    Prior, Problem, catoni, certify, complexity, gaussian_kl, kl_bernoulli, kl_inverse_lower,
    kl_inverse_upper, kl_inverse_upper_complement, prior_grid, relaxations, sampling,
};
use crate::warrant::Bound;

const PAPER: &str = "arXiv 2605.26222";
const DOCS: &str = "docs/theory/pac-bayes.md";

type OfComplexity = fn(f64, f64) -> Result<Bound>;

fn of_complexity(f: OfComplexity, a: &Arguments<'_>) -> Result<Bound> {
    f(a.number("risk")?, a.number("complexity")?)
}

fn certificate(a: &Arguments<'_>) -> Result<Bound> {
    let delta = a.number("delta")?;
    let prior = match a.optional_number("max_information")? {
        None => Prior::DataIndependent,
        Some(max_information) => Prior::Private {
            max_information,
            level: a.optional_number("level")?.unwrap_or(delta / 2.0),
        },
    };
    let choices = if a.optional_number("choices")?.is_some() { a.count("choices")? } else { 1 };
    let problem = Problem {
        risk: a.number("risk")?,
        n: a.count("n")?,
        kl: a.optional_number("kl")?,
        prior,
        delta,
        choices,
    };
    certify(&problem, None)
}

const INVERSE: &[Parameter] = &[RISK, COMPLEXITY];

pub(super) const ENTRIES: &[Entry] = &[
    entry(
        "pac_bayes",
        "risk certificate, best form",
        &[
            RISK,
            N,
            OPEN_DELTA,
            KL.optional(),
            MAX_INFORMATION.optional(),
            LEVEL.optional(),
            CHOICES.optional(),
        ],
        PAPER,
        certificate,
    ),
    entry("kl_bernoulli", "binary KL divergence", &[Q_RISK, P_RISK], "definition", |a| {
        kl_bernoulli(a.number("q")?, a.number("p")?)
    }),
    entry("kl_inverse_upper", "upper inverse of the binary KL", INVERSE, "Seeger 2002", |a| {
        of_complexity(kl_inverse_upper, a)
    }),
    entry("kl_inverse_upper_complement", "1 - upper inverse", INVERSE, "Seeger 2002", |a| {
        of_complexity(kl_inverse_upper_complement, a)
    }),
    entry("kl_inverse_lower", "lower inverse of the binary KL", INVERSE, "Seeger 2002", |a| {
        of_complexity(kl_inverse_lower, a)
    }),
    entry(
        "pac_bayes_complexity",
        "complexity with a private prior, level delta/2",
        &[N, KL, MAX_INFORMATION, OPEN_DELTA],
        PAPER,
        |a| {
            let max_information = a.number("max_information")?;
            complexity::private_prior(
                a.count("n")?,
                a.number("kl")?,
                max_information,
                a.number("delta")?,
            )
        },
    ),
    entry(
        "pac_bayes_complexity_split",
        "the same with the max-information at any level below delta",
        &[N, KL, MAX_INFORMATION, OPEN_DELTA, LEVEL],
        DOCS,
        |a| {
            complexity::private_prior_at_level(
                a.count("n")?,
                a.number("kl")?,
                a.number("max_information")?,
                a.number("delta")?,
                a.number("level")?,
            )
        },
    ),
    entry(
        "pac_bayes_complexity_private_model",
        "one-sided complexity of a privately trained model",
        &[N, MAX_INFORMATION, OPEN_DELTA, LEVEL.optional()],
        DOCS,
        |a| {
            let delta = a.number("delta")?;
            let level = a.optional_number("level")?.unwrap_or(delta / 2.0);
            complexity::private_model(a.count("n")?, a.number("max_information")?, delta, level)
        },
    ),
    entry(
        "pac_bayes_seeger_complexity",
        "complexity with a data-independent prior",
        &[N, KL, OPEN_DELTA],
        "Seeger 2002, Maurer 2004",
        |a| complexity::seeger(a.count("n")?, a.number("kl")?, a.number("delta")?),
    ),
    entry(
        "pac_bayes_fixed_model_complexity",
        "one-sided complexity of a fixed model",
        &[N, OPEN_DELTA],
        "Chernoff",
        |a| complexity::fixed_model(a.count("n")?, a.number("delta")?),
    ),
    entry("pac_bayes_mcallester", "Pinsker form", INVERSE, "McAllester 1999", |a| {
        of_complexity(relaxations::mcallester, a)
    }),
    entry("pac_bayes_quadratic", "quadratic form", INVERSE, "Rivasplata et al. 2019", |a| {
        of_complexity(relaxations::quadratic, a)
    }),
    entry(
        "pac_bayes_lambda",
        "lambda form",
        &[RISK, COMPLEXITY, THIEMANN_LAMBDA],
        "Thiemann et al. 2017",
        |a| relaxations::lambda(a.number("risk")?, a.number("complexity")?, a.number("lambda")?),
    ),
    entry(
        "pac_bayes_lambda_star",
        "best lambda of the lambda form",
        &[RISK, POSITIVE_COMPLEXITY],
        "Thiemann et al. 2017",
        |a| of_complexity(relaxations::lambda_star, a),
    ),
    entry(
        "pac_bayes_lambda_optimised",
        "lambda form at its best lambda",
        &[RISK, POSITIVE_COMPLEXITY],
        "Thiemann et al. 2017",
        |a| of_complexity(relaxations::lambda_optimised, a),
    ),
    entry(
        "pac_bayes_catoni",
        "Catoni's form for a fixed parameter",
        &[RISK, N, KL, OPEN_DELTA, CATONI_C],
        "Catoni 2007",
        |a| {
            let (risk, n) = (a.number("risk")?, a.count("n")?);
            catoni::catoni(risk, n, a.number("kl")?, a.number("delta")?, a.number("c")?)
        },
    ),
    entry(
        "pac_bayes_catoni_optimised",
        "infimum of Catoni's form: an identity, not a bound",
        &[RISK, N, KL, OPEN_DELTA],
        "Germain et al. 2009",
        |a| catoni::infimum(a.number("risk")?, a.count("n")?, a.number("kl")?, a.number("delta")?),
    ),
    entry(
        "pac_bayes_catoni_grid",
        "Catoni's form over a fixed grid of 16 parameters",
        &[RISK, COMPLEXITY, N],
        "Catoni 2007, union bound",
        |a| catoni::over_grid(a.number("risk")?, a.number("complexity")?, a.count("n")?),
    ),
    entry(
        "clopper_pearson_upper",
        "upper limit from 0/1 draws",
        &[ERRORS, DRAWS, OPEN_DELTA],
        "Clopper and Pearson 1934",
        |a| sampling::clopper_pearson(a.count("errors")?, a.count("draws")?, a.number("delta")?),
    ),
    entry(
        "langford_upper",
        "kl upper limit from draws in [0, 1]",
        &[ERRORS, DRAWS, OPEN_DELTA],
        "Langford 2005",
        |a| sampling::langford(a.count("errors")?, a.count("draws")?, a.number("delta")?),
    ),
    entry(
        "gaussian_kl_isotropic",
        "KL of isotropic Gaussians",
        &[DIMENSION, SQUARED_DISTANCE, POSTERIOR_VARIANCE, PRIOR_VARIANCE],
        "standard",
        |a| {
            gaussian_kl::isotropic(
                a.count("dimension")?,
                a.number("squared_distance")?,
                a.number("posterior_variance")?,
                a.number("prior_variance")?,
            )
        },
    ),
    entry(
        "gaussian_kl_diagonal",
        "KL of diagonal Gaussians",
        &[POSTERIOR_MEANS, PRIOR_MEANS, POSTERIOR_VARIANCES, PRIOR_VARIANCES],
        "standard",
        |a| {
            gaussian_kl::diagonal(
                a.list("posterior_mean")?,
                a.list("prior_mean")?,
                a.list("posterior_variance")?,
                a.list("prior_variance")?,
            )
        },
    ),
    entry(
        "prior_grid_penalty",
        "union-bound penalty at an unrounded index: for comparison",
        &[VARIANCE, GRID_C, GRID_B],
        "Dziugaite and Roy 2017",
        |a| prior_grid::penalty(a.number("variance")?, a.number("c")?, a.number("b")?),
    ),
    entry(
        "prior_grid_nearest",
        "union-bound penalty at the nearest grid point; its variance is in the source",
        &[VARIANCE, GRID_C, GRID_B],
        "Dziugaite and Roy 2017",
        |a| prior_grid::nearest_penalty(a.number("variance")?, a.number("c")?, a.number("b")?),
    ),
];
