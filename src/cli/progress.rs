//! What a long command is doing, told on a terminal and nowhere else.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A line on standard error that vanishes when the answer is there. Pipes and files see nothing.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A line for a command that answers `points` questions.
    #[must_use]
    pub fn new(points: usize) -> Self {
        let bar = ProgressBar::new(points.try_into().unwrap_or(u64::MAX));
        let progress = Self { bar };
        progress.look(if points == 1 {
            "{spinner} {elapsed} {msg}"
        } else {
            "{spinner} {pos}/{len} points, {elapsed} {msg}"
        });
        if !progress.bar.is_hidden() {
            progress.bar.enable_steady_tick(Duration::from_millis(120));
        }
        progress
    }

    /// Without colours, so that there are none to switch off.
    fn look(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }

    /// Names the stage that begins.
    pub fn stage(&self, name: &str) {
        if !self.bar.is_hidden() {
            self.bar.set_message(name.to_owned());
        }
    }

    /// Counts one more point as answered.
    pub fn point_done(&self) {
        if self.bar.position() == 0 && !self.bar.is_hidden() {
            // How long the rest takes is known from now on.
            self.look("{spinner} {pos}/{len} points, {elapsed}, {eta} left, {msg}");
        }
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
