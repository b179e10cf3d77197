//! One folder a model: its parameters, its fit, its predictions.

pub mod column_range;
pub mod covariance;
pub mod elastic_net;
pub mod linear;
pub mod naive_bayes;
pub mod normalizer;
pub mod ridge;
pub mod standard_scaler;
