//! One folder a model: its parameters, its fit, its predictions.

pub mod linear;
pub mod ridge;
pub mod standard_scaler;
