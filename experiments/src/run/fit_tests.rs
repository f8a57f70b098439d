use super::*;

fn group(of: impl Fn(f64, usize) -> f64) -> Group {
    let xs = vec![1.0, 2.0, 4.0, 8.0];
    let row =
        |x: &f64| vec![Choice { at: 0.0, values: (0..6).map(|seed| Some(of(*x, seed))).collect() }];
    Group { choices: xs.iter().map(row).collect(), kappas: xs.clone(), xs }
}

fn wanted(allowed: [f64; 2]) -> SlopeSpec {
    SlopeSpec {
        axis: Axis::Steps,
        response: Response::AveragedRisk,
        at: BTreeMap::new(),
        optimise: None,
        predicted: Some(-1.0),
        allowed: Some(allowed),
        bound: None,
        via: None,
        why: String::new(),
    }
}

/// About 3/x.
#[allow(clippy::cast_precision_loss)]
fn noisy(x: f64, seed: usize) -> f64 {
    3.0 / x * (1.0 + 0.02 * ((seed as f64 + x) % 3.0 - 1.0))
}

#[test]
fn a_power_law_is_found_and_judged() {
    let noisy = group(noisy);
    let slope = noisy.slope(&wanted([-1.1, -0.9]), BTreeMap::new());
    assert!((slope.slope.unwrap() + 1.0).abs() < 0.02, "{slope:?}");
    let [low, high] = slope.interval.unwrap();
    assert!(low < slope.slope.unwrap() && slope.slope.unwrap() < high && high - low < 0.05);
    assert_eq!(slope.verdict, Verdict::Agrees);
    let judged = |allowed| noisy.slope(&wanted(allowed), BTreeMap::new()).verdict;
    assert_eq!(judged([-3.0, -2.0]), Verdict::Disagrees);
    assert_eq!(judged([-1.5, slope.slope.unwrap()]), Verdict::Undecided);
    assert_eq!(noisy.slope(&wanted([-1.1, -0.9]), BTreeMap::new()), slope, "seeded");
}

#[test]
fn a_bound_is_kept_or_broken_but_never_confirmed() {
    let judged = |predicted| {
        let spec = SlopeSpec {
            predicted: Some(predicted),
            allowed: None,
            bound: Some(BoundName::Upper),
            ..wanted([0.0; 2])
        };
        group(noisy).slope(&spec, BTreeMap::new()).verdict
    };
    assert_eq!(judged(-0.5), Verdict::WithinBound);
    assert_eq!(judged(5.0), Verdict::WithinBound);
    assert_eq!(judged(-2.0), Verdict::Disagrees);
    assert_eq!(judged(-1.0), Verdict::Undecided);
}

#[test]
fn exponents_of_kappa_become_slopes() {
    let mut group = group(noisy);
    group.kappas = group.xs.iter().map(|x| 7.0 * x.powf(-0.5)).collect();
    let spec = SlopeSpec { predicted: Some(2.0), via: Some(ViaName::Kappa), ..wanted([1.8, 2.2]) };
    let slope = group.slope(&spec, BTreeMap::new());
    assert!((slope.kappa_slope.unwrap() + 0.5).abs() < 1e-12);
    assert!((slope.predicted.unwrap() + 1.0).abs() < 1e-12);
    let [low, high] = slope.allowed.unwrap();
    assert!((low + 1.1).abs() < 1e-12 && (high + 0.9).abs() < 1e-12);
    assert_eq!(slope.verdict, Verdict::Agrees);
}

/// Risk 1/T + T/x², least at T = x, where it is 2/x; `at` are the values of T.
fn optimised(at: &[f64], spread: f64) -> Group {
    let mut group = group(noisy);
    for (x, choices) in group.xs.iter().zip(&mut group.choices) {
        let choice = |t: &f64| {
            #[allow(clippy::cast_precision_loss)]
            let value = |seed: usize| {
                // Seeds of odd number favour a longer horizon than the others do.
                let side = if seed.is_multiple_of(2) { 1.0 } else { -1.0 };
                Some((1.0 / t + t / (x * x)) * (1.0 + side * spread * (t / x).ln().tanh()))
            };
            Choice { at: *t, values: (0..6).map(value).collect() }
        };
        *choices = at.iter().map(choice).collect();
    }
    group
}

#[test]
fn the_least_risk_is_taken_again_in_every_resample() {
    let spec = SlopeSpec { optimise: Some(Axis::Width), ..wanted([-1.1, -0.9]) };
    let at = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    // In no resample do the seeds differ enough for another horizon.
    let slope = optimised(&at, 0.1).slope(&spec, BTreeMap::new());
    assert!((slope.slope.unwrap() + 1.0).abs() < 1e-12 && slope.verdict == Verdict::Agrees);
    assert!(slope.interval.unwrap().iter().all(|end| (end + 1.0).abs() < 1e-12), "{slope:?}");
    assert_eq!(slope.optima, [1.0, 2.0, 4.0, 8.0]);
    assert!((slope.points[2].1.unwrap() - 0.5).abs() < 1e-12);
    // Every seed has the same risk at T = x, so only another choice of T can move the slope; the grid ends at 8 and
    // leaves no longer T to x = 8.
    let slope = optimised(&at[..6], 0.9).slope(&spec, BTreeMap::new());
    let [low, high] = slope.interval.unwrap();
    assert!((slope.slope.unwrap() + 1.0).abs() < 1e-12 && high - low > 1e-3, "{slope:?}");
}

#[test]
fn a_least_risk_at_an_end_decides_nothing() {
    let spec = SlopeSpec { optimise: Some(Axis::Width), ..wanted([-5.0, 0.0]) };
    for at in [&[1.0, 2.0, 4.0, 8.0, 16.0][..], &[0.5, 1.0, 2.0, 4.0, 8.0][..]] {
        let slope = optimised(at, 0.0).slope(&spec, BTreeMap::new());
        assert_eq!(slope.verdict, Verdict::Undecided);
        assert!(slope.note.contains("end of the values of width"), "{}", slope.note);
        assert!((slope.slope.unwrap() + 1.0).abs() < 1e-12);
    }
}

#[test]
fn means_without_a_logarithm_are_undecided() {
    let slope = group(|x, _| x - 4.0).slope(&wanted([-1.1, -0.9]), BTreeMap::new());
    assert!(slope.slope.is_none() && slope.verdict == Verdict::Undecided);
    assert!(slope.note.contains("not positive"));
}
