//! The native kernels on request: `benches/native_kernels.py` takes turns with NumPy, SciPy and scikit-learn.
//!
//! Reads lines. `WORK DTYPE N D K` makes data of that size; `run` answers with the seconds of one call. What the letters mean is up to
//! the work: rows, columns, and how many centres, neighbours, segments, references or trees.

mod whole_forest;

use std::hint::black_box;
use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use bytemuck::Pod;
use metalml::engine::{Frame, Metric, Native, OnHost, Storage};
use metalml::kernels::column_stats::ColumnStats as _;
use metalml::kernels::elementwise::{Activation, Elementwise as _, Program};
use metalml::kernels::forest::{Combine, Forest as _};
use metalml::kernels::gram::{Framed, Gram as _};
use metalml::kernels::kernel_sums::{KernelShape, KernelSum, KernelSums as _};
use metalml::kernels::matmul::{Matmul as _, Operand, Terms};
use metalml::kernels::nearest::Nearest as _;
use metalml::kernels::neighbours::Neighbours as _;
use metalml::kernels::normalize_rows::{NormalizeRows as _, RowNorm};
use metalml::kernels::pairwise_distance::PairwiseDistance as _;
use metalml::kernels::row_stats::{RowStat, RowStatistics as _};
use metalml::kernels::segment_sums::{SegmentSums as _, Segments};
use metalml::kernels::sorting::Sorting as _;
use metalml::kernels::top_k_rows::TopKRows as _;
use metalml::testing::uniform;

use self::whole_forest::whole_forest;

/// One call of some work.
type Call = Box<dyn FnMut()>;

/// The work of this name at this size.
#[expect(clippy::too_many_lines, reason = "a list: one arm a work")]
fn prepare<T: OnHost + Pod>(work: &str, [n, d, k]: [usize; 3]) -> Call {
    let engine = Native::<T>::new();
    let matrix = move |rows: usize, cols: usize, seed: u64| {
        let engine = Native::<T>::new();
        let values: Vec<T> = uniform(rows * cols, seed).into_iter().map(T::from_f64).collect();
        let [made] = engine.resident([&values], rows, [cols]).expect("there is room");
        made
    };
    let labels = move || -> Vec<u32> {
        let random = uniform(n, 2);
        random.iter().map(|value| ((value + 0.5) * k as f64) as u32).collect()
    };
    let x = matrix(n, d, 1);
    match work {
        "matmul" => {
            let (b, mut out) = (matrix(d, k, 2), engine.create(n, k).expect("there is room"));
            Box::new(move || {
                let mut out = Native::<T>::write(&mut out);
                let (a, b) = (Operand::Plain(&x), Operand::Plain(&b));
                engine.matmul(a, b, &Terms::default(), &mut out).expect("it runs");
            })
        }
        "gram" => {
            let none = engine.create(n, 0).expect("there is room");
            let (frame, empty) = (frame(d), frame(0));
            Box::new(move || {
                let sums = engine.gram(Framed(&x, &frame), Framed(&none, &empty), None);
                drop(black_box(sums.expect("it runs")));
            })
        }
        "column_stats" => {
            let frame = frame(d);
            Box::new(move || drop(black_box(engine.column_stats(&x, None, &frame).expect("it runs"))))
        }
        "row_norms" => Box::new(move || drop(black_box(engine.row_stats(&x, RowStat::Squares).expect("it runs")))),
        "normalize" => {
            let mut out = engine.create(n, d).expect("there is room");
            Box::new(move || {
                let mut out = Native::<T>::write(&mut out);
                engine.normalize_rows(&x, RowNorm::L2, &mut out).expect("it runs");
            })
        }
        "elementwise" => {
            let mut out = engine.create(n, d).expect("there is room");
            let program = Program {
                shift: vec![0.1; d],
                scale: vec![2.0; d],
                offset: vec![0.5; d],
                fill: None,
                clip: Some([-1.0, 1.0]),
                activation: Activation::Identity,
            };
            Box::new(move || {
                let mut out = Native::<T>::write(&mut out);
                engine.elementwise(&x, &program, &mut out).expect("it runs");
            })
        }
        "nearest" => {
            let (centres, shift) = (matrix(k, d, 2), vec![0.0; d]);
            Box::new(move || drop(black_box(engine.nearest(&x, &centres, &shift).expect("it runs"))))
        }
        "neighbours" => {
            let (queries, shift) = (matrix(n / 10, d, 2), vec![0.0; d]);
            Box::new(move || {
                let found = engine.neighbours(&queries, &x, k, Metric::Euclidean, &shift);
                drop(black_box(found.expect("it runs")));
            })
        }
        "euclidean" | "manhattan" => {
            let metric = if work == "euclidean" {
                Metric::Euclidean
            } else {
                Metric::Manhattan
            };
            let (y, mut out) = (matrix(k, d, 2), engine.create(n, k).expect("there is room"));
            Box::new(move || {
                let mut out = Native::<T>::write(&mut out);
                engine.pairwise_distance(&x, &y, metric, &mut out).expect("it runs");
            })
        }
        "kernel_sums" => {
            let refs = matrix(k, d, 2);
            let sum = KernelSum {
                shape: KernelShape::Gaussian,
                bandwidth: 0.5,
                metric: Metric::Euclidean,
                log: true,
            };
            Box::new(move || drop(black_box(engine.kernel_sums(&x, &refs, None, &sum).expect("it runs"))))
        }
        "segment_sums" => {
            let (labels, shift) = (engine.upload(&labels()).expect("there is room"), vec![0.0; d]);
            Box::new(move || {
                let segments = Segments {
                    labels: &labels,
                    count: k,
                    weights: None,
                    shift: &shift,
                    squares: false,
                };
                drop(black_box(engine.segment_sums(&x, &segments).expect("it runs")));
            })
        }
        "argsort" => {
            let values: Vec<T> = uniform(n, 1).into_iter().map(T::from_f64).collect();
            let values = engine.upload(&values).expect("there is room");
            Box::new(move || drop(black_box(engine.argsort(&values).expect("it runs"))))
        }
        "top_k" => Box::new(move || drop(black_box(engine.top_k_rows(&x, k, false).expect("it runs")))),
        "forest" => {
            let forest = engine.bring_forest(&whole_forest(k, 12, d)).expect("there is room");
            let mean = Combine {
                base: vec![0.0],
                divisor: k as f64,
            };
            Box::new(move || drop(black_box(engine.forest_sums(&x, &forest, &mean).expect("it runs"))))
        }
        _ => panic!("there is no work {work:?}"),
    }
}

fn frame(n_cols: usize) -> Frame {
    Frame {
        shift: vec![0.1; n_cols],
        unit: vec![1.0; n_cols],
    }
}

fn main() -> std::io::Result<()> {
    let mut call: Option<Call> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let seconds = match (words.as_slice(), &mut call) {
            (["run"], Some(call)) => {
                let start = Instant::now();
                call();
                start.elapsed().as_secs_f64()
            }
            ([work, dtype, sizes @ ..], _) if sizes.len() == 3 => {
                let size = |at: usize| sizes[at].parse().expect("a size is a number");
                let sizes = [size(0), size(1), size(2)];
                drop(call.take());
                call = Some(match *dtype {
                    "float32" => prepare::<f32>(work, sizes),
                    _ => prepare::<f64>(work, sizes),
                });
                0.0
            }
            _ => panic!("{line:?} is neither `run` nor `WORK DTYPE N D K`"),
        };
        let mut answers = std::io::stdout().lock();
        writeln!(answers, "{seconds}")?;
        answers.flush()?;
    }
    Ok(())
}
