//! GPU memory: buffers from a bounded pool, and the rings of mapped staging buffers that carry data to the device and back.
#![expect(clippy::disallowed_types, reason = "this module and `device` are the border to wgpu")]

mod copy;
mod pool;
mod ring;

pub(crate) use copy::{Found, collect_rows, fill_host_rows};
pub(crate) use pool::{Memory, Pool};
pub(crate) use ring::{Lease, READ_BYTES, Ring, WRITE_BYTES, staged_bytes};
