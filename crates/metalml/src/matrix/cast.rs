//! Host data of other element types: they are cast on their way to an engine, to the GPU's float32 without a copy on the host.

use std::ops::Range;

use half::f16;

use super::MatrixView;

/// An element that is cast before it is computed with.
pub(crate) trait Cast: Copy + Send + Sync {
    /// The nearest float64.
    fn widened(self) -> f64;
}

macro_rules! each_type {
    ($($variant:ident $element:ty, $name:literal, $widen:expr;)*) => {
        /// A borrowed matrix of another element type, as `NumPy` casts it: half precision to float32, all else to float64.
        #[derive(Clone, Copy, Debug)]
        pub enum CastMatrix<'a> {
            $(#[doc = $name] $variant(MatrixView<'a, $element>),)*
        }

        $(impl Cast for $element {
            fn widened(self) -> f64 {
                ($widen)(self)
            }
        })*

        impl CastMatrix<'_> {
            /// How many rows.
            pub fn n_rows(&self) -> usize {
                match self { $(Self::$variant(view) => view.n_rows(),)* }
            }

            /// How many columns.
            pub fn n_cols(&self) -> usize {
                match self { $(Self::$variant(view) => view.n_cols(),)* }
            }

            /// `NumPy`'s name of the element type.
            pub fn element(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            /// Element `(row, col)`.
            pub fn get(&self, row: usize, col: usize) -> f64 {
                match self { $(Self::$variant(view) => view.get(row, col).widened(),)* }
            }

            /// Some of the columns.
            #[must_use]
            pub fn cols(&self, range: Range<usize>) -> Self {
                match self { $(Self::$variant(view) => Self::$variant(view.cols(range)),)* }
            }

            /// Some of the rows.
            #[must_use]
            pub fn rows(&self, range: Range<usize>) -> Self {
                match self { $(Self::$variant(view) => Self::$variant(view.rows(range)),)* }
            }

            /// Do the same with whichever it is.
            pub(crate) fn visit<V: Visitor>(&self, visitor: V) -> V::Output {
                match self { $(Self::$variant(view) => visitor.visit(*view),)* }
            }
        }
    };
}

/// A function of a matrix of any of these element types.
pub(crate) trait Visitor {
    type Output;
    fn visit<T: Cast>(self, view: MatrixView<'_, T>) -> Self::Output;
}

each_type! {
    F16 f16, "float16", f16::to_f64;
    I8 i8, "int8", f64::from;
    U8 u8, "uint8", f64::from;
    I16 i16, "int16", f64::from;
    U16 u16, "uint16", f64::from;
    I32 i32, "int32", f64::from;
    U32 u32, "uint32", f64::from;
    I64 i64, "int64", |value| value as f64;
    U64 u64, "uint64", |value| value as f64;
    Bool bool, "bool", f64::from;
}

impl CastMatrix<'_> {
    /// Whether the native engine computes in float32 with it.
    pub fn is_single(&self) -> bool {
        matches!(self, Self::F16(_))
    }

    /// The values in row-major order, each rounded once.
    pub(crate) fn converted<R: crate::engine::Real>(&self) -> Vec<R> {
        struct Converted<R>(std::marker::PhantomData<R>);
        impl<R: crate::engine::Real> Visitor for Converted<R> {
            type Output = Vec<R>;
            fn visit<T: Cast>(self, view: MatrixView<'_, T>) -> Vec<R> {
                let mut scratch = Vec::new();
                let mut values = Vec::with_capacity(view.n_rows() * view.n_cols());
                for row in 0..view.n_rows() {
                    let row = view.rows(row..row + 1);
                    values.extend(
                        row.packed(&mut scratch)
                            .iter()
                            .map(|value| R::from_f64(value.widened())),
                    );
                }
                values
            }
        }
        self.visit(Converted(std::marker::PhantomData))
    }
}
