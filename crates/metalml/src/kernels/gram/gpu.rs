//! The GPU's ways: few columns in one panel, whose products a thread keeps in registers; many by tiles, of rows that are centred first.

use super::{ALL, Bindings, Framed, Gram, Params, gram_centre, gram_merge, tiled};
use crate::Result;
use crate::device::{Array, Kernel, Kind, Pair};
use crate::engine::{Frame, Gpu, GpuMatrix, Shape, Storage};

/// Rows of a slab that a thread sums, and vectors of a slab that it brings at most, as in the WGSL.
const DEPTH: usize = 8;
const BRINGS: usize = 3;
/// Workgroups that fill a large device.
const GROUPS: usize = 528;
/// Rows that a split has, at least.
const LEAST_ROWS: usize = 64;
/// Rows that a thread sums before it adds the sum to two floats: at 512, a fifteenth slower.
const ROWS_PER_FLUSH: usize = 2048;
/// Rows that one sum of a tile has, at most: these are not added up in two floats before they are merged.
const ROWS_PER_TILE: usize = ROWS_PER_FLUSH;
/// Bytes that the parts, and the centred rows, may take.
const MOST_BYTES: usize = 128 << 20;
/// Multiplications that take as long as moving a byte.
const PRODUCTS_PER_BYTE: u64 = 10;

/// How the columns of one panel are shared among the threads of a workgroup.
#[derive(Debug)]
struct Panel {
    kernel: Kernel,
    vectors: usize,
    tasks: usize,
    lanes: usize,
}

impl Panel {
    /// For these vectors of columns, if they are few enough.
    fn new(vectors: usize) -> Option<Self> {
        let vectors = vectors.next_multiple_of(2);
        let half = vectors / 2;
        let tasks = half * (half + 1) / 2;
        let panel = |kernel: &Kernel| {
            let threads = kernel.workgroup[0] as usize;
            let lanes = (threads / tasks).min(BRINGS * threads / (DEPTH * vectors));
            (lanes > 0).then_some(Self {
                kernel: *kernel,
                vectors,
                tasks,
                lanes,
            })
        };
        ALL.iter().find_map(panel)
    }

    /// Vectors of a part.
    fn part(&self) -> usize {
        2 * 4 * self.vectors * self.vectors
    }
}

impl Gram for Gpu<'_> {
    fn gram(
        &self,
        Framed(x, x_frame): Framed<'_, Self::Matrix>,
        Framed(y, y_frame): Framed<'_, Self::Matrix>,
        weights: Option<&Self::Matrix>,
    ) -> Result<Self::Array<Self::Wide>> {
        let frame = self.upload_elem(&frames([x_frame, y_frame]))?;
        let rows = gram_centre::Rows {
            x,
            y,
            frame: &frame,
            weights,
        };
        let products = self.alloc(x.n_cols() * (x.n_cols() + y.n_cols()))?;
        match Panel::new(vectors([x, y]).max(1)) {
            Some(panel) => self.by_panel(&panel, &rows, &products),
            None => self.by_tiles(&rows, &products),
        }?;
        Ok(products)
    }
}

/// Shifts in units, then units, of the columns of both, each padded to whole vectors; of padding the unit is 0, which the kernels look at.
fn frames(of: [&Frame; 2]) -> Vec<f64> {
    let padded = |value: &dyn Fn(&Frame, usize) -> f64| {
        let pad = |frame: &Frame| {
            let mut values: Vec<f64> = (0..frame.unit.len()).map(|col| value(frame, col)).collect();
            values.resize(values.len().next_multiple_of(4), 0.0);
            values
        };
        of.map(pad).concat()
    };
    [
        padded(&|frame, col| frame.shift[col] * frame.unit[col]),
        padded(&|frame, col| frame.unit[col]),
    ]
    .concat()
}

/// Vectors of four that hold the columns of both.
fn vectors(of: [&GpuMatrix<'_>; 2]) -> usize {
    of.map(|matrix| matrix.n_cols().div_ceil(4)).iter().sum()
}

impl<'a> Gpu<'a> {
    fn by_panel(&self, panel: &Panel, of: &gram_centre::Rows<'_, 'a>, products: &Array<Pair>) -> Result<()> {
        let (x, y) = (of.x, of.y);
        let block_rows = x.rows_per_block.min(x.n_rows());
        let fitting = MOST_BYTES.min(self.limits().max_binding as usize) / (16 * panel.part());
        let lanes = panel.lanes.min(fitting).max(1);
        let fitting = fitting / lanes;
        let splits = GROUPS
            .min(self.limits().max_groups as usize)
            .min(fitting)
            .min(block_rows.div_ceil(LEAST_ROWS))
            .max(1);
        let rows_per_split = block_rows.div_ceil(splits).max(1);
        // All that the first block, the longest, leaves.
        let n_parts = block_rows.div_ceil(rows_per_split);
        let partials = self.alloc(n_parts * lanes * panel.part() * 4)?;
        for block in 0..x.n_blocks() {
            let (x_block, n_rows) = (self.block(x, block)?, x.rows_of(block).len());
            let params = Params {
                n_rows: n_rows as u32,
                x_cols: x.n_cols() as u32,
                x_ld: x.ld as u32,
                y_cols: y.n_cols() as u32,
                y_ld: y.ld as u32,
                rows_per_split: rows_per_split as u32,
                rows_per_flush: (ROWS_PER_FLUSH * lanes) as u32,
                vectors: panel.vectors as u32,
                tasks: panel.tasks as u32,
                lanes: lanes as u32,
                add: (block > 0).into(),
                weighted: of.weights.is_some().into(),
                zero: 0,
            };
            let bindings = Bindings {
                params,
                x4: x_block,
                x: x_block,
                y: self.block(y, block)?,
                frame: of.frame,
                weights: of.weights.map_or(Ok(of.frame), |weights| self.block(weights, block))?,
                partials: &partials,
            };
            let bytes = x_block.bytes() + (n_rows * panel.tasks) as u64 * 64 / PRODUCTS_PER_BYTE;
            let groups = [n_rows.div_ceil(rows_per_split) as u32, 1, 1];
            self.dispatch_variant(&panel.kernel, &bindings, groups, bytes)?;
        }
        let parts = gram_merge::Parts {
            x_cols: x.n_cols() as u32,
            y_cols: y.n_cols() as u32,
            vectors: panel.vectors as u32,
            n_parts: n_parts as u32,
            part_stride: (lanes * panel.part()) as u32,
            to_lo: (panel.part() / 2) as u32,
            accumulate: 0,
            zero: 0,
        };
        gram_merge::record(self, parts, &partials, products)
    }

    fn by_tiles(&self, of: &gram_centre::Rows<'_, 'a>, products: &Array<Pair>) -> Result<()> {
        let (x, vectors) = (of.x, vectors([of.x, of.y]));
        let variant = usize::from(self.kind() == Kind::Software);
        let side = tiled::SIDES[variant] as usize;
        let n_tiles = (4 * vectors).div_ceil(side);
        let n_pairs: usize = (0..x.n_cols().div_ceil(side)).map(|row| n_tiles - row).sum();
        let most = MOST_BYTES.min(self.limits().max_binding as usize);
        let block_rows = x.rows_per_block.min(x.n_rows());
        // Rows that are centred at once, and splits of these: enough to fill the device, and short ones.
        let rows_at_once = (most / (16 * vectors)).clamp(1, block_rows.max(1));
        let part = 4 * vectors * vectors;
        let wanted = GROUPS.div_ceil(n_pairs).max(rows_at_once.div_ceil(ROWS_PER_TILE));
        let splits = wanted
            .min(most / (16 * part))
            .min(rows_at_once.div_ceil(LEAST_ROWS))
            .max(1);
        let rows_per_split = rows_at_once.div_ceil(splits);
        let centred = self.alloc(4 * rows_at_once * vectors)?;
        let partials = self.alloc(4 * part * rows_at_once.div_ceil(rows_per_split))?;
        let mut accumulate = false;
        for block in 0..x.n_blocks() {
            let n_rows = x.rows_of(block).len();
            for first in (0..n_rows).step_by(rows_at_once) {
                let rows = first..n_rows.min(first + rows_at_once);
                let (len, n_parts) = (rows.len(), rows.len().div_ceil(rows_per_split));
                gram_centre::record(self, of, block, rows, &centred)?;
                let params = tiled::Params {
                    n_rows: 4 * vectors as u32,
                    n_cols: 4 * vectors as u32,
                    k_len: len as u32,
                    k_per_split: rows_per_split as u32,
                    a_start: 0,
                    a_ld: vectors as u32,
                    b_start: 0,
                    b_ld: vectors as u32,
                    out_start: 0,
                    out_ld: vectors as u32,
                    split_stride: part as u32,
                    n_tiles: n_tiles as u32,
                };
                let bindings = tiled::Bindings {
                    params,
                    a: &centred,
                    b: &centred,
                    out: &partials,
                };
                let cost = (len * n_pairs * side * side) as u64 / PRODUCTS_PER_BYTE;
                let groups = [n_pairs as u32, 1, n_parts as u32];
                self.dispatch_variant(&tiled::ALL[variant], &bindings, groups, cost)?;
                let parts = gram_merge::Parts {
                    x_cols: x.n_cols() as u32,
                    y_cols: of.y.n_cols() as u32,
                    vectors: vectors as u32,
                    n_parts: n_parts as u32,
                    part_stride: part as u32,
                    to_lo: 0,
                    accumulate: accumulate.into(),
                    zero: 0,
                };
                gram_merge::record(self, parts, &partials, products)?;
                accumulate = true;
            }
        }
        Ok(())
    }
}
