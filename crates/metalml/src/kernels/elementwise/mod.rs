//! One fused pass over a matrix: an affine map of each column, limits, and a function of each value.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::engine::{Gpu, GpuMatrix, Native, OnHost, Shape, Storage};
use crate::matrix::MatrixViewMut;
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/elementwise.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "elementwise",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// A function of each value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The value.
    Identity,
    /// The value, or 0 if that is more.
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + exp(-value))`.
    Logistic,
    /// The size.
    Absolute,
    /// The square.
    Square,
    /// The root; NaN below 0.
    Root,
    /// The natural logarithm; NaN below 0.
    Logarithm,
    /// The exponential, no larger than the element type's largest number on a GPU.
    Exponential,
    /// 1 above this threshold, else 0.
    Above(f64),
}

/// `activation(clip((x - shift) scale + offset))`, with one shift, scale and offset a column.
#[derive(Clone, Debug)]
pub struct Program {
    /// Taken away first.
    pub shift: Vec<f64>,
    /// Multiplied by then.
    pub scale: Vec<f64>,
    /// Added then.
    pub offset: Vec<f64>,
    /// What stands for NaN, before anything else; without it NaN stays NaN.
    pub fill: Option<Vec<f64>>,
    /// Limits of what is mapped.
    pub clip: Option<[f64; 2]>,
    /// What is done last.
    pub activation: Activation,
}

impl Program {
    /// Leaves `n_cols` columns as they are.
    pub fn identity(n_cols: usize) -> Self {
        Self {
            shift: vec![0.0; n_cols],
            scale: vec![1.0; n_cols],
            offset: vec![0.0; n_cols],
            fill: None,
            clip: None,
            activation: Activation::Identity,
        }
    }

    fn check(&self, n_cols: usize) -> Result<()> {
        let fill = self.fill.as_ref().map_or(n_cols, Vec::len);
        if [self.shift.len(), self.scale.len(), self.offset.len(), fill] != [n_cols; 4] {
            return Err(Error::Internal(format!("a program for other than {n_cols} columns")));
        }
        Ok(())
    }
}

/// Maps of all values.
pub trait Elementwise: Storage {
    /// `out` = what `program` makes of each value of `x`, in the precision of the element type. Reads and writes each value once.
    fn elementwise(&self, x: &Self::Matrix, program: &Program, out: &mut Self::MatrixMut<'_>) -> Result<()>;
}

/// Vectors that one thread makes.
const PER_THREAD: usize = 4;

impl<'a> Elementwise for Gpu<'a> {
    fn elementwise(&self, x: &Self::Matrix, program: &Program, out: &mut &mut GpuMatrix<'a>) -> Result<()> {
        let (n_cols, ld) = (x.n_cols(), x.ld);
        program.check(n_cols)?;
        // Several narrow rows make one of whole vectors.
        let copies = (1..=4).find(|copies| copies * ld % 4 == 0).unwrap_or(1);
        let none = vec![0.0; n_cols];
        let wide_row = |values: &[f64]| {
            let row = values.iter().copied().chain(std::iter::repeat_n(0.0, ld - n_cols));
            row.collect::<Vec<f64>>().repeat(copies)
        };
        let fill = program.fill.as_ref().unwrap_or(&none);
        let columns = [&program.shift, &program.scale, &program.offset, fill]
            .map(|values| wide_row(values))
            .concat();
        let columns = self.upload_elem(&columns)?;
        let threshold = if let Activation::Above(threshold) = program.activation {
            threshold
        } else {
            0.0
        };
        let [low, high] = program.clip.unwrap_or_default();
        for block in 0..x.n_blocks() {
            let (array, to) = (self.block(x, block)?, self.block(out, block)?);
            if out.rows_of(block) != x.rows_of(block) || out.ld != ld {
                return Err(Error::Internal("elementwise: blocks do not match".into()));
            }
            let params = Params {
                n_values: (x.rows_of(block).len() * ld) as u32,
                vectors: (copies * ld / 4) as u32,
                fills: program.fill.is_some().into(),
                clips: program.clip.is_some().into(),
                activation: number(program.activation),
                low: low as f32,
                high: high as f32,
                threshold: threshold as f32,
            };
            let bindings = Bindings {
                params,
                x: array,
                columns: &columns,
                out: to,
            };
            let threads = (params.n_values as usize).div_ceil(4 * PER_THREAD);
            let groups = threads
                .div_ceil(KERNEL.workgroup[0] as usize)
                .min(self.limits().max_groups as usize);
            self.dispatch(&bindings, [groups as u32, 1, 1], 2 * array.bytes())?;
        }
        Ok(())
    }
}

fn number(activation: Activation) -> u32 {
    match activation {
        Activation::Identity => 0,
        Activation::Relu => 1,
        Activation::Tanh => 2,
        Activation::Logistic => 3,
        Activation::Absolute => 4,
        Activation::Square => 5,
        Activation::Root => 6,
        Activation::Logarithm => 7,
        Activation::Exponential => 8,
        Activation::Above(_) => 9,
    }
}

impl<T: OnHost> Elementwise for Native<'_, T> {
    fn elementwise(&self, x: &Self::Matrix, program: &Program, out: &mut MatrixViewMut<'_, T>) -> Result<()> {
        program.check(x.view().n_cols())?;
        native::elementwise(x.view(), program, out.values());
        Ok(())
    }
}
