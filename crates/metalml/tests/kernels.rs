//! Every kernel on every engine beside its plain f64 meaning.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use metalml::Error;
use metalml::device::{Device, Kind, Options, Request};
use metalml::engine::{Frame, Gpu, Native, Shape};
use metalml::kernels::gram::Framed;
use metalml::kernels::matmul::{Epilogue, Operand, RowTerm, Terms};
use metalml::kernels::{Engine, FAMILIES, float_probe};
use metalml::testing::{AnyCase, On, resident, uniform};

/// GPU tests run on whatever `METALML_DEVICE` names, else on the first adapter; a machine with none fails them.
fn device(options: Options) -> Device {
    let request = Request {
        selector: std::env::var("METALML_DEVICE").ok(),
        software: true,
        ..Request::default()
    };
    Device::open(
        &request,
        Options {
            poison: true,
            forget: true,
            kernels_from: edited_kernels(),
            ..options
        },
    )
    .expect("a GPU, if only a software one")
}

/// `METALML_KERNELS`, a folder, has the WGSL to test in place of what was built: `tools/mutate_kernels.py` writes it.
fn edited_kernels() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| std::env::var_os("METALML_KERNELS").map(Into::into))
        .as_deref()
}

fn shared() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| device(Options::default()))
}

/// `METALML_FAMILIES`, names with commas between them, leaves the other families out: edits of one kernel are tried on its own cases.
fn cases() -> Vec<Box<dyn AnyCase>> {
    let chosen = std::env::var("METALML_FAMILIES").ok();
    let wanted = |name: &str| {
        chosen
            .as_ref()
            .is_none_or(|chosen| chosen.split(',').any(|of| of == name))
    };
    let families = FAMILIES.iter().filter(|family| wanted(family.name));
    families.flat_map(|family| (family.cases)()).collect()
}

fn check(on: On<'_>, wanted: impl Fn(&str) -> bool) {
    let faults: Vec<String> = cases()
        .iter()
        .filter(|case| wanted(&case.label()))
        .filter_map(|case| {
            case.fault(on)
                .unwrap_or_else(|error| Some(format!("{}: {error}", case.label())))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn gpu_agrees_with_the_reference() {
    check(On::Gpu(shared()), |_| true);
}

#[test]
fn native_float32_agrees_with_the_reference() {
    check(On::Native32, |_| true);
}

#[test]
fn native_float64_agrees_with_the_reference() {
    check(On::Native64, |_| true);
}

#[test]
fn gpu_blocks_of_rows_make_the_same_answers() {
    // Bindings of these sizes split nearly every matrix of the cases; partial sums of the widest do not fit them at all.
    // Few groups must stride over the rows of a large block.
    for (max_binding, block, max_groups, least) in [
        (16 << 10, u64::MAX, 40, 25),
        (64 << 10, u64::MAX, 40, 30),
        (8 << 20, 8 << 10, 40, 30),
        (8 << 20, 8 << 10, 4096, 40),
        (8 << 20, u64::MAX, 3, 30),
    ] {
        let small = device(Options {
            max_binding: Some(max_binding),
            block: Some(block),
            max_groups: Some(max_groups),
            ..Options::default()
        });
        let mut ran = 0;
        for case in cases() {
            match case.fault(On::Gpu(&small)) {
                Ok(fault) => {
                    assert_eq!(fault, None, "bindings of {max_binding} bytes");
                    ran += 1;
                }
                Err(Error::TooLarge { .. }) => {}
                Err(error) => panic!("{}: {error}", case.label()),
            }
        }
        let all = std::env::var_os("METALML_FAMILIES").is_none();
        assert!(
            ran >= least || !all,
            "only {ran} cases fit bindings of {max_binding} bytes"
        );
    }
}

/// Statistics and products of a matrix that was made on the engine: nobody wrote the padding of its rows.
fn of_a_made_matrix<E: Engine>(engine: &E) -> Vec<f64> {
    const ROWS: usize = 300;
    const COLS: usize = 5;
    let [a, empty] = resident(engine, [&uniform(ROWS * COLS, 1), &[]], ROWS, [COLS, 0]).expect("there is room");
    let identity: Vec<f64> = (0..COLS * COLS)
        .map(|at| f64::from(u8::from(at % (COLS + 1) == 0)))
        .collect();
    let [identity] = resident(engine, [&identity], COLS, [COLS]).expect("there is room");
    let mut made = engine.create(ROWS, COLS).expect("there is room");
    engine
        .matmul(
            Operand::Plain(&a),
            Operand::Plain(&identity),
            &Terms::default(),
            &mut E::write(&mut made),
        )
        .expect("it runs");
    let frame = |n_cols| Frame {
        shift: vec![0.125; n_cols],
        unit: vec![1.0; n_cols],
    };
    let sums = engine.column_stats(&made, None, &frame(COLS)).expect("it runs");
    let products = engine
        .gram(Framed(&made, &frame(COLS)), Framed(&empty, &frame(0)), None)
        .expect("it runs");
    let mut found = engine.fetch([&sums.sums, &products]).expect("they come back").concat();
    found.extend(shares_of_far_rows(engine, &made));
    found
}

/// The softmax of rows of which none can stand for another, by a thin product whose inner dimension ends within a vector.
fn shares_of_far_rows<E: Engine>(engine: &E, made: &E::Matrix) -> Vec<f64> {
    const SHARES: usize = 3;
    let (n_rows, n_cols) = (made.n_rows(), made.n_cols());
    let [factors] = resident(engine, [&uniform(n_cols * SHARES, 2)], n_cols, [SHARES]).expect("there is room");
    let far: Vec<f64> = (0..n_rows).map(|row| [-250.0, 0.0, 250.0][row % 3]).collect();
    let far = engine.upload_elem(&far).expect("there is room");
    let terms = Terms {
        row: Some(RowTerm::Add(&far)),
        epilogue: Epilogue::Softmax,
        ..Terms::default()
    };
    let mut shares = engine.create(n_rows, SHARES).expect("there is room");
    engine
        .matmul(
            Operand::Plain(made),
            Operand::Plain(&factors),
            &terms,
            &mut E::write(&mut shares),
        )
        .expect("it runs");
    engine.fetch_matrix(&shares).expect("it comes back")
}

#[test]
#[ignore = "a software driver compiles what is written out for minutes: `make test-all` runs it"]
fn gpu_fast_kernels_make_the_same_answers() {
    let fast = device(Options {
        as_kind: Some(Kind::Discrete),
        ..Options::default()
    });
    check(On::Gpu(&fast), |_| true);
}

/// Each kernel a hundred times on one of its larger inputs: what threads race for would come out differently once.
#[test]
#[ignore = "long: `make test-all` runs it"]
fn gpu_runs_give_equal_bits_a_hundred_times() {
    for family in FAMILIES {
        let case = (family.cases)()
            .into_iter()
            .filter(|case| case.work().operations < 5_000_000)
            .max_by_key(|case| case.work().operations)
            .expect("a family has cases");
        let first = bits(&*case);
        for time in 1..100 {
            assert_eq!(bits(&*case), first, "{}: run {time}", case.label());
        }
    }
}

fn bits(case: &dyn AnyCase) -> Vec<u64> {
    let values = case.run_on(On::Gpu(shared())).expect("its tests pass");
    values.into_iter().map(f64::to_bits).collect()
}

#[test]
fn gpu_padding_is_no_value() {
    let expected = of_a_made_matrix(&Native::<f64>::new());
    let found = of_a_made_matrix(&Gpu::for_testing(shared()));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
    }
}

#[test]
fn gpu_floats_are_what_compensated_sums_need() {
    let facts = float_probe::probe(shared()).expect("it runs");
    assert!(facts.exact_two_sum && facts.nan_bits && facts.infinity, "{facts:?}");
    if shared().facts().kind == Kind::Software {
        assert!(facts.denormals, "{facts:?}");
    }
}

#[test]
fn gpu_checked_modules_make_the_same_answers() {
    check(
        On::Gpu(&device(Options {
            checked: true,
            ..Options::default()
        })),
        |_| true,
    );
}

#[test]
fn gpu_and_native_runs_give_equal_bits() {
    for case in cases() {
        for on in [On::Gpu(shared()), On::Native32, On::Native64] {
            let bits = || -> Vec<u64> {
                case.run_on(on)
                    .expect("it ran before")
                    .into_iter()
                    .map(f64::to_bits)
                    .collect()
            };
            assert_eq!(bits(), bits(), "{}", case.label());
        }
    }
}
