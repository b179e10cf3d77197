//! Sums of gradients by node, column and bin: what the splits of boosted trees are found from.

mod cases;
mod native;
mod reference;

use super::{Family, node_histograms_sibling};
use crate::device::Array;
use crate::engine::{Gpu, Native, OnHost, Storage};
use crate::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/node_histograms.rs"));

/// The kernels of this operation.
pub const FAMILY: Family = Family {
    name: "node_histograms",
    kernels: &[KERNEL, node_histograms_sibling::KERNEL],
    cases: cases::cases,
};

/// Bins of a column, and numbers of a bin: the sums of gradients and of hessians, and the count.
pub const BINS: usize = 256;
/// See [`BINS`].
pub const NUMBERS: usize = 3;

/// Rows in bins, with their gradients, by node.
#[derive(Debug)]
pub struct Binned<'b, E: Storage> {
    /// What `BinValues` makes.
    pub bins: &'b E::Array<u32>,
    /// Columns of the matrix that was binned.
    pub n_cols: usize,
    /// A gradient and a hessian for each row, as whole numbers.
    pub gradients: &'b E::Array<i32>,
    /// The largest size of these.
    pub largest: u32,
    /// The rows of the nodes, one node after the other.
    pub order: &'b E::Array<u32>,
    /// Where each node's rows begin in `order`, and the end of the last.
    pub starts: &'b [u32],
}

/// Histograms of nodes.
pub trait NodeHistograms: Storage {
    /// `[node][column][bin]` sums of gradients and of hessians, and counts. Whole numbers add up the same in any order; a node's must fit 32 bits,
    /// else it is an error. Reads each row's bins, gradients and number once.
    fn node_histograms(&self, of: &Binned<'_, Self>) -> Result<Self::Array<i32>>;
    /// The histograms of the other children, from those of parents and children: Ke et al. (2017), "`LightGBM`", section 2.1.
    fn sibling_histograms(&self, parent: &Self::Array<i32>, child: &Self::Array<i32>) -> Result<Self::Array<i32>>;
}

/// Rows that a workgroup sums.
const ROWS_PER_GROUP: usize = 4096;

fn checked<E: Storage>(of: &Binned<'_, E>, lens: [usize; 3]) -> Result<usize> {
    let [bins, gradients, order] = lens;
    let words = of.n_cols.div_ceil(4);
    let n_rows = gradients / 2;
    let mut rows = of.starts.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
    let Some(longest) = rows.try_fold(0_u32, |longest, len| Some(longest.max(len?))) else {
        return Err(Error::Internal("nodes that end before they begin".into()));
    };
    let end = of.starts.last().copied().unwrap_or(0) as usize;
    if of.n_cols == 0 || bins != n_rows * words || end > order {
        return Err(Error::Internal(format!(
            "{bins} words of {n_rows} rows and {} columns, {end} of {order} numbers",
            of.n_cols
        )));
    }
    let most = u64::from(longest) * u64::from(of.largest.max(1));
    if most > i32::MAX as u64 {
        return Err(Error::TooLarge {
            what: "sum of gradients",
            len: most,
            max: i32::MAX as u64,
        });
    }
    Ok(longest as usize)
}

fn checked_pair(parent: usize, child: usize) -> Result<()> {
    if parent != child {
        return Err(Error::Internal(format!("histograms of {parent} and {child} numbers")));
    }
    Ok(())
}

impl NodeHistograms for Gpu<'_> {
    fn node_histograms(&self, of: &Binned<'_, Self>) -> Result<Array<i32>> {
        let longest = checked(of, [of.bins.len(), of.gradients.len(), of.order.len()])?;
        let n_nodes = of.starts.len().saturating_sub(1);
        let sums = self.upload(&vec![0_i32; n_nodes * of.n_cols * BINS * NUMBERS])?;
        if longest == 0 {
            return Ok(sums);
        }
        let max_groups = self.limits().max_groups as usize;
        let rows_per_group = ROWS_PER_GROUP.max(longest.div_ceil(max_groups));
        let params = Params {
            n_cols: of.n_cols as u32,
            n_nodes: n_nodes as u32,
            rows_per_group: rows_per_group as u32,
        };
        let starts = self.upload(of.starts)?;
        let bindings = Bindings {
            params,
            bins: of.bins,
            gradients: of.gradients,
            order: of.order,
            starts: &starts,
            sums: &sums,
        };
        let words = of.n_cols.div_ceil(4);
        let groups = [longest.div_ceil(rows_per_group), words, n_nodes.min(max_groups)];
        let bytes = 64 * of.order.len() as u64 * words as u64;
        self.dispatch(&bindings, groups.map(|groups| groups as u32), bytes)?;
        Ok(sums)
    }

    fn sibling_histograms(&self, parent: &Array<i32>, child: &Array<i32>) -> Result<Array<i32>> {
        checked_pair(parent.len(), child.len())?;
        node_histograms_sibling::record(self, parent, child)
    }
}

impl<T: OnHost> NodeHistograms for Native<'_, T> {
    fn node_histograms(&self, of: &Binned<'_, Self>) -> Result<Self::Array<i32>> {
        checked(of, [of.bins.len(), of.gradients.len(), of.order.len()])?;
        Ok(native::node_histograms(of.bins, of.n_cols, of.gradients, of.order, of.starts).into())
    }

    fn sibling_histograms(&self, parent: &Self::Array<i32>, child: &Self::Array<i32>) -> Result<Self::Array<i32>> {
        checked_pair(parent.len(), child.len())?;
        let sibling: Vec<i32> = parent
            .iter()
            .zip(child.iter())
            .map(|(parent, child)| parent - child)
            .collect();
        Ok(sibling.into())
    }
}
