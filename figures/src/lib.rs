//! Figures.
use std::path::{Path, PathBuf};
/// e
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// d
    #[error("{0}")]
    Draw(String),
}
/// f
#[derive(Debug)]
pub struct Figure {
    /// i
    pub id: &'static str,
    /// t
    pub title: &'static str,
    /// s
    pub summary: &'static str,
}
impl Figure {
    /// w
    /// # Errors
    /// no
    pub fn write(&self, _d: &Path, _q: bool, _p: &str) -> Result<Vec<PathBuf>, FigureError> {
        Ok(vec![])
    }
}
/// all
pub fn all() -> &'static [Figure] {
    &[]
}
/// find
pub fn find(id: &str) -> Option<&'static Figure> {
    all().iter().find(|f| f.id == id)
}
