//! Who may use whom, as `ARCHITECTURE.md` says: every path in `src/` that starts at the crate or at `super` is held to the table below.

use std::fs;
use std::path::Path;

/// Each room, and the rooms that it may use beside itself; `room::Item` stands for that item alone.
const TABLE: [(&str, &[&str]); 12] = [
    ("error", &[]),
    ("threads", &[]),
    ("matrix", &["error", "threads", "engine::Real"]),
    ("memory", &["error", "threads", "matrix", "device", "engine::Real"]),
    ("device", &["error", "threads", "matrix", "memory"]),
    ("engine", &["error", "threads", "matrix", "memory", "device"]),
    (
        "kernels",
        &["error", "threads", "matrix", "memory", "device", "engine", "testing"],
    ),
    ("testing", &["error", "device", "engine", "kernels"]),
    ("solvers", &["error", "matrix", "engine", "kernels"]),
    (
        "algorithms",
        &["error", "matrix", "engine", "kernels", "solvers", "run::Job"],
    ),
    ("self_test", &["error", "device", "kernels", "testing"]),
    ("run", &["error", "matrix", "device", "engine", "kernels", "self_test"]),
];
/// Rooms that see an engine only through its traits.
const NAME_NO_ENGINE: [&str; 2] = ["solvers", "algorithms"];
/// Rooms that touch wgpu, and memory by pointers.
const BORDER: [&str; 2] = ["device", "memory"];
/// Rooms whose folders do not use each other; a kernel may use its second step.
const APART: [&str; 2] = ["kernels", "algorithms"];

/// What `text`, as the file `path` below `src/`, uses against the table.
fn breaches(path: &str, text: &str) -> Vec<String> {
    let module: Vec<&str> = path
        .trim_end_matches(".rs")
        .split('/')
        .filter(|part| *part != "mod" && *part != "lib")
        .collect();
    let Some(&room) = module.first() else {
        return Vec::new(); // lib.rs holds the rooms together.
    };
    let allowed = TABLE
        .iter()
        .find(|(name, _)| *name == room)
        .map(|(_, allowed)| *allowed);
    let Some(allowed) = allowed else {
        return vec![format!("{path}: `{room}` is not in the table")];
    };
    let code: String = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n")
        .collect();
    let mut found = Vec::new();
    let (own, tests) = code.split_once("mod tests {").unwrap_or((&code, ""));
    let in_tests = [&module[..], &["tests"]].concat();
    for used in paths(own, &module).into_iter().chain(paths(tests, &in_tests)) {
        let parts: Vec<&str> = used.split("::").collect();
        // `Error` and `Result` are known at the root.
        let to = if parts[0].starts_with(char::is_uppercase) {
            "error"
        } else {
            parts[0]
        };
        let item = parts.get(1).copied().unwrap_or_default();
        let known = to == room || allowed.contains(&to) || allowed.contains(&format!("{to}::{item}").as_str());
        let kind = item.to_lowercase();
        let of_engine = kind.starts_with("gpu") || kind.starts_with("native") || ["", "*"].contains(&item);
        let engine = NAME_NO_ENGINE.contains(&room) && to == "engine" && of_engine;
        let other = to == room
            && APART.contains(&room)
            && module.len() > 1
            && item.starts_with(char::is_lowercase)
            && item != module[1]
            && !item.starts_with(&format!("{}_", module[1]))
            && !module[1].starts_with(&format!("{item}_"));
        if !known || engine || other {
            found.push(format!("{path}: `{used}`"));
        }
    }
    for word in ["wgpu", "unsafe"] {
        if !BORDER.contains(&room) && words(&code).any(|(_, found)| found == word) {
            found.push(format!("{path}: `{word}`"));
        }
    }
    found
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words of some code, and where they start.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let start = move |word: &str| word.as_ptr().addr() - code.as_ptr().addr();
    code.split(|c| !in_name(c))
        .filter(|word| !word.is_empty())
        .map(move |word| (start(word), word))
}

/// Every path that starts with `crate` or `super`, from the root of the crate.
fn paths(code: &str, module: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (start, word) in words(code) {
        let base = match word {
            "crate" => String::new(),
            "super" if !code[..start].ends_with("::") => module[..module.len() - 1].join("::"),
            _ => continue,
        };
        if let Some(rest) = code[start + word.len()..].strip_prefix("::") {
            expand(&base, rest, &mut found);
        }
    }
    found
}

/// The paths that a path or a group of them stands for, after `base`; gives the code behind it.
fn expand<'c>(base: &str, code: &'c str, found: &mut Vec<String>) -> &'c str {
    let mut code = code.trim_start();
    if let Some(group) = code.strip_prefix('{') {
        code = group.trim_start();
        while !code.starts_with('}') && !code.is_empty() {
            code = expand(base, code, found);
            code = code.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        }
        return code.strip_prefix('}').unwrap_or_default();
    }
    let end = code.find(|c| !in_name(c)).unwrap_or(code.len());
    // A glob, or the types of a generic: what is before it is what is used.
    let (name, rest) = match code.strip_prefix('*') {
        Some(rest) => ("*", rest),
        None => code.split_at(end),
    };
    let path = match (base.rsplit_once("::"), name) {
        (outer, "super") => outer.map_or("", |(outer, _)| outer).to_owned(),
        (_, "") => base.to_owned(),
        _ if base.is_empty() => name.to_owned(),
        _ => format!("{base}::{name}"),
    };
    let more = |rest: &&str| rest.starts_with(|c| in_name(c) || c == '{' || c == '*');
    if let Some(rest) = rest.strip_prefix("::").filter(more) {
        return expand(&path, rest, found);
    }
    found.push(path);
    rest.trim_start_matches(|c| c != ',' && c != '}' && c != ';')
}

fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn rooms_use_only_what_the_table_lets_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    files(&src, &mut all);
    assert!(all.len() > 50, "only {} files were found", all.len());
    let found: Vec<String> = all
        .iter()
        .flat_map(|path| {
            let name = path
                .strip_prefix(&src)
                .expect("it is below")
                .to_string_lossy()
                .replace('\\', "/");
            breaches(&name, &fs::read_to_string(path).expect("a readable file"))
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_the_table_forbids_is_seen() {
    for (path, line) in [
        ("algorithms/ridge/mod.rs", "use crate::engine::{Border, Gpu};"),
        (
            "algorithms/ridge/dual.rs",
            "let engine = crate::engine::Native::<f32>::new();",
        ),
        ("algorithms/ridge/dual.rs", "use crate::engine;"),
        ("algorithms/ridge/mod.rs", "use crate::algorithms::linear::Predict;"),
        ("algorithms/ridge/mod.rs", "use super::standard_scaler::Scale;"),
        ("algorithms/ridge/dual.rs", "use super::super::linear::Predict;"),
        ("algorithms/ridge/mod.rs", "use crate::run::{Job, Target};"),
        ("algorithms/linear/mod.rs", "use crate::device::Device;"),
        ("kernels/gram/mod.rs", "use super::{Family, matmul};"),
        (
            "kernels/matmul/native.rs",
            "use crate::kernels::{\n    Engine,\n    gram::{Framed, Gram},\n};",
        ),
        ("kernels/gram/mod.rs", "use crate::{Result, solvers::cholesky::Factor};"),
        ("solvers/moments.rs", "use crate::algorithms::ridge;"),
        ("solvers/moments.rs", "use crate::engine::*;"),
        ("engine/gpu.rs", "fn f(queue: &wgpu::Queue) {}"),
        ("engine/gpu.rs", "use crate::kernels::gram;"),
        ("engine/native.rs", "unsafe { values.get_unchecked(0) }"),
        ("device/open.rs", "use crate::engine::Gpu;"),
        ("memory/copy.rs", "use crate::engine::{Real, Gpu};"),
        ("matrix.rs", "crate::device::adapters();"),
        ("error.rs", "use super::matrix::HostMatrix;"),
        ("matrix.rs", "mod tests {\n use super::super::device::Device;\n}"),
        ("helpers.rs", "fn f() {}"),
    ] {
        assert!(!breaches(path, line).is_empty(), "{path}: {line}");
    }
}

#[test]
fn what_the_table_allows_is_left_alone() {
    for (path, line) in [
        (
            "algorithms/ridge/dual.rs",
            "use super::{Fit, finish};\nuse crate::engine::{Border, Input, Real};",
        ),
        (
            "algorithms/ridge/mod.rs",
            "use crate::kernels::{Engine, gram};\nuse crate::run::Job; // not crate::run::Target",
        ),
        (
            "kernels/gram/mod.rs",
            "use super::{Family, gram_merge};\nuse crate::engine::native_product::multiply;",
        ),
        ("kernels/mod.rs", "use crate::kernels::gram;"),
        ("matrix.rs", "mod tests {\n use super::*;\n}"),
        (
            "memory/copy.rs",
            "mod tests {\n use super::*;\n use super::super::staged_bytes;\n}",
        ),
        (
            "device/open.rs",
            "use crate::memory::{Pool, Ring};\nfn f(device: &wgpu::Device) { unsafe {} }",
        ),
        ("matrix.rs", "#![expect(unsafe_code)]\nuse crate::{Error, Result};"),
    ] {
        assert_eq!(breaches(path, line), [""; 0], "{path}: {line}");
    }
}
