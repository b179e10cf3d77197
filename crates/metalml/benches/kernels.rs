//! The larger cases of the tests, timed on every engine, and the way of a matrix to the device.
//!
//! `cargo bench -p metalml --bench kernels [-- gram]`. A case makes its data, brings them, computes and fetches: what is
//! shown is the least that a kernel does. The GPU is the one that `METALML_DEVICE` names, else one that is not software.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use metalml::Result;
use metalml::device::{Device, Options, Request};
use metalml::engine::{Gpu, Storage};
use metalml::kernels::FAMILIES;
use metalml::testing::{On, uniform};

/// Operations below which a case times its overhead.
const LEAST_WORK: u64 = 100_000;

fn device() -> Option<Device> {
    let selector = std::env::var("METALML_DEVICE").ok();
    Device::open(
        &Request {
            selector,
            ..Request::default()
        },
        Options::default(),
    )
    .ok()
}

fn kernels(criterion: &mut Criterion) {
    let device = device();
    let mut engines = vec![("float32", On::Native32, 4), ("float64", On::Native64, 8)];
    engines.extend(device.as_ref().map(|device| ("gpu", On::Gpu(device), 4)));
    for family in FAMILIES {
        let mut group = criterion.benchmark_group(family.name);
        for case in (family.cases)()
            .into_iter()
            .filter(|case| case.work().operations >= LEAST_WORK)
        {
            let (label, work) = (case.label(), case.work());
            let size = label.split_once('/').map_or(label.as_str(), |(_, size)| size);
            for &(name, engine, width) in &engines {
                group.throughput(Throughput::Bytes(width * work.elements));
                group.bench_function(BenchmarkId::new(name, size), |bencher| {
                    bencher.iter(|| black_box(case.run_on(engine).expect("its tests pass")));
                });
            }
        }
    }
}

fn upload(criterion: &mut Criterion) {
    const N_COLS: usize = 64;
    let Some(device) = device() else { return };
    let mut group = criterion.benchmark_group("upload");
    for mib in [1, 16, 381] {
        let n_rows = (mib << 20) / (4 * N_COLS);
        let values: Vec<f32> = uniform(n_rows * N_COLS, 1)
            .into_iter()
            .map(|value| value as f32)
            .collect();
        let there = || -> Result<()> {
            let engine = Gpu::for_testing(&device);
            let matrix = engine.resident([&values], n_rows, [N_COLS])?;
            // The last thing asked for comes back when all before it is there.
            engine.fetch([&engine.upload(&[0.0_f32])?])?;
            drop(black_box(matrix));
            Ok(())
        };
        group.throughput(Throughput::Bytes(4 * values.len() as u64));
        group.bench_function(BenchmarkId::from_parameter(format!("{mib}MiB")), |bencher| {
            bencher.iter(|| there().expect("there is room"));
        });
    }
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args();
    kernels(&mut criterion);
    upload(&mut criterion);
    criterion.final_summary();
}
