//! The rows of a reference set within a radius of each query: how many, and which.

mod cases;
mod native;
mod reference;

use super::Family;
use crate::device::Array;
use crate::engine::{Gpu, GpuMatrix, Metric, Native, OnHost, Real, Shape, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/radius.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "radius",
    kernels: &[KERNEL],
    cases: cases::cases,
};

/// What lies within the radius of each query, one query after the other; indices ascend within a query.
#[derive(Debug)]
pub struct Within<E: Storage> {
    /// Which rows.
    pub indices: E::Array<u32>,
    /// How far they are.
    pub distances: E::Array<E::Elem>,
}

/// Neighbours within a radius.
pub trait Radius: Storage {
    /// How many rows of `refs` are not farther than `radius` from each row of `x`: `x` is n by d, `refs` m by d, both finite, d at least 1.
    ///
    /// Costs 2 n m d operations of two kinds. Distances are summed directly, and compared before the root is taken.
    fn radius_counts(
        &self,
        x: &Self::Matrix,
        refs: &Self::Matrix,
        radius: f64,
        metric: Metric,
    ) -> Result<Self::Array<u32>>;

    /// Which they are. `offsets` are the n + 1 running sums of those counts, from 0: query i gets the results `offsets[i]..offsets[i + 1]`.
    ///
    /// Costs the same once more, and memory for `offsets[n]` results.
    fn radius_lists(
        &self,
        x: &Self::Matrix,
        refs: &Self::Matrix,
        radius: f64,
        metric: Metric,
        offsets: &[u32],
    ) -> Result<Within<Self>>;
}

/// Rows that a workgroup makes.
const TILE: usize = 128;
/// Elements of sums for which a submission counts on the time of a byte.
const ELEMENTS_PER_BYTE: u64 = 8;

fn checked(x: &impl Shape, refs: &impl Shape) -> Result<()> {
    if x.n_cols() == 0 || x.n_cols() != refs.n_cols() {
        let found = [x.n_cols(), refs.n_cols()];
        return Err(Error::Internal(format!("distances of rows of {found:?} columns")));
    }
    Ok(())
}

/// The greatest number that is not above the sum of `radius`: the same sums are within both.
fn limit<T: Real>(metric: Metric, radius: f64) -> T {
    let exact = metric.sum_of(radius.max(0.0));
    let near = T::from_f64(exact);
    if radius < 0.0 {
        return T::from_f64(-1.0);
    }
    if near.finite() && near.into() > exact {
        return T::from_f64(near.into() * (1.0 - 0.7 * T::EPSILON));
    }
    near.lesser(T::from_f64(if size_of::<T>() == 4 {
        f32::MAX.into()
    } else {
        f64::MAX
    }))
}

/// One pass over all pairs: counts on from `ends`, and writes to `to` if it is there.
fn pass<'a>(
    gpu: &Gpu<'a>,
    [x, refs]: [&GpuMatrix<'a>; 2],
    limit: f32,
    metric: Metric,
    ends: &Array<u32>,
    to: Option<&Within<Gpu<'a>>>,
) -> Result<()> {
    checked(x, refs)?;
    // Where nothing is written, something must still be bound.
    let nothing = Within {
        indices: gpu.alloc(1)?,
        distances: gpu.alloc(1)?,
    };
    for (x_block, y_block) in (0..x.n_blocks()).flat_map(|at| (0..refs.n_blocks()).map(move |of| (at, of))) {
        let (array, y) = (gpu.block(x, x_block)?, gpu.block(refs, y_block)?);
        let (rows, y_rows) = (x.rows_of(x_block), refs.rows_of(y_block));
        let elements = metric.operations() / 2 * (x.n_cols() * y_rows.len()) as u64;
        let row_cost = (4 * x.ld) as u64 + elements / ELEMENTS_PER_BYTE;
        for piece in gpu.row_pieces(&KERNEL, rows.len(), TILE, row_cost, usize::MAX) {
            let params = Params {
                n_rows: piece.len() as u32,
                n_refs: y_rows.len() as u32,
                n_cols: x.n_cols() as u32,
                x_ld: x.ld as u32,
                y_ld: refs.ld as u32,
                x_start: piece.start as u32,
                y_start: 0,
                metric: metric.number(),
                power: metric.power() as f32,
                first_query: (rows.start + piece.start) as u32,
                first_index: y_rows.start as u32,
                fill: to.is_some().into(),
                limit,
            };
            let found = to.unwrap_or(&nothing);
            let bindings = Bindings {
                params,
                x: array,
                y,
                ends,
                indices: &found.indices,
                distances: &found.distances,
            };
            let groups = [piece.len().div_ceil(TILE) as u32, 1, 1];
            gpu.dispatch(&bindings, groups, row_cost * piece.len() as u64)?;
        }
    }
    Ok(())
}

impl<'a> Radius for Gpu<'a> {
    fn radius_counts(
        &self,
        x: &GpuMatrix<'a>,
        refs: &GpuMatrix<'a>,
        radius: f64,
        metric: Metric,
    ) -> Result<Array<u32>> {
        let counts = self.upload(&vec![0_u32; x.n_rows()])?;
        pass(self, [x, refs], limit(metric, radius), metric, &counts, None)?;
        Ok(counts)
    }

    fn radius_lists(
        &self,
        x: &GpuMatrix<'a>,
        refs: &GpuMatrix<'a>,
        radius: f64,
        metric: Metric,
        offsets: &[u32],
    ) -> Result<Within<Self>> {
        let (starts, len) = starts(offsets, x.n_rows())?;
        let ends = self.upload(starts)?;
        let found = Within {
            indices: self.alloc(len)?,
            distances: self.alloc(len)?,
        };
        if len > 0 {
            pass(self, [x, refs], limit(metric, radius), metric, &ends, Some(&found))?;
        }
        Ok(found)
    }
}

/// Where each of `n_rows` queries begins, and how many results there are.
fn starts(offsets: &[u32], n_rows: usize) -> Result<(&[u32], usize)> {
    match offsets {
        [starts @ .., end] if starts.len() == n_rows => Ok((starts, *end as usize)),
        _ => Err(Error::Internal(format!(
            "{} offsets for {n_rows} queries",
            offsets.len()
        ))),
    }
}

impl<T: OnHost> Radius for Native<'_, T> {
    fn radius_counts(
        &self,
        x: &Self::Matrix,
        refs: &Self::Matrix,
        radius: f64,
        metric: Metric,
    ) -> Result<Self::Array<u32>> {
        checked(x, refs)?;
        Ok(native::counts(&x.view(), &refs.view(), limit(metric, radius), metric).into())
    }

    fn radius_lists(
        &self,
        x: &Self::Matrix,
        refs: &Self::Matrix,
        radius: f64,
        metric: Metric,
        offsets: &[u32],
    ) -> Result<Within<Self>> {
        checked(x, refs)?;
        let (_, len) = starts(offsets, x.view().n_rows())?;
        let (indices, distances) = native::lists(&x.view(), &refs.view(), limit(metric, radius), metric);
        if indices.len() != len {
            return Err(Error::Internal(format!(
                "{} results, foreseen were {len}",
                indices.len()
            )));
        }
        Ok(Within {
            indices: indices.into(),
            distances: distances.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_the_greatest_numbers_within() {
        for radius in [0.0, 0.1, 0.3, 0.5, 1.0, 1e-3, 7.7, 1e10] {
            for metric in [
                Metric::Euclidean,
                Metric::Manhattan,
                Metric::Cosine,
                Metric::Minkowski(3.0),
            ] {
                let (exact, found) = (metric.sum_of(radius), limit::<f32>(metric, radius));
                assert!(
                    f64::from(found) <= exact && f64::from(found.next_up()) > exact,
                    "{metric:?} {radius}"
                );
                assert_eq!(limit::<f64>(metric, radius), exact);
            }
        }
        assert!(limit::<f32>(Metric::Euclidean, -1.0) < 0.0);
        assert_eq!(limit::<f32>(Metric::Euclidean, 1e30), f32::MAX);
        assert_eq!(limit::<f64>(Metric::Euclidean, f64::INFINITY), f64::MAX);
    }
}
