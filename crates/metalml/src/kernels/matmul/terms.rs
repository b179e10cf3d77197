//! What joins a product, and what becomes of it.

use crate::device::Array;
use crate::engine::Real;

/// `epilogue(alpha row a b + beta out + 1 biasᵀ)`: all but the product itself. The default is the product as it is.
#[derive(Debug)]
pub struct Terms<'t, A> {
    /// Multiplies the product.
    pub alpha: f64,
    /// Multiplies what `out` held before; 0 does not read it.
    pub beta: f64,
    /// One value for each column of the result, added.
    pub bias: Option<&'t A>,
    /// One value for each row of the result.
    pub row: Option<RowTerm<'t, A>>,
    /// What the sum becomes.
    pub epilogue: Epilogue,
}

impl<A> Default for Terms<'_, A> {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            beta: 0.0,
            bias: None,
            row: None,
            epilogue: Epilogue::Identity,
        }
    }
}

/// How the values of the rows join.
#[derive(Debug)]
pub enum RowTerm<'t, A> {
    /// Each multiplies its row of the product.
    Scale(&'t A),
    /// Each is added to its row.
    Add(&'t A),
}

impl<A> Clone for RowTerm<'_, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for RowTerm<'_, A> {}

/// What a sum becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Epilogue {
    /// Itself.
    Identity,
    /// 0 where it is below.
    Relu,
    /// Its hyperbolic tangent.
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Logistic,
    /// `exp(x) / Σ exp(x)` over the row, the greatest taken off first.
    Softmax,
    /// `exp(-gamma max(x, 0))`: the Gaussian kernel, where the sum is a squared distance.
    Exponential {
        /// The width's inverse.
        gamma: f64,
    },
    /// `(gamma x + coef0)^degree`.
    Polynomial {
        /// Multiplies the sum.
        gamma: f64,
        /// Is added.
        coef0: f64,
        /// The power.
        degree: u32,
    },
    /// `tanh(gamma x + coef0)`.
    Sigmoid {
        /// Multiplies the sum.
        gamma: f64,
        /// Is added.
        coef0: f64,
    },
}

impl Epilogue {
    /// Its number in `shared/epilogue.wgsl`. The softmax is a step of its own.
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Identity | Self::Softmax => 0,
            Self::Relu => 1,
            Self::Tanh => 2,
            Self::Logistic => 3,
            Self::Exponential { .. } => 4,
            Self::Polynomial { .. } => 5,
            Self::Sigmoid { .. } => 6,
        }
    }

    pub(crate) fn gamma(self) -> f32 {
        match self {
            Self::Exponential { gamma } | Self::Polynomial { gamma, .. } | Self::Sigmoid { gamma, .. } => gamma as f32,
            _ => 0.0,
        }
    }

    pub(crate) fn coef0(self) -> f32 {
        match self {
            Self::Polynomial { coef0, .. } | Self::Sigmoid { coef0, .. } => coef0 as f32,
            _ => 0.0,
        }
    }

    pub(crate) fn degree(self) -> u32 {
        match self {
            Self::Polynomial { degree, .. } => degree,
            _ => 0,
        }
    }

    /// What one value becomes, but for the softmax.
    pub(super) fn of<T: Real>(self, x: T) -> T {
        let wide: f64 = x.into();
        T::from_f64(match self {
            Self::Identity | Self::Softmax => return x,
            Self::Relu => return if wide < 0.0 { T::default() } else { x },
            Self::Tanh => wide.tanh(),
            Self::Logistic => 1.0 / (1.0 + (-wide).exp()),
            Self::Exponential { gamma } => (-gamma * if wide < 0.0 { 0.0 } else { wide }).exp(),
            Self::Polynomial { gamma, coef0, degree } => i32::try_from(degree).map_or_else(
                |_| (gamma * wide + coef0).powf(degree.into()),
                |n| (gamma * wide + coef0).powi(n),
            ),
            Self::Sigmoid { gamma, coef0 } => (gamma * wide + coef0).tanh(),
        })
    }
}

/// The terms of a part of a product on a GPU: from which element the values of its rows and columns begin.
#[derive(Clone, Copy)]
pub(crate) struct Finish<'t> {
    pub(crate) alpha: f32,
    pub(crate) beta: f32,
    pub(crate) bias: Option<&'t Array<f32>>,
    pub(crate) bias_start: usize,
    pub(crate) row: Option<RowTerm<'t, Array<f32>>>,
    pub(crate) row_start: usize,
    pub(crate) epilogue: Epilogue,
}

impl Finish<'_> {
    /// The sums alone.
    pub(crate) const NONE: Self = Self {
        alpha: 1.0,
        beta: 0.0,
        bias: None,
        bias_start: 0,
        row: None,
        row_start: 0,
        epilogue: Epilogue::Identity,
    };

    /// How the kernels use the values of the rows.
    pub(crate) fn row_use(&self) -> u32 {
        match self.row {
            None => 0,
            Some(RowTerm::Scale(_)) => 1,
            Some(RowTerm::Add(_)) => 2,
        }
    }
}

impl<'t, A> RowTerm<'t, A> {
    /// The values.
    pub(crate) fn array(&self) -> &'t A {
        let (Self::Scale(array) | Self::Add(array)) = self;
        array
    }
}

impl<'t, A> Terms<'t, A> {
    /// The terms over plain slices.
    pub(super) fn on_host<T>(&self) -> HostTerms<'t, T>
    where
        A: std::ops::Deref<Target = [T]>,
    {
        HostTerms {
            alpha: self.alpha,
            beta: self.beta,
            bias: self.bias.map(|bias| &**bias),
            scale: match self.row {
                Some(RowTerm::Scale(scale)) => Some(&**scale),
                _ => None,
            },
            more: match self.row {
                Some(RowTerm::Add(more)) => Some(&**more),
                _ => None,
            },
            epilogue: self.epilogue,
        }
    }
}

/// The terms as the native product takes them.
pub(super) struct HostTerms<'t, T> {
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) bias: Option<&'t [T]>,
    pub(super) scale: Option<&'t [T]>,
    pub(super) more: Option<&'t [T]>,
    pub(super) epilogue: Epilogue,
}

impl<T: Real> HostTerms<'_, T> {
    /// Whether only a bias joins, if anything.
    pub(super) fn plain(&self) -> bool {
        self.alpha == 1.0
            && self.beta == 0.0
            && self.scale.is_none()
            && self.more.is_none()
            && self.epilogue == Epilogue::Identity
    }

    /// Joins the terms to rows of the product in `out`; `before` is what `out` held.
    pub(super) fn finish(&self, first_row: usize, n_cols: usize, before: Option<&[T]>, out: &mut [T]) {
        for (i, row) in out.chunks_exact_mut(n_cols).enumerate() {
            let at = first_row + i;
            let scale = self.alpha * self.scale.map_or(1.0, |scale| scale[at].into());
            let more = self.more.map_or(0.0, |more| more[at].into());
            for (j, value) in row.iter_mut().enumerate() {
                let mut sum = scale * (*value).into() + more;
                if let Some(bias) = self.bias {
                    sum += bias[j].into();
                }
                if let Some(before) = before {
                    sum += self.beta * before[i * n_cols + j].into();
                }
                *value = self.epilogue.of(T::from_f64(sum));
            }
            if self.epilogue == Epilogue::Softmax {
                softmax(row);
            }
        }
    }
}

fn softmax<T: Real>(row: &mut [T]) {
    let greatest = row
        .iter()
        .fold(f64::NEG_INFINITY, |most, &value| most.max(value.into()));
    let powers: Vec<f64> = row.iter().map(|&value| (value.into() - greatest).exp()).collect();
    let sum: f64 = powers.iter().sum();
    row.iter_mut()
        .zip(powers)
        .for_each(|(value, power)| *value = T::from_f64(power / sum));
}
