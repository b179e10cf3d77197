//! The receipt of a submission (`device/recording.rs`): not an operation of the engines.

include!(concat!(env!("OUT_DIR"), "/nonce.rs"));
