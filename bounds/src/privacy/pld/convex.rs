//! Convex polygons below a profile, in the form of the masses at their kinks.
//!
//! A polygon `Σ u_i (α_i − α)_+` with kinks at lattice points that lies below the profile belongs to a
//! pair that is dominated by the true one: replacing one factor of a product by one with a smaller
//! profile makes the profile of the product smaller, so composition preserves the order. The vertices
//! are the profile minus the larger chord gap `c_i` of the two neighbouring bins, so that every chord
//! of the polygon stays below the curve; where this is not convex, its lower hull is taken. In units of
//! mass of the first distribution, `p_i = α_i u_i`, no number over- or underflows.

use super::chords::Chords;

/// Covers the rounding of the masses, relative to the terms they are made of.
const SHAVE: f64 = 4e-15;

/// Masses of a polygon below the profile that `chords` interpolates.
pub(super) fn polygon_below(chords: &Chords) -> Vec<f64> {
    let width = chords.grid.width;
    let (step, growth) = (width.exp_m1(), width.exp());
    let mut mass = chords.mass.clone();
    let last = mass.len() - 1;
    let top = chords.grid.at(last);
    if chords.above.second_run > 0.0 && top < 600.0 {
        mass[last] += top.exp() * chords.above.second_run;
    }
    let Some(drop) = vertex_drops(chords, &mass, step, growth) else {
        return vec![0.0; mass.len()];
    };
    let mut before = 0.0;
    for (i, mass) in mass.iter_mut().enumerate() {
        let (here, after) = (drop[i], drop.get(i + 1).copied().unwrap_or(0.0));
        let change = if i == 0 {
            // The segment from the vertex at α = 0, where the profile is 1.
            (after - here) / step - here
        } else {
            ((after - here) - growth * (here - before)) / step
        };
        let terms = (after + here + growth * (here + before)) / step;
        *mass -= change + SHAVE * (*mass + terms);
        before = here;
    }
    lower_hull(&mut mass, width);
    for mass in &mut mass {
        *mass = mass.max(0.0);
    }
    mass
}

/// How far each vertex lies below the profile, or `None` if the lattice is too coarse to say anything.
///
/// The vertices are lowered as far as their bins need, but not below the two lines that the profile never
/// crosses: on the left `1 − α`, on the right 0. Where the two meet, the one on the left is given up.
fn vertex_drops(chords: &Chords, mass: &[f64], step: f64, growth: f64) -> Option<Vec<f64>> {
    let last = mass.len() - 1;
    let mut drop = vec![0.0_f64; mass.len()];
    for (i, gap) in chords.gap.iter().enumerate() {
        let [lower, upper] = gap.cheapest_drops();
        drop[i] = drop[i].max(lower);
        drop[i + 1] = drop[i + 1].max(upper);
    }
    let largest = drop.iter().copied().fold(0.0, f64::max);
    // Height of the profile over `1 − α`, E (α_i − e^L)_+.
    let (mut height, mut running) = (0.0, mass[0]);
    let (mut left, mut left_end) = (vec![0.0], 0);
    for i in 1..=last {
        height += step * running;
        running = mass[i] + growth * running;
        left.push(height);
        if height < drop[i] {
            left_end = i;
        }
        if height >= largest {
            break;
        }
    }
    // Height of the profile, E (e^L − α_i)_+.
    let (mut height, mut running) = (0.0, mass[last]);
    let (mut right, mut right_end) = (vec![0.0], last);
    for i in (0..last).rev() {
        height += step / growth * running;
        running = mass[i] + running / growth;
        right.push(height);
        if height < drop[i] {
            right_end = i;
        }
        if height >= largest {
            break;
        }
    }
    if right_end == 0 {
        return None;
    }
    let on_line = left_end + 1 < right_end;
    if on_line {
        drop[..=left_end].copy_from_slice(&left[..=left_end]);
    }
    for (i, drop) in drop.iter_mut().enumerate().skip(right_end) {
        *drop = right[last - i];
    }
    // The bins next to the lines lost some of the drop they need.
    if on_line {
        let upper = chords.gap[left_end].upper_drop(drop[left_end]);
        drop[left_end + 1] = drop[left_end + 1].max(upper);
    }
    let lower = chords.gap[right_end - 1].lower_drop(drop[right_end]);
    drop[right_end - 1] = drop[right_end - 1].max(lower);
    Some(drop)
}

/// Turns second differences of any sign into those of the lower convex hull.
///
/// Removing a vertex with a negative jump of the slope replaces two segments by one chord below them;
/// its mass goes to the two neighbours so that both total masses are conserved.
/// Only the last mass may still be negative afterwards.
pub(super) fn lower_hull(mass: &mut [f64], width: f64) {
    let mut kept: Vec<usize> = Vec::with_capacity(mass.len());
    let distance = |from: usize, to: usize| {
        #[allow(clippy::cast_precision_loss)] // a lattice has fewer than 2^53 points
        let steps = (to - from) as f64;
        steps * width
    };
    for next in 0..mass.len() {
        while let Some(&middle) = kept.last() {
            if mass[middle] >= 0.0 {
                break;
            }
            kept.pop();
            let negative = std::mem::take(&mut mass[middle]);
            // The vertex at α = 0 carries no mass of the first distribution.
            let share = kept.last().map_or(0.0, |&previous| {
                let (left, right) = (distance(previous, middle), distance(middle, next));
                (-left).exp() * ((-right).exp_m1() / (-left - right).exp_m1())
            });
            if let Some(&previous) = kept.last() {
                mass[previous] += negative * share;
            }
            mass[next] += negative * (1.0 - share);
        }
        kept.push(next);
    }
}
