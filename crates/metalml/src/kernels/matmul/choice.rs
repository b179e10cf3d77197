//! Which kernel makes a product: by its shape, how its operands lie, and the kind of device.

use super::{thin, tiled};
use crate::device::{Kernel, Kind};

/// How a product is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    /// A stream of one operand, whose `k` lies along its rows, past the few columns of the other; `swapped` says that the left one is thin.
    Rows {
        variant: usize,
        swapped: bool,
        splits: usize,
    },
    /// The same where `k` lies from row to row.
    Cols {
        variant: usize,
        swapped: bool,
        splits: usize,
    },
    /// The same where `k` is short too.
    Short { swapped: bool },
    /// By tiles.
    Tiled { tile: usize, splits: usize },
    /// By the kernel that takes any strides.
    Strided,
}

impl Way {
    /// The kernel of a product of this shape.
    pub(super) fn kernel(self, shape: &Shape) -> Kernel {
        match self {
            Self::Rows { variant, .. } | Self::Cols { variant, .. } => thin::ALL[variant],
            Self::Short { .. } => thin::ALL[thin::ALL.len() - 1],
            Self::Tiled { tile, .. } => {
                let form = 2 * usize::from(!shape.a_along_k) + usize::from(shape.b_along_k);
                tiled::ALL[tile * FORMS + form]
            }
            Self::Strided => super::KERNEL,
        }
    }

    /// Rows and columns that a workgroup makes.
    pub(super) fn sides(self) -> [u32; 2] {
        match self {
            Self::Rows { .. } | Self::Cols { .. } => [THIN_GROUP as u32, 1],
            Self::Short { .. } => [thin::SHORT[2] as u32, 1],
            Self::Tiled { tile, .. } => tiled::SIDES[tile],
            Self::Strided => [STRIDED_TILE, STRIDED_TILE],
        }
    }
}

/// What the choice goes by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) m: usize,
    pub(super) k: usize,
    pub(super) n: usize,
    /// Whether `k` lies along the rows of each operand.
    pub(super) a_along_k: bool,
    pub(super) b_along_k: bool,
    /// Whether each operand, and the result, lies in whole vectors of four.
    pub(super) a_by_four: bool,
    pub(super) b_by_four: bool,
    pub(super) out_by_four: bool,
    /// Whether no epilogue follows.
    pub(super) plain: bool,
}

/// The tiles in the order of build/tiles.
const PLAIN: usize = 0;
const LARGE: usize = 1;
const SMALL: usize = 2;
const ROLLED: usize = 3;
/// The forms in which the operands may lie, as in build/tiles.
const FORMS: usize = 4;
/// Rows and columns that a workgroup of the strided kernel makes, as in its WGSL.
const STRIDED_TILE: u32 = 64;
/// Rows of the result from which a transposed copy of the right operand costs less than it gains, which is a fourteenth on an NVIDIA H200.
const WORTH_TRANSPOSING: usize = 2048;
/// Workgroups that keep a large device busy: with fewer, `k` is split.
const ENOUGH_GROUPS: usize = 512;
/// Tiles of the largest kind from which it is the fastest: on an NVIDIA H200, half a workgroup for each of its multiprocessors.
const ENOUGH_TILES: usize = 64;
/// Length of a split of `k`, at least: a shorter one costs more to merge than it gains.
const LEAST_SPLIT: usize = 256;
/// Workgroups from which the kernel for a short `k`, which makes the most rows each, is taken.
const LEAST_SHORT: usize = 4;
/// Rows or columns that a workgroup of the thin kernels makes, as in build/thin.rs.
const THIN_GROUP: usize = 128;

impl Shape {
    pub(super) fn way(&self, kind: Kind) -> Way {
        let few = self.m.min(self.n);
        let swapped = self.m < self.n;
        // The operand that is streamed is the one whose other side is long.
        let (along_k, by_four, long) = if swapped {
            (self.b_along_k, self.b_by_four, self.n)
        } else {
            (self.a_along_k, self.a_by_four, self.m)
        };
        if by_four {
            let [width, most_k, rows] = thin::SHORT;
            let is_wide = !along_k && few > width / 2 && few <= width;
            if is_wide && self.k <= most_k && long >= LEAST_SHORT * rows {
                return Way::Short { swapped };
            }
            let widths: &[usize] = if along_k {
                &thin::ROWS_WIDTHS
            } else {
                &thin::COLS_WIDTHS
            };
            if let Some(variant) = widths.iter().position(|&width| few <= width) {
                let splits = self.splits(long.div_ceil(THIN_GROUP));
                return if along_k {
                    Way::Rows {
                        variant,
                        swapped,
                        splits,
                    }
                } else {
                    Way::Cols {
                        variant: thin::ROWS_WIDTHS.len() + variant,
                        swapped,
                        splits,
                    }
                };
            }
        }
        if !(self.a_by_four && self.b_by_four && self.out_by_four) {
            return Way::Strided;
        }
        let tiles = |tile: usize| {
            let [rows, cols] = tiled::SIDES[tile];
            self.m.div_ceil(rows as usize) * self.n.div_ceil(cols as usize)
        };
        let tile = match kind {
            Kind::Software => ROLLED,
            _ if tiles(LARGE) < ENOUGH_TILES => SMALL,
            _ => LARGE,
        };
        match self.splits(tiles(tile)) {
            1 if tile == LARGE && self.plain => Way::Tiled { tile: PLAIN, splits: 1 },
            splits => Way::Tiled { tile, splits },
        }
    }

    /// Whether the right operand should be transposed first.
    pub(super) fn transposes(&self, kind: Kind) -> bool {
        self.b_along_k && self.m >= WORTH_TRANSPOSING && matches!(self.way(kind), Way::Tiled { .. })
    }

    /// In how many parts `k` is cut where the result gives work to no more than `groups` workgroups.
    fn splits(&self, groups: usize) -> usize {
        if groups >= ENOUGH_GROUPS / 4 {
            return 1;
        }
        (ENOUGH_GROUPS / groups.max(1)).min(self.k / LEAST_SPLIT).max(1)
    }
}
