//! Scale and shift every column, forward and back, each result rounded once.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::matrix::MatrixViewMut;
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/scale_shift.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "scale_shift",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// One offset and one scale a column.
#[derive(Clone, Debug)]
pub struct Affine {
    /// Taken away forward, added back inverse.
    pub offset: Vec<f64>,
    /// Divided by forward, multiplied by inverse; not zero.
    pub scale: Vec<f64>,
    /// `x * scale + offset` instead of `(x - offset) / scale`.
    pub inverse: bool,
}

/// Scale and shift.
pub trait ScaleShift: Storage {
    /// `out = (x - offset) / scale`, or its inverse. NaN passes through; an infinity is an error natively (the GPU refuses it at upload).
    fn scale_shift(&self, x: &Self::Matrix, affine: &Affine, out: &mut Self::MatrixMut<'_>) -> Result<()>;
}

/// Elements that one thread makes.
const PER_THREAD: usize = 8;

impl<'a> ScaleShift for Gpu<'a> {
    fn scale_shift(&self, x: &Self::Matrix, affine: &Affine, out: &mut &mut GpuMatrix<'a>) -> Result<()> {
        let pairs = |values: &mut dyn Iterator<Item = f64>| values.map(Self::wide).collect::<Vec<_>>();
        let offset = self.upload(&pairs(&mut affine.offset.iter().copied()))?;
        let factor = |&scale: &f64| if affine.inverse { scale } else { 1.0 / scale };
        let factor = self.upload(&pairs(&mut affine.scale.iter().map(factor)))?;
        for block in 0..x.n_blocks() {
            let rows = x.rows_of(block).len();
            let (array, to) = (self.block(x, block)?, self.block(out, block)?);
            if out.rows_of(block) != x.rows_of(block) {
                return Err(Error::Internal("scale_shift: blocks do not match".into()));
            }
            let params = Params {
                n_rows: rows as u32,
                n_cols: x.n_cols() as u32,
                ld: x.ld as u32,
                out_ld: out.ld as u32,
                inverse: affine.inverse.into(),
                zero: 0,
            };
            let threads = (rows * x.n_cols()).div_ceil(PER_THREAD);
            let groups = threads
                .div_ceil(KERNEL.workgroup[0] as usize)
                .min(self.limits().max_groups as usize);
            let bindings = Bindings {
                params,
                x: array,
                offset: &offset,
                factor: &factor,
                out: to,
            };
            self.dispatch(&bindings, [groups as u32, 1, 1], 2 * array.bytes())?;
        }
        Ok(())
    }
}

impl<T: OnHost> ScaleShift for Native<'_, T> {
    fn scale_shift(&self, x: &Self::Matrix, affine: &Affine, out: &mut MatrixViewMut<'_, T>) -> Result<()> {
        if native::scale_shift(x.view(), affine, out.values()) {
            return Err(Error::NonFinite { what: "X" });
        }
        Ok(())
    }
}
