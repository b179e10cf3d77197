//! The larger cases of the tests, timed on every engine, and the way of a matrix to the device.
//!
//! `cargo bench -p metalml --bench kernels [-- gram]`. A case makes its data, brings them, computes and fetches: what is
//! shown is the least that a kernel does. The GPU is the one that `METALML_DEVICE` names, else one that is not software.

mod whole_forest;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use metalml::Result;
use metalml::device::{Device, Options, Request};
use metalml::engine::{Frame, Gpu, Metric, Storage};
use metalml::kernels::FAMILIES;
use metalml::kernels::column_stats::ColumnStats as _;
use metalml::kernels::forest::{Combine, Forest as _};
use metalml::kernels::gram::{Framed, Gram as _};
use metalml::kernels::kernel_sums::{KernelShape, KernelSum, KernelSums as _};
use metalml::kernels::matmul::{Matmul as _, Operand, Terms};
use metalml::kernels::nearest::Nearest as _;
use metalml::kernels::neighbours::Neighbours as _;
use metalml::kernels::pairwise_distance::PairwiseDistance as _;
use metalml::kernels::radius::Radius as _;
use metalml::kernels::segment_sums::{SegmentSums as _, Segments};
use metalml::kernels::sorting::Sorting as _;
use metalml::testing::{On, uniform};

use self::whole_forest::whole_forest;

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

/// Products of matrices that lie on the device: calls one after the other, waited for at the end.
fn products(criterion: &mut Criterion) {
    let Some(device) = device() else { return };
    let mut group = criterion.benchmark_group("product");
    for [m, k, n] in [
        [4096, 4096, 4096],
        [8192, 8192, 8192],
        [1_000_000, 100, 100],
        [1_000_000, 32, 8],
        [1_000_000, 100, 1],
        [1, 100, 1_000_000],
        [100, 1_000_000, 1],
        [100, 1_000_000, 100],
        [1_000_000, 2, 100],
    ] {
        for form in ["nn", "nt", "tn"] {
            let engine = Gpu::for_testing(&device);
            let turned = |rows, cols, turned: bool| if turned { (cols, rows) } else { (rows, cols) };
            let (a_rows, a_cols) = turned(m, k, form.starts_with('t'));
            let (b_rows, b_cols) = turned(k, n, form.ends_with('t'));
            let values: Vec<f32> = (0..(a_rows * a_cols).max(b_rows * b_cols))
                .map(|at| (at % 1013) as f32 / 1013.0 - 0.5)
                .collect();
            let [a] = engine
                .resident([&values[..a_rows * a_cols]], a_rows, [a_cols])
                .expect("there is room");
            let [b] = engine
                .resident([&values[..b_rows * b_cols]], b_rows, [b_cols])
                .expect("there is room");
            let mut out = engine.create(m, n).expect("there is room");
            let side = |matrix, turned| {
                if turned {
                    Operand::Transposed(matrix)
                } else {
                    Operand::Plain(matrix)
                }
            };
            let mut run = |times: u64| {
                for _ in 0..times {
                    engine
                        .matmul(
                            side(&a, form.starts_with('t')),
                            side(&b, form.ends_with('t')),
                            &Terms::default(),
                            &mut Gpu::write(&mut out),
                        )
                        .expect("it runs");
                }
                engine
                    .fetch([&engine.upload(&[0.0_f32]).expect("there is room")])
                    .expect("it ran");
            };
            run(2);
            group.throughput(Throughput::Elements((2 * m * n * k) as u64));
            group.bench_function(BenchmarkId::new(form, format!("{m}x{k}x{n}")), |bencher| {
                bencher.iter_custom(|times| {
                    let start = std::time::Instant::now();
                    run(times);
                    start.elapsed()
                });
            });
        }
    }
}

/// Distances between matrices that lie on the device: calls one after the other, waited for at the end.
fn distances(criterion: &mut Criterion) {
    let Some(device) = device() else { return };
    let mut group = criterion.benchmark_group("distance");
    let engine = Gpu::for_testing(&device);
    let matrix = |n_rows: usize, n_cols: usize| {
        let values: Vec<f32> = uniform(n_rows * n_cols, n_rows as u64)
            .into_iter()
            .map(|value| value as f32)
            .collect();
        let [matrix] = engine.resident([&values], n_rows, [n_cols]).expect("there is room");
        matrix
    };
    let mut time = |name: &str, [n, m, d]: [usize; 3], call: &mut dyn FnMut()| {
        let mut run = |times: u64| {
            (0..times).for_each(|_| call());
            engine
                .fetch([&engine.upload(&[0.0_f32]).expect("there is room")])
                .expect("it ran");
        };
        run(2);
        group.throughput(Throughput::Elements((2 * n * m * d) as u64));
        group.bench_function(BenchmarkId::new(name, format!("{n}x{d}to{m}")), |bencher| {
            bencher.iter_custom(|times| {
                let start = std::time::Instant::now();
                run(times);
                start.elapsed()
            });
        });
    };
    for [n, k, d] in [[1_000_000, 1024, 128], [1_000_000, 100, 100], [1_000_000, 8, 16]] {
        let (x, centres, shift) = (matrix(n, d), matrix(k, d), vec![0.0; d]);
        time("nearest", [n, k, d], &mut || {
            drop(engine.nearest(&x, &centres, &shift).expect("it runs"));
        });
    }
    for [n, m, d] in [[10_000, 100_000, 128], [10_000, 100_000, 8], [100, 1_000_000, 32]] {
        let (x, refs, shift) = (matrix(n, d), matrix(m, d), vec![0.0; d]);
        time("neighbours", [n, m, d], &mut || {
            let found = engine.neighbours(&x, &refs, 10, Metric::Euclidean, &shift);
            drop(found.expect("it runs"));
        });
        if [n, m, d] == [10_000, 100_000, 128] {
            for k in [32, 100] {
                time(&format!("neighbours_{k}"), [n, m, d], &mut || {
                    let found = engine.neighbours(&x, &refs, k, Metric::Euclidean, &shift);
                    drop(found.expect("it runs"));
                });
            }
        }
        time("radius", [n, m, d], &mut || {
            drop(
                engine
                    .radius_counts(&x, &refs, 0.5, Metric::Euclidean)
                    .expect("it runs"),
            );
        });
        let sum = KernelSum {
            shape: KernelShape::Gaussian,
            bandwidth: 0.5,
            metric: Metric::Euclidean,
            log: true,
        };
        time("kernel_sums", [n, m, d], &mut || {
            drop(engine.kernel_sums(&x, &refs, None, &sum).expect("it runs"));
        });
    }
    for [n, m, d] in [[10_000, 10_000, 64], [10_000, 10_000, 4]] {
        let (x, y) = (matrix(n, d), matrix(m, d));
        let mut out = engine.create(n, m).expect("there is room");
        time("pairwise_distance", [n, m, d], &mut || {
            engine
                .pairwise_distance(&x, &y, Metric::Euclidean, &mut Gpu::write(&mut out))
                .expect("it runs");
        });
    }
}

/// Passes over a matrix that lies on the device.
fn passes(criterion: &mut Criterion) {
    let Some(device) = device() else { return };
    let mut group = criterion.benchmark_group("pass");
    for [n_rows, n_cols] in [[1_000_000, 100], [100_000, 1000], [1_000_000, 16], [10_000_000, 3]] {
        let values: Vec<f32> = uniform(n_rows * n_cols, 1)
            .into_iter()
            .map(|value| value as f32)
            .collect();
        let size = format!("{n_rows}x{n_cols}");
        let frame = Frame {
            shift: vec![0.1; n_cols],
            unit: vec![1.0; n_cols],
        };
        let none = Frame {
            shift: Vec::new(),
            unit: Vec::new(),
        };
        let engine = Gpu::for_testing(&device);
        let [x] = engine.resident([&values], n_rows, [n_cols]).expect("there is room");
        let empty = engine.create(n_rows, 0).expect("there is room");
        let mut time = |name: &str, operations: usize, call: &dyn Fn()| {
            group.throughput(if operations > 0 {
                Throughput::Elements(operations as u64)
            } else {
                Throughput::Bytes(4 * (n_rows * n_cols) as u64)
            });
            let run = |times: u64| {
                (0..times).for_each(|_| call());
                engine
                    .fetch([&engine.upload(&[0.0_f32]).expect("there is room")])
                    .expect("it ran");
            };
            run(2);
            group.bench_function(BenchmarkId::new(name, &size), |bencher| {
                bencher.iter_custom(|times| {
                    let start = std::time::Instant::now();
                    run(times);
                    start.elapsed()
                });
            });
        };
        time("column_stats", 0, &|| {
            drop(engine.column_stats(&x, None, &frame).expect("it runs"));
        });
        time("gram", 2 * n_rows * n_cols * n_cols, &|| {
            drop(
                engine
                    .gram(Framed(&x, &frame), Framed(&empty, &none), None)
                    .expect("it runs"),
            );
        });
    }
}

/// Sums by label, orders and forests, of what lies on the device.
fn others(criterion: &mut Criterion) {
    const ROWS: usize = 1_000_000;
    let Some(device) = device() else { return };
    let mut group = criterion.benchmark_group("other");
    let engine = Gpu::for_testing(&device);
    let narrow = |len: usize, seed: u64| {
        uniform(len, seed)
            .into_iter()
            .map(|value| value as f32)
            .collect::<Vec<f32>>()
    };
    let mut time = |name: String, call: &dyn Fn()| {
        let run = |times: u64| {
            (0..times).for_each(|_| call());
            engine
                .fetch([&engine.upload(&[0.0_f32]).expect("there is room")])
                .expect("it ran");
        };
        run(2);
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|times| {
                let start = std::time::Instant::now();
                run(times);
                start.elapsed()
            });
        });
    };
    let [x] = engine
        .resident([&narrow(ROWS * 100, 1)], ROWS, [100])
        .expect("there is room");
    for count in [8, 1024] {
        let labels: Vec<u32> = uniform(ROWS, 2)
            .iter()
            .map(|value| ((value + 0.5) * count as f64) as u32)
            .collect();
        let labels = engine.upload(&labels).expect("there is room");
        time(format!("segment_sums/1000000x100by{count}"), &|| {
            let segments = Segments {
                labels: &labels,
                count,
                weights: None,
                shift: &[0.0; 100],
                squares: false,
            };
            drop(engine.segment_sums(&x, &segments).expect("it runs"));
        });
    }
    let keys = engine.upload(&narrow(10 * ROWS, 3)).expect("there is room");
    time("argsort/10000000".into(), &|| {
        drop(engine.argsort(&keys).expect("it runs"));
    });
    let [x] = engine
        .resident([&narrow(ROWS * 50, 4)], ROWS, [50])
        .expect("there is room");
    let forest = whole_forest(100, 16, 50);
    let forest = engine.bring_forest(&forest).expect("there is room");
    let mean = Combine {
        base: vec![0.0],
        divisor: 100.0,
    };
    time("forest/1000000x50by100of16".into(), &|| {
        drop(engine.forest_sums(&x, &forest, &mean).expect("it runs"));
    });
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args();
    kernels(&mut criterion);
    upload(&mut criterion);
    products(&mut criterion);
    distances(&mut criterion);
    passes(&mut criterion);
    others(&mut criterion);
    criterion.final_summary();
}
