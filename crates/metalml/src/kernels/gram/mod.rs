//! `Xᵀ X` and `Xᵀ Y` of shifted, weighted rows in one pass, the symmetric half only.

mod cases;
mod gpu;
mod native;
mod reference;

use super::{Family, gram_centre, gram_merge};
use crate::Result;
use crate::device::Kernel;
use crate::engine::{Frame, Native, OnHost, Storage};

include!(concat!(env!("OUT_DIR"), "/gram.rs"));

pub(in crate::kernels) mod tiled {
    //! What the build made of `build/tiles` for this kernel.
    include!(concat!(env!("OUT_DIR"), "/gram_tiled.rs"));
}

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "gram",
    kernels: &KERNELS,
    cases: cases::cases,
};

const KERNELS: [Kernel; ALL.len() + tiled::ALL.len() + 2] = {
    let [first, second] = ALL;
    let [large, rolled] = tiled::ALL;
    [first, second, large, rolled, gram_centre::KERNEL, gram_merge::KERNEL]
};

/// A matrix and the frame that its columns are seen in.
#[derive(Debug)]
pub struct Framed<'s, M>(pub &'s M, pub &'s Frame);

/// Gram matrix and cross-product.
pub trait Gram: Storage {
    /// `products[i * (p + t) + j] = Σ w c_i c_j` with `c = (z - shift) * unit` and `z = [x | y]`, for the `p` columns of `x` and the `t` of `y`;
    /// both halves of the symmetric part are filled. `weights` is a column of the same rows, not negative.
    fn gram(
        &self,
        x: Framed<'_, Self::Matrix>,
        y: Framed<'_, Self::Matrix>,
        weights: Option<&Self::Matrix>,
    ) -> Result<Self::Array<Self::Wide>>;
}

impl<T: OnHost> Gram for Native<'_, T> {
    fn gram(
        &self,
        Framed(x, x_frame): Framed<'_, Self::Matrix>,
        Framed(y, y_frame): Framed<'_, Self::Matrix>,
        weights: Option<&Self::Matrix>,
    ) -> Result<Self::Array<Self::Wide>> {
        let elements = |shift: &[f64]| shift.iter().map(|&shift| T::from_f64(shift)).collect::<Vec<_>>();
        let mut scratch = Vec::new();
        let weights = weights.map(|weights| weights.view());
        let weights = weights.as_ref().map(|weights| weights.packed(&mut scratch));
        let (x_shift, y_shift) = (elements(&x_frame.shift), elements(&y_frame.shift));
        let mut products = native::gram(x.view(), &x_shift, y.view(), &y_shift, weights);
        let units = [&x_frame.unit[..], &y_frame.unit].concat();
        for (row, unit) in products.chunks_exact_mut(units.len()).zip(&units) {
            row.iter_mut()
                .zip(&units)
                .for_each(|(product, other)| *product *= unit * other);
        }
        Ok(products.into())
    }
}
