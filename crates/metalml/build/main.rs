//! WGSL to Rust contracts: for each `kernels/<name>/<name>.wgsl` the kernel constant, its `Params` and its named `Bindings`.
//!
//! The WGSL is the only declaration. Bindings are typed by their element, so a wrong array does not compile: WGSL has no
//! `f64`, so neither has the GPU. A line `//! use <file>` puts `kernels/shared/<file>.wgsl` in front; the lines between `//! unroll K 8`
//! and `//! end` stand there eight times, with 0 to 7 for `$K`: compilers do not unroll all that is worth it; and
//! `//! variants NAME a b` makes a kernel for each value of `$NAME`.

#![expect(clippy::print_stdout, reason = "cargo listens there")]

mod thin;
mod tiles;

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs};

use naga::{AddressSpace, GlobalVariable, Handle, Module, ResourceBinding, Scalar, ScalarKind, Type, TypeInner};

const KERNELS: &str = "src/kernels";
/// Kernels that the runtime itself needs.
const RUNTIME: &str = "src/device";

fn main() {
    println!("cargo::rerun-if-changed={KERNELS}");
    println!("cargo::rerun-if-changed={RUNTIME}");
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut paths = Vec::new();
    let folders = [KERNELS, RUNTIME]
        .into_iter()
        .flat_map(|room| fs::read_dir(room).expect("the rooms are there"));
    for entry in folders {
        let folder = entry.expect("a readable folder").path();
        let name = folder
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default()
            .to_owned();
        let wgsl = folder.join(format!("{name}.wgsl"));
        if wgsl.exists() {
            let room = if folder.starts_with(KERNELS) {
                "crate::kernels"
            } else {
                "crate::device"
            };
            let text = fs::read_to_string(&wgsl).expect("a readable kernel");
            if let Some((constant, values)) = variants_of(&text) {
                let one = |value: &&str| (format!("{name}_{value}"), text.replace(&format!("${constant}"), value));
                let sources = values.iter().map(one).collect();
                paths.extend(variants(&out_dir, &name, &format!("{room}::{name}"), sources, ""));
                continue;
            }
            let made = with_shared(&text).and_then(|source| contract(&out_dir, &name, &source));
            let (kernel, rest) = made.unwrap_or_else(|why| panic!("{}: {why}", wgsl.display()));
            let rust = format!(
                "/// The kernel as its WGSL declares it.\npub(crate) const KERNEL: crate::device::Kernel = {kernel};\n{rest}"
            );
            fs::write(out_dir.join(format!("{name}.rs")), rust).expect("OUT_DIR is writable");
            paths.push(format!("{room}::{name}::KERNEL"));
        }
    }
    paths.sort();
    paths.extend(tiled_products(&out_dir));
    paths.extend(thin_products(&out_dir));
    paths.extend(tiled_grams(&out_dir));
    paths.extend(tiled_least(&out_dir, "nearest"));
    paths.extend(tiled_least(&out_dir, "neighbours"));
    let list = paths.join(", ");
    let all = format!(
        "/// Every kernel, the runtime's own included.\npub const KERNELS: [crate::device::Kernel; {}] = [{list}];\n",
        paths.len()
    );
    fs::write(out_dir.join("all_kernels.rs"), all).expect("OUT_DIR is writable");
}

/// The kernels of `tiles`, as one contract and `TILED[tile][form]`; their paths.
fn tiled_products(out_dir: &Path) -> Vec<String> {
    let sources = tiles::TILES.iter().flat_map(|tile| {
        tiles::FORMS.map(|(form, a_along_k, b_along_k)| (tile.name(form), tiles::source(tile, a_along_k, b_along_k)))
    });
    let sides = tiles::TILES.map(|tile| [tile.rows as u32, tile.cols as u32]);
    let rest = format!(
        "/// Rows and columns of each tile.\npub(crate) const SIDES: [[u32; 2]; {}] = {sides:?};\n",
        tiles::TILES.len()
    );
    variants(
        out_dir,
        "matmul_tiled",
        "crate::kernels::matmul::tiled",
        sources.collect(),
        &rest,
    )
}

/// The kernels of `tiles` that make the upper half of `a' a`: the fast one, and the one for drivers that compile slowly.
fn tiled_grams(out_dir: &Path) -> Vec<String> {
    let sources = tiles::GRAM_TILES.map(|tile| (tile.name("gram"), tiles::source(&tile, false, false)));
    let rest = format!(
        "/// Rows, and columns, of each tile.\npub(crate) const SIDES: [u32; 2] = {:?};\n",
        tiles::GRAM_TILES.map(|tile| tile.rows as u32)
    );
    variants(
        out_dir,
        "gram_tiled",
        "crate::kernels::gram::tiled",
        sources.into(),
        &rest,
    )
}

/// The kernels of `tiles` that find the least estimates, for one of the operations that rest on them.
fn tiled_least(out_dir: &Path, operation: &str) -> Vec<String> {
    let sources = tiles::LEAST_TILES.map(|tile| (tile.name(operation), tiles::source(&tile, true, true)));
    let rest = format!(
        "/// Rows, and columns, of each tile.\npub(crate) const SIDES: [usize; 2] = {:?};\n\
         /// Columns of a group of each tile.\npub(crate) const GROUPS: [usize; 2] = {:?};\n",
        tiles::LEAST_TILES.map(|tile| tile.rows),
        tiles::LEAST_TILES.map(|tile| tile.per_col)
    );
    let path = format!("crate::kernels::{operation}::tiled");
    variants(out_dir, &format!("{operation}_tiled"), &path, sources.into(), &rest)
}

/// The kernels of `thin`: first those that stream rows, then those that stream columns, then that for a short `k`.
fn thin_products(out_dir: &Path) -> Vec<String> {
    let rows = thin::ROWS_WIDTHS.map(|width| (format!("matmul_rows_{width}"), thin::rows(width)));
    let cols = thin::COLS_WIDTHS.map(|width| (format!("matmul_cols_{width}"), thin::cols(width)));
    let rest = format!(
        "/// The widths of each kind.\npub(crate) const ROWS_WIDTHS: [usize; {}] = {:?};\npub(crate) const COLS_WIDTHS: [usize; {}] = {:?};\n\
         /// Columns, `k` and rows of the last.\npub(crate) const SHORT: [usize; 3] = {:?};\n",
        thin::ROWS_WIDTHS.len(),
        thin::ROWS_WIDTHS,
        thin::COLS_WIDTHS.len(),
        thin::COLS_WIDTHS,
        thin::SHORT
    );
    let short = ("matmul_short".to_owned(), thin::short());
    let sources = rows.into_iter().chain(cols).chain([short]).collect();
    variants(out_dir, "matmul_thin", "crate::kernels::matmul::thin", sources, &rest)
}

/// What `//! variants NAME a b` says: the constant, and its values.
fn variants_of(text: &str) -> Option<(&str, Vec<&str>)> {
    let rule = text.lines().find_map(|line| line.strip_prefix("//! variants "))?;
    let (name, values) = rule.split_once(' ')?;
    Some((name, values.split_whitespace().collect()))
}

/// Kernels with one contract: `<file>.rs` with the contract and `ALL`; the kernels' paths, in the module at `path`.
fn variants(out_dir: &Path, file: &str, path: &str, sources: Vec<(String, String)>, rest: &str) -> Vec<String> {
    let (mut kernels, mut contracts) = (Vec::new(), Vec::new());
    for (name, text) in sources {
        let made = with_shared(&text).and_then(|source| contract(out_dir, &name, &source));
        let (kernel, contract) = made.unwrap_or_else(|why| panic!("{name}: {why}"));
        kernels.push(kernel);
        contracts.push(contract);
    }
    assert!(
        contracts.iter().all(|contract| *contract == contracts[0]),
        "{file}: one contract for all"
    );
    let rust = format!(
        "/// Stands for all where only their bindings matter.\npub(crate) const KERNEL: crate::device::Kernel = ALL[0];\n{}\
         /// Every variant.\npub(crate) const ALL: [crate::device::Kernel; {}] = [{}];\n{rest}",
        contracts[0],
        kernels.len(),
        kernels.join(",\n")
    );
    fs::write(out_dir.join(format!("{file}.rs")), rust).expect("OUT_DIR is writable");
    (0..kernels.len()).map(|at| format!("{path}::ALL[{at}]")).collect()
}

/// The kernel as a Rust expression, and the rest of its contract; the whole source is left in a file, to be read.
fn contract(out_dir: &Path, name: &str, source: &str) -> Result<(String, String), String> {
    fs::write(out_dir.join(format!("{name}.wgsl")), source).map_err(|error| error.to_string())?;
    let module = naga::front::wgsl::parse_str(source).map_err(|error| error.emit_to_string(source))?;
    naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty())
        .validate(&module)
        .map_err(|error| error.emit_to_string(source))?;
    let [entry] = module.entry_points.as_slice() else {
        return Err("a kernel file has exactly one entry point".into());
    };
    if entry.name != "main" {
        return Err(format!("the entry point is named `{}`, allowed is `main`", entry.name));
    }
    let (fields, slots, params) = bindings(&module)?;
    let mut hasher = DefaultHasher::new();
    source.hash(&mut hasher);
    let kernel = format!(
        "crate::device::Kernel {{ name: {name:?}, source: {source:?}, workgroup: {workgroup:?}, fingerprint: \"{name}-{hash:016x}\" }}",
        workgroup = entry.workgroup_size,
        hash = hasher.finish(),
    );
    let rest = format!(
        "{params}/// What the kernel reads and writes.\npub(crate) struct Bindings<'a> {{\n    pub(crate) params: Params,\n{fields}}}\n\
         impl crate::device::Bindings for Bindings<'_> {{\n    const KERNEL: crate::device::Kernel = KERNEL;\n    \
         fn params(&self) -> &[u8] {{\n        bytemuck::bytes_of(&self.params)\n    }}\n    \
         fn slots(&self) -> Vec<crate::device::Slot> {{\n        vec![{slots}]\n    }}\n}}\n"
    );
    Ok((kernel, rest))
}

/// The source with its shared parts in front, and its repeated lines written out.
fn with_shared(text: &str) -> Result<String, String> {
    let mut source = String::new();
    for file in text.lines().filter_map(|line| line.strip_prefix("//! use ")) {
        let shared = Path::new(KERNELS).join("shared").join(format!("{}.wgsl", file.trim()));
        source += &unrolled(&fs::read_to_string(&shared).map_err(|error| format!("{}: {error}", shared.display()))?)?;
    }
    // WGSL has no inner documentation comments: to it these lines are comments as others are.
    Ok(source + &unrolled(text)?)
}

fn unrolled(text: &str) -> Result<String, String> {
    let mut lines = text.lines();
    let mut source = String::new();
    while let Some(line) = lines.next() {
        let Some(rule) = line.trim_start().strip_prefix("//! unroll ") else {
            source += line;
            source.push('\n');
            continue;
        };
        let (name, times) = rule.split_once(' ').ok_or_else(|| format!("`{line}`: no count"))?;
        let times: usize = times.trim().parse().map_err(|error| format!("`{line}`: {error}"))?;
        let body: Vec<&str> = lines
            .by_ref()
            .take_while(|line| line.trim_start() != "//! end")
            .collect();
        for at in 0..times {
            for line in &body {
                source += &line.replace(&format!("${name}"), &at.to_string());
                source.push('\n');
            }
        }
    }
    Ok(source)
}

/// The fields of `Bindings`, the expressions that make its slots, and the `Params` struct.
fn bindings(module: &Module) -> Result<(String, String, String), String> {
    let mut globals: Vec<(ResourceBinding, &GlobalVariable)> = module
        .global_variables
        .iter()
        .filter_map(|(_, variable)| Some((variable.binding?, variable)))
        .collect();
    globals.sort_by_key(|(binding, _)| binding.binding);
    if globals.len() > 9 {
        return Err(format!(
            "{} bindings, allowed are `params` and 8 storage buffers",
            globals.len()
        ));
    }
    let (mut fields, mut slots, mut params) = (String::new(), String::new(), None);
    for (slot, (binding, variable)) in globals.iter().enumerate() {
        let field = variable.name.as_deref().unwrap_or_default();
        if (binding.group, binding.binding as usize) != (0, slot) {
            return Err(format!("`{field}`: bindings are numbered from 0, in order, in group 0"));
        }
        match variable.space {
            AddressSpace::Uniform if field == "params" && slot == 0 => {
                params = Some(params_struct(module, variable.ty)?);
            }
            AddressSpace::Storage { .. } => {
                let element = element(module, variable.ty).ok_or(format!("`{field}`: element type not allowed"))?;
                writeln!(fields, "    pub(crate) {field}: &'a crate::device::Array<{element}>,")
                    .map_err(|e| e.to_string())?;
                write!(slots, "self.{field}.slot(), ").map_err(|e| e.to_string())?;
            }
            space => {
                return Err(format!(
                    "`{field}`: {space:?} is not allowed: `params` is uniform and first, the rest is storage"
                ));
            }
        }
    }
    Ok((
        fields,
        slots,
        params.ok_or("a kernel needs one uniform named `params`")?,
    ))
}

fn element(module: &Module, array: Handle<Type>) -> Option<&'static str> {
    let TypeInner::Array { base, .. } = module.types[array].inner else {
        return None;
    };
    match module.types[base].inner {
        // Vectors of four are a way to read the same numbers.
        TypeInner::Scalar(Scalar::F32)
        | TypeInner::Vector {
            size: naga::VectorSize::Quad,
            scalar: Scalar::F32,
        } => Some("f32"),
        TypeInner::Scalar(Scalar::U32)
        | TypeInner::Atomic(Scalar::U32)
        | TypeInner::Vector {
            size: naga::VectorSize::Quad,
            scalar: Scalar::U32,
        } => Some("u32"),
        TypeInner::Scalar(Scalar::I32) | TypeInner::Atomic(Scalar::I32) => Some("i32"),
        TypeInner::Vector {
            size: naga::VectorSize::Bi,
            scalar: Scalar::F32,
        } => Some("crate::device::Pair"),
        _ => None,
    }
}

fn params_struct(module: &Module, ty: Handle<Type>) -> Result<String, String> {
    let TypeInner::Struct { members, span } = &module.types[ty].inner else {
        return Err("`params` must be a struct".into());
    };
    let mut rust = String::from(
        "/// The scalars of one dispatch.\n#[repr(C)]\n#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]\n\
         pub(crate) struct Params {\n",
    );
    for member in members {
        let field = member.name.as_deref().unwrap_or_default();
        let rust_type = match module.types[member.ty].inner {
            TypeInner::Scalar(Scalar {
                kind: ScalarKind::Uint, ..
            }) => "u32",
            TypeInner::Scalar(Scalar {
                kind: ScalarKind::Sint, ..
            }) => "i32",
            TypeInner::Scalar(Scalar {
                kind: ScalarKind::Float,
                ..
            }) => "f32",
            _ => return Err(format!("`params.{field}`: only u32, i32 and f32 are allowed")),
        };
        writeln!(rust, "    pub(crate) {field}: {rust_type},").map_err(|e| e.to_string())?;
    }
    writeln!(rust, "}}\nconst _: () = assert!(size_of::<Params>() == {span});").map_err(|e| e.to_string())?;
    Ok(rust)
}
