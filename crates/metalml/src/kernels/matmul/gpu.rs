//! The product on a GPU: cut at the blocks of its matrices and by time, each piece made the way that suits it.

use std::ops::Range;

use super::choice::{Shape as Choice, Way};
use super::terms::{Epilogue, Finish, Terms};
use super::{Matmul, Operand, matmul_merge, matmul_softmax, matmul_transpose, thin, tiled};
use crate::device::Array;
use crate::engine::{Gpu, GpuMatrix, Shape};
use crate::{Error, Result};

/// A block of one side: which rows and columns of the operand it holds, and how to walk it.
struct Part<'m> {
    array: &'m Array<f32>,
    rows: Range<usize>,
    cols: Range<usize>,
    row_stride: usize,
    col_stride: usize,
}

impl Part<'_> {
    fn at(&self, row: usize, col: usize) -> usize {
        (row - self.rows.start) * self.row_stride + (col - self.cols.start) * self.col_stride
    }
}

fn parts<'m, 'a>(gpu: &Gpu<'a>, operand: Operand<'m, GpuMatrix<'a>>) -> Result<Vec<Part<'m>>> {
    let (Operand::Plain(matrix) | Operand::Transposed(matrix)) = operand;
    let part = |block| {
        let (array, along, across) = (gpu.block(matrix, block)?, matrix.rows_of(block), 0..matrix.n_cols());
        Ok(match operand {
            Operand::Plain(_) => Part {
                array,
                rows: along,
                cols: across,
                row_stride: matrix.ld,
                col_stride: 1,
            },
            Operand::Transposed(_) => Part {
                array,
                rows: across,
                cols: along,
                row_stride: 1,
                col_stride: matrix.ld,
            },
        })
    };
    (0..matrix.n_blocks()).map(part).collect()
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.max(b.start)..a.end.min(b.end)
}

/// Where a result lies.
pub(crate) struct Place<'p> {
    pub(crate) array: &'p Array<f32>,
    pub(crate) start: usize,
    pub(crate) ld: usize,
}

impl<'a> Matmul for Gpu<'a> {
    fn matmul(
        &self,
        a: Operand<'_, Self::Matrix>,
        b: Operand<'_, Self::Matrix>,
        terms: &Terms<'_, Self::Array<f32>>,
        out: &mut &mut GpuMatrix<'a>,
    ) -> Result<()> {
        let ([_, k_len], n_cols) = (a.shape(), out.n_cols());
        if k_len == 0 && out.n_rows() * n_cols > 0 {
            return Err(Error::Internal("a product of no terms".into()));
        }
        let (a_parts, b_parts) = (parts(self, a)?, parts(self, b)?);
        for block in 0..out.n_blocks() {
            let (to, out_rows) = (self.block(out, block)?, out.rows_of(block));
            for (a, b) in a_parts.iter().flat_map(|a| b_parts.iter().map(move |b| (a, b))) {
                let (rows, k) = (overlap(&out_rows, &a.rows), overlap(&a.cols, &b.rows));
                if rows.is_empty() || k.is_empty() || b.cols.is_empty() {
                    continue;
                }
                let [first, last] = [k.start == 0, k.end == k_len];
                let finish = Finish {
                    alpha: terms.alpha as f32,
                    beta: if first { terms.beta as f32 } else { 1.0 },
                    bias: terms.bias.filter(|_| last),
                    bias_start: b.cols.start,
                    row: terms.row.filter(|row| last || matches!(row, super::RowTerm::Scale(_))),
                    row_start: rows.start,
                    epilogue: if last { terms.epilogue } else { Epilogue::Identity },
                };
                let piece = Piece {
                    a,
                    b,
                    rows: rows.clone(),
                    k,
                    to: Place {
                        array: to,
                        start: (rows.start - out_rows.start) * out.ld + b.cols.start,
                        ld: out.ld,
                    },
                    finish,
                };
                self.in_time(piece)?;
            }
            if terms.epilogue == Epilogue::Softmax {
                let at = Place {
                    array: to,
                    start: 0,
                    ld: out.ld,
                };
                matmul_softmax::record(self, out_rows.len(), n_cols, &at)?;
            }
        }
        Ok(())
    }
}

/// One product of a part of `a` and a part of `b`.
struct Piece<'p, 'm> {
    a: &'p Part<'m>,
    b: &'p Part<'m>,
    /// Rows of the result, and the range of the sum.
    rows: Range<usize>,
    k: Range<usize>,
    to: Place<'p>,
    finish: Finish<'p>,
}

/// Rows at which a long piece is cut: whole tiles of every kind.
const CUT: usize = 128;
/// Multiplications for which a submission counts on the time of a byte.
const PRODUCTS_PER_BYTE: u64 = 10;
/// Bytes of memory that splits of a product may take.
const MOST_SPLIT_BYTES: usize = 64 << 20;

impl Gpu<'_> {
    /// A piece that would keep the device too long is cut by rows.
    fn in_time(&self, piece: Piece<'_, '_>) -> Result<()> {
        let (k_len, n_cols) = (piece.k.len(), piece.b.cols.len());
        let ld = n_cols.next_multiple_of(4);
        if piece.choice().transposes(self.kind()) && 4 * k_len * ld <= self.limits().resident_block as usize {
            let array = self.alloc(k_len * ld)?;
            let ([_, start], from_ld) = (piece.starts(), piece.b.col_stride);
            matmul_transpose::record(self, [n_cols, k_len], [piece.b.array, &array], start, [from_ld, ld])?;
            let turned = Part {
                array: &array,
                rows: piece.k.clone(),
                cols: piece.b.cols.clone(),
                row_stride: ld,
                col_stride: 1,
            };
            return self.in_time(Piece { b: &turned, ..piece });
        }
        // The way is that of the whole piece: where it is cut, which depends on how fast the device was, changes no sum.
        let way = self.settled(&piece);
        let (n_rows, cost) = (piece.rows.len(), piece.cost());
        let pieces = cost.div_ceil(self.time_share(&way.kernel(&piece.choice())).max(1)) as usize;
        let step = n_rows.div_ceil(pieces.max(1)).next_multiple_of(CUT);
        for first in (0..n_rows).step_by(step) {
            let rows = piece.rows.start + first..piece.rows.start + (first + step).min(n_rows);
            let cut = Piece {
                rows,
                k: piece.k.clone(),
                to: Place {
                    start: piece.to.start + first * piece.to.ld,
                    ..piece.to
                },
                finish: Finish {
                    row_start: piece.finish.row_start + first,
                    ..piece.finish
                },
                ..piece
            };
            match way {
                Way::Rows { swapped, splits, .. } | Way::Cols { swapped, splits, .. } => {
                    self.split(&cut, splits, |piece, split| self.thin(piece, &way, swapped, split))
                }
                Way::Short { swapped } => self.split(&cut, 1, |piece, split| self.thin(piece, &way, swapped, split)),
                Way::Tiled { splits, .. } => self.split(&cut, splits, |piece, split| self.tiled(piece, &way, split)),
                Way::Strided => self.strided(&cut),
            }?;
        }
        Ok(())
    }

    /// The way of a piece, with no more splits than there is memory for.
    fn settled(&self, piece: &Piece<'_, '_>) -> Way {
        let mut way = piece.choice().way(self.kind());
        if let Way::Rows { splits, .. } | Way::Cols { splits, .. } | Way::Tiled { splits, .. } = &mut way {
            let bytes = 4 * piece.rows.len() * piece.b.cols.len().next_multiple_of(4);
            let most = MOST_SPLIT_BYTES.min(self.limits().max_binding as usize) / bytes;
            *splits = (*splits).min(most.max(1));
        }
        way
    }

    /// Makes the product in `splits` parts of `k`, and merges them.
    fn split(
        &self,
        piece: &Piece<'_, '_>,
        splits: usize,
        make: impl Fn(&Piece<'_, '_>, &Split) -> Result<()>,
    ) -> Result<()> {
        let (n_rows, n_cols, k_len) = (piece.rows.len(), piece.b.cols.len(), piece.k.len());
        let ld = n_cols.next_multiple_of(4);
        // Whole slabs of every kernel.
        let k_per_split = k_len.div_ceil(splits).next_multiple_of(128);
        let splits = k_len.div_ceil(k_per_split);
        if splits == 1 {
            let one = Split {
                len: k_per_split,
                count: 1,
                stride: 0,
            };
            return make(piece, &one);
        }
        let array = self.alloc(splits * n_rows * ld)?;
        let scratch = Piece {
            rows: piece.rows.clone(),
            k: piece.k.clone(),
            to: Place {
                array: &array,
                start: 0,
                ld,
            },
            finish: Finish::NONE,
            ..*piece
        };
        let all = Split {
            len: k_per_split,
            count: splits,
            stride: n_rows * ld,
        };
        make(&scratch, &all)?;
        let parts = matmul_merge::Parts {
            array: &array,
            n_splits: splits,
            ld,
        };
        matmul_merge::record(self, [n_rows, n_cols], &parts, &piece.to, &piece.finish)
    }

    fn tiled(&self, piece: &Piece<'_, '_>, way: &Way, split: &Split) -> Result<()> {
        let Piece { a, b, finish, to, .. } = piece;
        let shape = piece.choice();
        let [a_start, b_start] = piece.starts();
        let params = tiled::Params {
            n_rows: shape.m as u32,
            n_cols: shape.n as u32,
            k_len: shape.k as u32,
            k_per_split: split.len as u32,
            a_start: (a_start / 4) as u32,
            a_ld: (a.row_stride.max(a.col_stride) / 4) as u32,
            b_start: (b_start / 4) as u32,
            b_ld: (b.row_stride.max(b.col_stride) / 4) as u32,
            out_start: (to.start / 4) as u32,
            out_ld: (to.ld / 4) as u32,
            split_stride: (split.stride / 4) as u32,
            bias_start: finish.bias_start as u32,
            has_bias: finish.bias.is_some().into(),
            row_start: finish.row_start as u32,
            row_use: finish.row_use(),
            alpha: finish.alpha,
            beta: finish.beta,
            epilogue: finish.epilogue.number(),
            gamma: finish.epilogue.gamma(),
            coef0: finish.epilogue.coef0(),
            degree: finish.epilogue.degree(),
        };
        let bindings = tiled::Bindings {
            params,
            a: a.array,
            b: b.array,
            bias: finish.bias.unwrap_or(a.array),
            row_terms: finish.row.map_or(a.array, |row| row.array()),
            out: to.array,
        };
        let [rows, cols] = way.sides();
        let groups = [
            params.n_cols.div_ceil(cols),
            params.n_rows.div_ceil(rows),
            split.count as u32,
        ];
        self.dispatch_variant(&way.kernel(&shape), &bindings, groups, piece.cost())
    }

    fn thin(&self, piece: &Piece<'_, '_>, way: &Way, swapped: bool, split: &Split) -> Result<()> {
        let Piece { a, b, finish, to, .. } = piece;
        let shape = piece.choice();
        let [a_start, b_start] = piece.starts();
        let of_a = (a.array, a_start, a.row_stride, a.col_stride);
        let of_b = (b.array, b_start, b.col_stride, b.row_stride);
        // Of each: how it steps along the side of the result, and along k.
        let (stream, few) = if swapped { (of_b, of_a) } else { (of_a, of_b) };
        let (long, short) = if swapped {
            (shape.n, shape.m)
        } else {
            (shape.m, shape.n)
        };
        let (out_row_stride, out_col_stride) = if swapped { (1, to.ld) } else { (to.ld, 1) };
        let params = thin::Params {
            n_rows: long as u32,
            n_cols: short as u32,
            k_len: shape.k as u32,
            k_per_split: split.len as u32,
            a_start: (stream.1 / 4) as u32,
            a_ld: (stream.2.max(stream.3) / 4) as u32,
            b_start: few.1 as u32,
            b_k_stride: few.3 as u32,
            b_col_stride: few.2 as u32,
            out_start: to.start as u32,
            out_row_stride: out_row_stride as u32,
            out_col_stride: out_col_stride as u32,
            split_stride: split.stride as u32,
            bias_start: finish.bias_start as u32,
            has_bias: finish.bias.is_some().into(),
            row_start: finish.row_start as u32,
            row_use: finish.row_use(),
            swapped: swapped.into(),
            alpha: finish.alpha,
            beta: finish.beta,
            epilogue: finish.epilogue.number(),
            gamma: finish.epilogue.gamma(),
            coef0: finish.epilogue.coef0(),
            degree: finish.epilogue.degree(),
        };
        let bindings = thin::Bindings {
            params,
            a: stream.0,
            b: few.0,
            bias: finish.bias.unwrap_or(few.0),
            row_terms: finish.row.map_or(few.0, |row| row.array()),
            out: to.array,
        };
        let [rows, _] = way.sides();
        let groups = (long as u32).div_ceil(rows).min(self.limits().max_groups);
        self.dispatch_variant(
            &way.kernel(&shape),
            &bindings,
            [groups, split.count as u32, 1],
            piece.cost(),
        )
    }

    fn strided(&self, piece: &Piece<'_, '_>) -> Result<()> {
        let Piece { a, b, finish, to, .. } = piece;
        let [a_start, b_start] = piece.starts();
        let params = super::Params {
            n_rows: piece.rows.len() as u32,
            n_cols: b.cols.len() as u32,
            k_len: piece.k.len() as u32,
            a_start: a_start as u32,
            a_row_stride: a.row_stride as u32,
            a_k_stride: a.col_stride as u32,
            b_start: b_start as u32,
            b_k_stride: b.row_stride as u32,
            b_col_stride: b.col_stride as u32,
            out_start: to.start as u32,
            out_ld: to.ld as u32,
            bias_start: finish.bias_start as u32,
            has_bias: finish.bias.is_some().into(),
            row_start: finish.row_start as u32,
            row_use: finish.row_use(),
            alpha: finish.alpha,
            beta: finish.beta,
            epilogue: finish.epilogue.number(),
            gamma: finish.epilogue.gamma(),
            coef0: finish.epilogue.coef0(),
            degree: finish.epilogue.degree(),
        };
        let bindings = super::Bindings {
            params,
            a: a.array,
            b: b.array,
            bias: finish.bias.unwrap_or(a.array),
            row_terms: finish.row.map_or(a.array, |row| row.array()),
            out: to.array,
        };
        let [rows, cols] = Way::Strided.sides();
        let groups = [params.n_cols.div_ceil(cols), params.n_rows.div_ceil(rows), 1];
        self.dispatch(&bindings, groups, piece.cost())
    }
}

/// How `k` is split.
struct Split {
    len: usize,
    count: usize,
    /// From one split's result to the next's.
    stride: usize,
}

impl Piece<'_, '_> {
    /// Where the parts of the operands begin.
    fn starts(&self) -> [usize; 2] {
        [
            self.a.at(self.rows.start, self.k.start),
            self.b.at(self.k.start, self.b.cols.start),
        ]
    }

    fn choice(&self) -> Choice {
        let by_four = |start: usize, part: &Part<'_>| {
            start.is_multiple_of(4) && part.row_stride.max(part.col_stride).is_multiple_of(4)
        };
        let [a_start, b_start] = self.starts();
        Choice {
            m: self.rows.len(),
            k: self.k.len(),
            n: self.b.cols.len(),
            a_along_k: self.a.col_stride == 1,
            b_along_k: self.b.row_stride == 1,
            a_by_four: by_four(a_start, self.a),
            b_by_four: by_four(b_start, self.b),
            plain: self.finish.epilogue.number() == 0,
            out_by_four: self.to.start.is_multiple_of(4) && self.to.ld.is_multiple_of(4),
        }
    }

    /// What it moves, or the bytes that would take as long as what it multiplies.
    fn cost(&self) -> u64 {
        let [m, k, n] = [self.rows.len(), self.k.len(), self.b.cols.len()].map(|len| len as u64);
        4 * (m * k + k * n + m * n) + m * k * n / PRODUCTS_PER_BYTE
    }
}
