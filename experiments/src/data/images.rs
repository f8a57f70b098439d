//! Images of any number of classes.

use std::path::Path;

use super::error::Result;
use super::idx;

/// Images as bytes, with the numbers of their classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Images {
    /// Pixels of an image.
    pub dimension: usize,
    /// `dimension` bytes an image, one image after the other.
    pub pixels: Vec<u8>,
    /// Number of the class, from 0.
    pub labels: Vec<u8>,
    /// Names of the classes.
    pub classes: Vec<String>,
}

impl Images {
    /// Reads an IDX file of images and that of their labels, plain or compressed.
    ///
    /// # Errors
    /// [`DataError`](super::DataError) naming the file and what is wrong with it.
    pub fn read(images: &Path, labels: &Path) -> Result<Self> {
        read(images, labels, &[])
    }
}

pub(super) fn read(images: &Path, labels: &Path, names: &[&str]) -> Result<Images> {
    let (pixels, dimension, labels) = idx::read_all(images, labels)?;
    let count = labels.iter().map(|&label| usize::from(label) + 1).max().unwrap_or(0);
    let classes = (0..count.max(names.len()))
        .map(|class| names.get(class).map_or_else(|| class.to_string(), |name| (*name).to_owned()))
        .collect();
    Ok(Images { dimension, pixels, labels, classes })
}
