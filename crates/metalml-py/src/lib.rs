//! The one door between Python and the engines.

#[pyo3::pymodule]
mod _core {}
