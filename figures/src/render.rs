//! From one drawing to an SVG text and to the bytes of a PNG.

use plotters_backend::DrawingBackend;
use plotters_bitmap::BitMapBackend;
use plotters_svg::SVGBackend;

use crate::canvas::{Canvas, SCALE};
use crate::error::{FigureError, Result, draw_error};
use crate::font;
use crate::table::Table;

/// A figure with its data.
pub(crate) trait Plot {
    /// Width and height in logical pixels.
    fn size(&self) -> (u32, u32);

    /// Draws it.
    fn draw<B: DrawingBackend>(&self, canvas: &mut Canvas<B>) -> Result<()>;

    /// The plotted data.
    fn table(&self) -> Result<Table>;
}

/// The three files of a figure.
pub(crate) struct Rendered {
    pub svg: Vec<u8>,
    pub png: Vec<u8>,
    pub csv: Vec<u8>,
}

/// What a file says about itself.
pub(crate) struct About<'a> {
    pub title: &'a str,
    pub summary: &'a str,
    pub provenance: &'a str,
}

/// Renders a figure in all formats.
pub(crate) fn render(plot: &impl Plot, about: &About) -> Result<Rendered> {
    Ok(Rendered {
        svg: svg(plot, about)?.into_bytes(),
        png: png(plot, about)?,
        csv: plot.table()?.to_csv(about.provenance, about.title)?,
    })
}

fn fine((width, height): (u32, u32)) -> (u32, u32) {
    (width * SCALE, height * SCALE)
}

fn svg(plot: &impl Plot, about: &About) -> Result<String> {
    let mut text = String::new();
    {
        let mut backend = SVGBackend::with_string(&mut text, fine(plot.size()));
        let mut canvas = Canvas::new(&mut backend, 0)?;
        plot.draw(&mut canvas)?;
        canvas.finish()?;
    }
    let Some((_, body)) = text.split_once('\n') else {
        return Err(FigureError::Draw("the SVG backend wrote nothing".into()));
    };
    let (width, height) = plot.size();
    let (fine_width, fine_height) = fine(plot.size());
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {fine_width} {fine_height}\" role=\"img\" aria-labelledby=\"title desc\">\n\
         <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n<metadata>{}</metadata>\n\
         <style>\n{}</style>\n{}",
        escape(about.title),
        escape(about.summary),
        escape(about.provenance),
        font::style_sheet(),
        body.replace(&format!("font-family=\"{}\"", font::FAMILY), &families())
            .replace("\n</text>", "</text>"),
    ))
}

/// The embedded face first; viewers that ignore `@font-face` take the next.
fn families() -> String {
    format!("font-family=\"{}, Verdana, sans-serif\"", font::FAMILY)
}

/// Text as XML: control characters, which XML forbids, become spaces.
fn escape(text: &str) -> String {
    let allowed = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    let text: String = text.chars().map(allowed).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Twice the logical size: the fine drawing averaged over squares of this side.
const AVERAGED: usize = 2;

fn png(plot: &impl Plot, about: &About) -> Result<Vec<u8>> {
    let (width, height) = fine(plot.size());
    let (wide, high) = (width as usize, height as usize);
    let mut pixels = vec![0; wide * high * 3];
    {
        let mut backend = BitMapBackend::with_buffer(&mut pixels, (width, height));
        // `plotters` fills the outline of a line with both of its edges.
        let mut canvas = Canvas::new(&mut backend, 1)?;
        plot.draw(&mut canvas)?;
        canvas.finish()?;
    }
    let small = average(&pixels, wide);
    let side = u32::try_from(AVERAGED).unwrap_or(1);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width / side, height / side);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    for (key, value) in [("Title", about.title), ("Software", about.provenance)] {
        encoder.add_itxt_chunk(key.into(), value.into()).map_err(draw_error)?;
    }
    let mut writer = encoder.write_header().map_err(draw_error)?;
    writer.write_image_data(&small).map_err(draw_error)?;
    writer.finish().map_err(draw_error)?;
    Ok(bytes)
}

/// Averages squares of side [`AVERAGED`] of an RGB picture `wide` pixels wide.
fn average(pixels: &[u8], wide: usize) -> Vec<u8> {
    let mut small = Vec::with_capacity(pixels.len() / (AVERAGED * AVERAGED));
    for rows in pixels.chunks_exact(wide * 3 * AVERAGED) {
        for left in (0..wide * 3).step_by(3 * AVERAGED) {
            for channel in 0..3 {
                let mut sum = 0;
                for row in rows.chunks_exact(wide * 3) {
                    for column in 0..AVERAGED {
                        sum += usize::from(row[left + 3 * column + channel]);
                    }
                }
                let mean = (sum + AVERAGED * AVERAGED / 2) / (AVERAGED * AVERAGED);
                small.push(u8::try_from(mean).unwrap_or(u8::MAX));
            }
        }
    }
    small
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averaging_takes_the_mean_of_each_square() {
        let pixels = [0, 0, 0, 255, 4, 8, 255, 0, 0, 0, 0, 0];
        assert_eq!(average(&pixels, 2), [128, 1, 2]);
    }

    #[test]
    fn text_of_the_provenance_is_escaped() {
        assert_eq!(escape("a < b & c\u{1}> d"), "a &lt; b &amp; c &gt; d");
    }
}
