//! A device as its callers know it: which one is chosen, what it refuses, what it gives back, and what it does when things go wrong.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use metalml::algorithms::standard_scaler::{Scale, Statistics};
use metalml::device::{self, AdapterFacts, Device, Kind, Options, Request};
use metalml::engine::{Gpu, Input, Native, Rows, Storage};
use metalml::kernels::scale_shift::Affine;
use metalml::kernels::{Engine, Family, column_stats, scale_shift};
use metalml::matrix::{HostMatrix, HostMatrixMut, MatrixView, MatrixViewMut};
use metalml::run::{Job, Target};
use metalml::solvers::moments::Moments;
use metalml::testing::{AnyCase, Case, Expected, Work, uniform};
use metalml::{Error, Result, self_test};

const QUIET: Options = Options {
    max_binding: None,
    block: None,
    max_groups: None,
    memory: None,
    poison: true,
    checked: false,
    forget: true,
    as_kind: None,
    runs: None,
    kernels_from: None,
};
/// Uploads above 1 MiB go by the staging ring, each in a submission of its own.
const BLOCK: u64 = 2 << 20;
const N_COLS: usize = 4;
/// Five blocks, the last one short.
const N_ROWS: usize = 600_000;

/// Whatever `METALML_DEVICE` names, else the first adapter.
fn request() -> Request {
    Request {
        selector: std::env::var("METALML_DEVICE").ok(),
        software: true,
        ..Request::default()
    }
}

fn opened(options: Options) -> Device {
    Device::open(&request(), options).expect("a GPU, if only a software one")
}

fn data() -> Vec<f32> {
    uniform(N_ROWS * N_COLS, 1)
        .into_iter()
        .map(|value| value as f32)
        .collect()
}

fn host(values: &[f32]) -> HostMatrix<'_> {
    HostMatrix::F32(MatrixView::new(values, values.len() / N_COLS, N_COLS).expect("whole rows"))
}

/// The means of the columns.
fn means<'a>(values: &'a [f32], run: impl FnOnce(Statistics<'a>) -> Result<Moments>) -> Result<Vec<f64>> {
    run(Statistics {
        x: host(values),
        weights: None,
    })
    .map(|found| found.mean)
}

/// Every value less 1, twice as large.
fn scaled<'a>(values: &'a [f32], out: &'a mut [f32], run: impl FnOnce(Scale<'a>) -> Result<()>) -> Result<()> {
    let affine = Affine {
        offset: vec![1.0; N_COLS],
        scale: vec![0.5; N_COLS],
        inverse: false,
    };
    let out = HostMatrixMut::F32(MatrixViewMut::new(out, N_COLS).expect("whole rows"));
    run(Scale {
        rows: Rows::Apart(Input::finite(host(values), "X"), out),
        affine,
        element: host(values),
    })
}

/// On a device whose kernels' cases may not fit its limits.
fn untested<'a, J: Job<'a>>(device: &'a Device) -> impl FnOnce(J) -> Result<J::Output> {
    move |job| job.run(&Gpu::for_testing(device))
}

fn assert_well(device: &Device, values: &[f32]) {
    let found = means(values, untested(device)).expect("the device is well");
    let expected = means(values, |job| job.run(&Native::<f32>::new())).expect("the data are finite");
    assert!(
        found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9),
        "{found:?} is not {expected:?}"
    );
    let mut out = vec![0.0; values.len()];
    scaled(values, &mut out, untested(device)).expect("the device is well");
    let off = values
        .iter()
        .zip(&out)
        .find(|(value, out)| (**value - 1.0) * 2.0 != **out);
    assert_eq!(off, None);
}

#[test]
fn gpu_is_chosen_by_kind_index_name_and_api() {
    let all = device::adapters();
    assert!(
        all.windows(2).all(|pair| pair[0].kind <= pair[1].kind),
        "the fastest kind is not first: {all:?}"
    );
    let found = |selector: String| {
        let request = Request {
            selector: Some(selector),
            ..Request::default()
        };
        Device::open(&request, QUIET).map(|device| device.facts().clone())
    };
    for (index, facts) in all.iter().enumerate() {
        assert_eq!(found(index.to_string()).expect("it is there").name, facts.name);
        let first = |wanted: &dyn Fn(&AdapterFacts) -> bool| {
            all.iter().find(|facts| wanted(facts)).map(|facts| facts.name.clone())
        };
        let of_kind = found(facts.kind.name().to_owned()).expect("there is one").name;
        // A word may be a kind, or a part of a name.
        let by_word = |wanted: &str| {
            first(&|facts| {
                facts.kind.name() == wanted || facts.api == wanted || facts.name.to_lowercase().contains(wanted)
            })
        };
        assert_eq!(Some(of_kind), by_word(facts.kind.name()));
        let part: String = facts.name.chars().skip(1).take(6).collect();
        assert_eq!(
            Some(found(part.to_uppercase()).expect("there is one").name),
            by_word(&part.to_lowercase())
        );
        assert_eq!(found(facts.api.to_owned()).expect("there is one").api, facts.api);
    }
}

#[test]
fn gpu_that_is_not_there_is_said_beside_those_that_are() {
    let all = device::adapters();
    let refusal = |request: Request| match Device::open(&request, QUIET) {
        Err(Error::NoDevice { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let described: Vec<String> = all
        .iter()
        .map(|facts| format!("{} ({}, {})", facts.name, facts.api, facts.kind.name()))
        .collect();
    let seen = format!("; found: {}", described.join(", "));
    let named = |selector: &str| Request {
        selector: Some(selector.into()),
        ..Request::default()
    };
    assert_eq!(
        refusal(named("no such device")),
        format!("METALML_DEVICE=no such device names no adapter{seen}")
    );
    let beyond = all.len().to_string();
    assert_eq!(
        refusal(named(&beyond)),
        format!("METALML_DEVICE={beyond} names no adapter{seen}")
    );
    let api = Request {
        api: Some("glide".into()),
        software: true,
        ..Request::default()
    };
    assert_eq!(refusal(api), format!("no glide adapter{seen}"));
    if all.iter().all(|facts| facts.kind == Kind::Software) {
        let reason = "only a software adapter is there, which is slower than the CPU engine";
        assert_eq!(refusal(Request::default()), format!("{reason}{seen}"));
    } else {
        assert_ne!(
            Device::open(&Request::default(), QUIET)
                .expect("it is there")
                .facts()
                .kind,
            Kind::Software
        );
    }
}

#[test]
fn gpu_says_what_is_too_large_or_too_much() {
    let device = opened(Options {
        max_binding: Some(4096),
        memory: Some(1 << 20),
        ..QUIET
    });
    let found = Gpu::for_testing(&device).upload(&[0.0_f32; 1025]).map(drop);
    assert!(
        matches!(
            found,
            Err(Error::TooLarge {
                what: "array",
                len: 4100,
                max: 4096
            })
        ),
        "{found:?}"
    );

    let (wide, mut out) = ([1.0_f32; 1028], [0.0_f32; 1028]);
    let row = MatrixView::new(&wide, 1, 1028).expect("a row");
    let rows = Rows::Apart(
        Input::finite(HostMatrix::F32(row), "X"),
        HostMatrixMut::F32(MatrixViewMut::new(&mut out, 1028).expect("a row")),
    );
    let affine = Affine {
        offset: vec![0.0; 1028],
        scale: vec![1.0; 1028],
        inverse: false,
    };
    let found = Scale {
        rows,
        affine,
        element: HostMatrix::F32(row),
    }
    .run(&Gpu::for_testing(&device));
    assert!(
        matches!(
            found,
            Err(Error::TooLarge {
                what: "row",
                len: 1028,
                max: 1024
            })
        ),
        "{found:?}"
    );

    let engine = Gpu::for_testing(&device);
    let arrays: Vec<_> = (0..300).map_while(|_| engine.upload(&[0.0_f32; 1024]).ok()).collect();
    let found = engine.upload(&[0.0_f32; 1024]).map(drop);
    assert_eq!(arrays.len(), 256, "arrays of 4 KiB in 1 MiB");
    assert!(
        matches!(
            found,
            Err(Error::OutOfMemory {
                wanted: 1_052_672,
                limit: 1_048_576
            })
        ),
        "{found:?}"
    );
    drop((arrays, engine));
    assert_eq!(device.memory_in_use().0, 0);
    assert!(
        Gpu::for_testing(&device).upload(&[0.0_f32; 1024]).is_ok(),
        "what was given back can be had again"
    );
}

#[test]
fn gpu_memory_is_given_back_after_every_call() {
    let (device, values) = (
        opened(Options {
            max_binding: Some(BLOCK),
            ..QUIET
        }),
        data(),
    );
    assert_well(&device, &values);
    let (in_use, kept) = device.memory_in_use();
    assert_eq!(in_use, 0);
    assert!(kept > 0 && kept <= device.limits().memory / 4, "{kept} bytes are kept");
    assert_well(&device, &values);
    assert_eq!(
        device.memory_in_use(),
        (0, kept),
        "a second call makes no arrays of its own"
    );
}

#[test]
fn gpu_is_well_after_calls_that_it_refused() {
    let (device, values) = (
        opened(Options {
            max_binding: Some(BLOCK),
            ..QUIET
        }),
        data(),
    );
    // More often than there are staging buffers either way; in the first block, and while others are on their way.
    for at in [0, values.len() / 2, values.len() - 1, 7, values.len() / 3] {
        let mut bad = values.clone();
        bad[at] = f32::INFINITY;
        let found = means(&bad, untested(&device));
        assert!(matches!(found, Err(Error::NonFinite { what: "X" })), "{found:?}");
        let found = scaled(&bad, &mut vec![0.0; bad.len()], untested(&device));
        assert!(matches!(found, Err(Error::NonFinite { what: "X" })), "{found:?}");
        assert_eq!(device.memory_in_use().0, 0);
    }
    assert_well(&device, &values);
    assert!(!device.is_lost());
}

#[test]
fn gpu_serves_many_threads_at_once() {
    let (device, values) = (
        opened(Options {
            max_binding: Some(BLOCK),
            ..QUIET
        }),
        data(),
    );
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (device, values) = (&device, &values[..(N_ROWS - thread * 70_000) * N_COLS]);
            scope.spawn(move || (0..2).for_each(|_| assert_well(device, values)));
        }
    });
    assert_eq!(device.memory_in_use().0, 0);
}

#[test]
fn gpu_is_opened_once_by_all_threads() {
    let open = || device::open(&request()).expect("a GPU, if only a software one");
    let first = open();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(Arc::ptr_eq(&first, &open())));
        }
    });
}

/// A device that drops a submission hands back memory as it was: no call may take that for an answer.
#[test]
fn gpu_that_stops_is_lost_and_gives_no_answer() {
    let values = data();
    let submissions = |device: &Device| device.counts().submissions.load(Ordering::Relaxed);
    let options = Options {
        max_binding: Some(BLOCK),
        poison: false,
        ..QUIET
    };
    let whole = opened(options);
    means(&values, untested(&whole)).expect("it runs to its end");
    let of_means = submissions(&whole);
    scaled(&values, &mut vec![0.0; values.len()], untested(&whole)).expect("it runs to its end");
    let of_scale = submissions(&whole) - of_means;
    assert!(of_means > 4 && of_scale > 4, "{of_means} and {of_scale} submissions");
    for runs in 0..of_means {
        let device = opened(Options {
            runs: Some(runs),
            ..options
        });
        let found = means(&values, untested(&device));
        assert!(
            matches!(found, Err(Error::DeviceLost { .. })),
            "{runs} of {of_means}: {found:?}"
        );
        assert!(device.is_lost());
    }
    for runs in 0..of_scale {
        let device = opened(Options {
            runs: Some(runs),
            ..options
        });
        let found = scaled(&values, &mut vec![0.0; values.len()], untested(&device));
        assert!(
            matches!(found, Err(Error::DeviceLost { .. })),
            "{runs} of {of_scale}: {found:?}"
        );
        let again = means(&values, untested(&device));
        assert!(
            matches!(again, Err(Error::DeviceLost { .. })),
            "a lost device answers: {again:?}"
        );
    }
}

/// A case that no engine gets right.
struct Wrong;

impl Case for Wrong {
    fn label(&self) -> String {
        "wrong".into()
    }
    fn expected(&self) -> Expected {
        Expected {
            values: vec![2.0],
            allowed: vec![1.0],
            wide: false,
            leeway: 1.0,
        }
    }
    fn run<E: Engine>(&self, _: &E) -> Result<Vec<f64>> {
        Ok(vec![1.0])
    }
    fn work(&self) -> Work {
        Work {
            elements: 1,
            operations: 1,
        }
    }
    fn in_self_test(&self) -> bool {
        true
    }
}

/// The kernels of `scale_shift`, found wrong.
const QUARANTINED: Family = Family {
    name: "scale_shift",
    kernels: scale_shift::FAMILY.kernels,
    cases: || vec![Box::new(Wrong) as Box<dyn AnyCase>],
};

fn assert_quarantined(device: Arc<Device>) {
    let name = device.facts().name.clone();
    let target = Target::Gpu(device);
    let values = uniform(64, 1).into_iter().map(|value| value as f32).collect::<Vec<_>>();
    let found = scaled(&values, &mut vec![0.0; 64], |job| target.run(job));
    let why = "wrong [0]: 1e0 is not 2e0 within 1.1920928955078125e-7";
    let expected = format!("`scale_shift` failed its self-test on {name}: {why}");
    assert!(
        matches!(&found, Err(Error::NoDevice { reason }) if *reason == expected),
        "{found:?}"
    );
    assert!(
        means(&values, |job| target.run(job)).is_ok(),
        "other kernels are as good as before"
    );
}

#[test]
fn gpu_kernels_that_fail_their_self_test_are_not_used() {
    let device = Arc::new(opened(QUIET));
    assert!(
        self_test::refusal(&device, &[&column_stats::FAMILY])
            .expect("it runs")
            .is_none()
    );
    assert!(self_test::refusal(&device, &[&QUARANTINED]).expect("it runs").is_some());
    assert_quarantined(device);
}

#[test]
fn gpu_kernels_are_not_used_before_their_self_test() {
    let device = opened(QUIET);
    let values = [1.0; 8];
    let found = means(&values, |job| job.run(&Gpu::new(&device)));
    assert!(
        matches!(&found, Err(Error::Internal(what)) if what.contains("`column_stats` was not tested")),
        "{found:?}"
    );
}

/// One step of the tests below, in a process that has a cache folder of its own.
fn in_child(step: &str, cache: &std::path::Path) {
    let output = std::process::Command::new(std::env::current_exe().expect("a test has a file"))
        .args(["--exact", "gpu_step_of_another_test", "--ignored"])
        .env("METALML_TEST_STEP", step)
        .env("METALML_CACHE_DIR", cache)
        .output()
        .expect("a test can be run");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{step}: {said}");
}

#[test]
#[ignore = "the tests below run it, each in a process of its own"]
fn gpu_step_of_another_test() {
    let step = std::env::var("METALML_TEST_STEP").unwrap_or_default();
    let device = Arc::new(opened(Options { forget: false, ..QUIET }));
    let dispatches = || device.counts().dispatches.load(Ordering::Relaxed);
    match step.as_str() {
        "learn" => {
            assert!(device.trust().all().is_empty());
            assert_eq!(
                self_test::refusal(&device, &[&column_stats::FAMILY]).expect("it runs"),
                None
            );
            assert!(dispatches() > 0);
            assert_well(&device, &data());
        }
        "remember" => {
            assert_eq!(
                self_test::refusal(&device, &[&column_stats::FAMILY]).expect("it runs"),
                None
            );
            assert_eq!(dispatches(), 0, "the self-test ran again");
            assert_well(&device, &data());
        }
        "quarantine" => assert!(self_test::refusal(&device, &[&QUARANTINED]).expect("it runs").is_some()),
        "quarantined" => assert_quarantined(device),
        _ => {}
    }
}

/// An empty folder for one test.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("metalml-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

#[test]
fn gpu_verdicts_are_kept_for_the_next_process() {
    let cache = folder("verdicts");
    in_child("learn", &cache);
    in_child("remember", &cache);
    in_child("quarantine", &cache);
    in_child("quarantined", &cache);
    std::fs::remove_dir_all(cache).expect("it is ours");
}

#[test]
fn gpu_cache_that_is_damaged_or_not_writable_is_as_if_empty() {
    let cache = folder("damaged");
    in_child("learn", &cache);
    let files: Vec<_> = std::fs::read_dir(&cache)
        .expect("it was made")
        .map(|entry| entry.expect("readable").path())
        .collect();
    assert!(!files.is_empty());
    for damage in [&b""[..], b"metalml", &[0xff; 4096]] {
        for file in &files {
            std::fs::write(file, damage).expect("it is ours");
        }
        in_child("learn", &cache);
        in_child("remember", &cache);
    }
    // A file where the folder should be: nobody can write there, not even root.
    in_child("learn", &files[0]);
    assert!(files[0].is_file());
    std::fs::remove_dir_all(cache).expect("it is ours");
}
