//! Batches cut into blocks of rows, which threads share. The cut depends on the batch alone.

/// Rows of a block: at most this many, and blocks of a batch are nearly equal. Every block packs the weights anew.
const ROWS: usize = 1024;

/// Rows in each block but the last of a batch, which may be empty.
pub(super) fn rows_of_a_block(batch: usize) -> usize {
    // An even number of blocks keeps two threads busy.
    let blocks = batch.div_ceil(ROWS).max(1).next_multiple_of(2);
    batch.div_ceil(blocks).max(1)
}

/// Cuts one buffer for each layer into blocks of rows: the first index is the block, the second the layer.
pub(super) fn cut<'a>(
    layers: &'a mut [Vec<f32>],
    widths: &[usize],
    batch: usize,
) -> Vec<Vec<&'a mut [f32]>> {
    let rows = rows_of_a_block(batch);
    let mut blocks: Vec<Vec<&mut [f32]>> = (0..batch.div_ceil(rows)).map(|_| Vec::new()).collect();
    for (layer, &width) in layers.iter_mut().zip(widths) {
        let chunks = layer[..batch * width].chunks_mut(rows * width);
        blocks.iter_mut().zip(chunks).for_each(|(block, chunk)| block.push(chunk));
    }
    blocks
}

/// Makes room for `batch` rows in every layer.
pub(super) fn reserve(layers: &mut [Vec<f32>], widths: &[usize], batch: usize) {
    for (layer, &width) in layers.iter_mut().zip(widths) {
        if layer.len() < batch * width {
            layer.resize(batch * width, 0.0);
        }
    }
}
