//! Every kernel in the language of each driver, written with the options that wgpu-hal 30 uses there, with and without checks.
//!
//! A driver of that kind need not be at hand: what a Mac or a Windows machine would be given is made here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use metalml::device::Kernel;
use metalml::kernels::{FAMILIES, KERNELS};
use naga::back::{TaskDispatchLimits, hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, GlobalVariable, Handle, Module, ResourceBinding, ShaderStage, StorageAccess};

/// A kernel as every writer takes it.
struct Parsed {
    kernel: Kernel,
    module: Module,
    info: ModuleInfo,
}

/// Each kernel, by turns with no checks (as it runs) and with all of them (as tests also run it).
fn each(visit: impl Fn(&Parsed, bool)) {
    for kernel in KERNELS {
        let parsed = parsed(kernel);
        visit(&parsed, false);
        visit(&parsed, true);
    }
}

fn parsed(kernel: Kernel) -> Parsed {
    let module = naga::front::wgsl::parse_str(kernel.source)
        .unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(kernel.source)));
    // No feature of a device is asked for, so none may be used.
    let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}: {}", kernel.name, error.emit_to_string(kernel.source)));
    Parsed { kernel, module, info }
}

impl Parsed {
    /// The bound variables, in the order of their bindings: the order in which wgpu numbers them anew.
    fn bindings(&self) -> Vec<(ResourceBinding, Handle<GlobalVariable>, &GlobalVariable)> {
        let variables = self.module.global_variables.iter();
        let mut found: Vec<_> = variables
            .filter_map(|(handle, variable)| Some((variable.binding?, handle, variable)))
            .collect();
        found.sort_by_key(|(binding, ..)| *binding);
        found
    }
}

fn policies(checked: bool) -> BoundsCheckPolicies {
    let policy = if checked {
        BoundsCheckPolicy::Restrict
    } else {
        BoundsCheckPolicy::Unchecked
    };
    BoundsCheckPolicies {
        index: policy,
        buffer: policy,
        image_load: policy,
        binding_array: BoundsCheckPolicy::Unchecked,
    }
}

fn main_entry() -> (ShaderStage, String) {
    (ShaderStage::Compute, "main".into())
}

const LIMITS: TaskDispatchLimits = TaskDispatchLimits {
    max_mesh_workgroups_per_dim: 0,
    max_mesh_workgroups_total: 0,
};

#[test]
fn metal_takes_every_kernel() {
    each(|parsed, checked| {
        let bindings = parsed.bindings();
        let resources = (0..).zip(&bindings).map(|(slot, (binding, _, variable))| {
            let mutable =
                matches!(variable.space, AddressSpace::Storage { access } if access.contains(StorageAccess::STORE));
            let target = msl::BindTarget {
                buffer: Some(slot),
                mutable,
                ..msl::BindTarget::default()
            };
            (*binding, target)
        });
        let of_main = msl::EntryPointResources {
            resources: resources.collect(),
            immediates_buffer: None,
            sizes_buffer: Some(bindings.len() as msl::Slot),
        };
        // macOS 11 to 26.
        for lang_version in [(2, 3), (2, 4), (3, 0), (3, 1), (3, 2), (4, 0)] {
            let options = msl::Options {
                lang_version,
                inline_samplers: Vec::new(),
                spirv_cross_compatibility: false,
                fake_missing_bindings: false,
                per_entry_point_map: [("main".to_owned(), of_main.clone())].into(),
                bounds_check_policies: policies(checked),
                zero_initialize_workgroup_memory: false,
                force_loop_bounding: checked,
                task_dispatch_limits: checked.then_some(LIMITS),
                mesh_shader_primitive_indices_clamp: checked,
                emit_int_div_checks: checked,
                ray_query_initialization_tracking: checked,
            };
            let pipeline = msl::PipelineOptions {
                entry_point: Some(main_entry()),
                allow_and_force_point_size: false,
                vertex_pulling_transform: true,
                ..msl::PipelineOptions::default()
            };
            let name = parsed.kernel.name;
            let (text, told) = msl::write_string(&parsed.module, &parsed.info, &options, &pipeline)
                .unwrap_or_else(|error| panic!("{name} in Metal {lang_version:?}: {error}"));
            let entry = told.entry_point_names[0].as_ref().expect("every binding has a slot");
            assert!(text.contains(&format!("kernel void {entry}(")), "{name}: {text}");
            for slot in 0..bindings.len() {
                assert!(
                    text.contains(&format!("[[buffer({slot})]]")),
                    "{name}: no buffer {slot}"
                );
            }
        }
    });
}

#[test]
fn direct3d_takes_every_kernel() {
    each(|parsed, checked| {
        let mut registers = [0; 3];
        let targets: Vec<_> = parsed
            .bindings()
            .iter()
            .map(|(binding, _, variable)| {
                let class = match variable.space {
                    AddressSpace::Uniform => 0,
                    AddressSpace::Storage { access } if access.contains(StorageAccess::STORE) => 2,
                    _ => 1,
                };
                let register = registers[class];
                registers[class] += 1;
                let target = hlsl::BindTarget {
                    register,
                    ..hlsl::BindTarget::default()
                };
                (
                    *binding,
                    target,
                    format!("register({}{register}", ["b", "t", "u"][class]),
                )
            })
            .collect();
        let heap = |register| hlsl::BindTarget {
            register,
            ..hlsl::BindTarget::default()
        };
        // FXC, then DXC.
        for shader_model in [
            hlsl::ShaderModel::V5_1,
            hlsl::ShaderModel::V6_0,
            hlsl::ShaderModel::V6_9,
        ] {
            let options = hlsl::Options {
                shader_model,
                binding_map: targets.iter().map(|(binding, target, _)| (*binding, *target)).collect(),
                fake_missing_bindings: false,
                special_constants_binding: Some(heap(registers[0])),
                immediates_target: None,
                sampler_heap_target: hlsl::SamplerHeapBindTargets {
                    standard_samplers: heap(0),
                    comparison_samplers: heap(2048),
                },
                zero_initialize_workgroup_memory: false,
                restrict_indexing: checked,
                force_loop_bounding: checked,
                task_dispatch_limits: checked.then_some(LIMITS),
                mesh_shader_primitive_indices_clamp: checked,
                ray_query_initialization_tracking: checked,
                ..hlsl::Options::default()
            };
            let pipeline = hlsl::PipelineOptions {
                entry_point: Some(main_entry()),
            };
            let (name, mut text) = (parsed.kernel.name, String::new());
            let told = hlsl::Writer::new(&mut text, &options, &pipeline)
                .write(&parsed.module, &parsed.info, None)
                .unwrap_or_else(|error| panic!("{name} in shader model {shader_model:?}: {error}"));
            let entry = told.entry_point_names[0]
                .as_ref()
                .expect("every binding has a register");
            assert!(text.contains(&format!("void {entry}(")), "{name}: {text}");
            let [x, y, z] = parsed.kernel.workgroup;
            assert!(text.contains(&format!("[numthreads({x}, {y}, {z})]")), "{name}: {text}");
            for (_, _, register) in &targets {
                assert!(text.contains(register), "{name}: no {register})");
            }
        }
    });
}

#[test]
fn vulkan_takes_every_kernel() {
    /// The first word of every SPIR-V module.
    const MAGIC: u32 = 0x0723_0203;
    const HEADER: usize = 5;
    each(|parsed, checked| {
        let binding_map = (0..).zip(parsed.bindings()).map(|(slot, (binding, ..))| {
            let info = spv::BindingInfo {
                descriptor_set: 0,
                binding: slot,
                binding_array_size: None,
            };
            (binding, info)
        });
        let binding_map: spv::BindingMap = binding_map.collect();
        let capabilities = [
            spv::Capability::Shader,
            spv::Capability::Matrix,
            spv::Capability::Sampled1D,
            spv::Capability::Image1D,
            spv::Capability::ImageQuery,
            spv::Capability::DerivativeControl,
            spv::Capability::StorageImageExtendedFormats,
        ];
        // Vulkan 1.0 to 1.3.
        for lang_version in [(1, 0), (1, 3), (1, 5), (1, 6)] {
            let options = spv::Options {
                lang_version,
                flags: spv::WriterFlags::LABEL_VARYINGS | spv::WriterFlags::FORCE_POINT_SIZE,
                fake_missing_bindings: false,
                binding_map: binding_map.clone(),
                capabilities: Some(capabilities.into_iter().collect()),
                bounds_check_policies: policies(checked),
                zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
                force_loop_bounding: checked,
                ray_query_initialization_tracking: checked,
                trace_ray_argument_validation: true,
                use_storage_input_output_16: false,
                debug_info: None,
                task_dispatch_limits: checked.then_some(LIMITS),
                mesh_shader_primitive_indices_clamp: checked,
                emit_int_div_checks: checked,
            };
            let pipeline = spv::PipelineOptions {
                shader_stage: ShaderStage::Compute,
                entry_point: "main".into(),
            };
            let name = parsed.kernel.name;
            let words = spv::write_vec(&parsed.module, &parsed.info, &options, Some(&pipeline))
                .unwrap_or_else(|error| panic!("{name} in SPIR-V {lang_version:?}: {error}"));
            assert_eq!(words[0], MAGIC, "{name}");
            // Each instruction says how many words it has; the last ends where the module does.
            let mut at = HEADER;
            while at < words.len() && words[at] >> 16 > 0 {
                at += (words[at] >> 16) as usize;
            }
            assert_eq!(at, words.len(), "{name}");
        }
    });
}

#[test]
fn kernels_stay_within_the_limits_that_devices_are_opened_with() {
    let limits = wgpu::Limits::default();
    for kernel in KERNELS {
        let Parsed { module, .. } = parsed(kernel);
        let shared: u32 = module
            .global_variables
            .iter()
            .filter(|(_, variable)| variable.space == AddressSpace::WorkGroup)
            .map(|(_, variable)| module.types[variable.ty].inner.size(module.to_ctx()))
            .sum();
        assert!(
            shared <= limits.max_compute_workgroup_storage_size,
            "{}: {shared} bytes are shared",
            kernel.name
        );
        let [x, y, z] = kernel.workgroup;
        assert_eq!(
            module.entry_points[0].workgroup_size, kernel.workgroup,
            "{}",
            kernel.name
        );
        assert!(
            x * y * z <= limits.max_compute_invocations_per_workgroup,
            "{}: {x} x {y} x {z} threads",
            kernel.name
        );
        assert!(
            z <= limits.max_compute_workgroup_size_z,
            "{}: {z} threads in z",
            kernel.name
        );
        let storage = |space| matches!(space, AddressSpace::Storage { .. });
        let arrays = module
            .global_variables
            .iter()
            .filter(|(_, variable)| storage(variable.space))
            .count();
        assert!(
            arrays <= limits.max_storage_buffers_per_shader_stage as usize,
            "{}: {arrays} arrays",
            kernel.name
        );
    }
    // WebGPU promises no more than this anywhere.
    assert_eq!(
        (
            limits.max_compute_invocations_per_workgroup,
            limits.max_storage_buffers_per_shader_stage
        ),
        (256, 8)
    );
    assert!(limits.max_compute_workgroup_storage_size <= 32 << 10);
}

#[test]
fn kernels_use_every_binding_that_their_contract_names() {
    // The layout of a pipeline is made from what the shader uses: a binding too many would fit no layout.
    for kernel in KERNELS {
        let parsed = parsed(kernel);
        let main = parsed.info.get_entry_point(0);
        for (slot, (binding, handle, variable)) in parsed.bindings().into_iter().enumerate() {
            let name = variable.name.as_deref().unwrap_or_default();
            assert_eq!(
                (binding.group, binding.binding as usize),
                (0, slot),
                "{}: `{name}`",
                kernel.name
            );
            assert!(!main[handle].is_empty(), "{} does not use `{name}`", kernel.name);
            let uniform = variable.space == AddressSpace::Uniform;
            assert_eq!(
                (slot == 0, name == "params"),
                (uniform, uniform),
                "{}: `{name}`",
                kernel.name
            );
        }
    }
}

/// The kernels that a file makes: one, or one for each value of its `variants`.
fn made_of(stem: &str, text: &str) -> Vec<String> {
    let values = text.lines().find_map(|line| line.strip_prefix("//! variants "));
    values.map_or_else(
        || vec![stem.to_owned()],
        |rule| {
            rule.split_whitespace()
                .skip(1)
                .map(|value| format!("{stem}_{value}"))
                .collect()
        },
    )
}

/// The lines that the build takes over as they are.
fn unchanged_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| !line.contains('$') && !line.trim_start().starts_with("//! "))
}

#[test]
fn every_file_of_wgsl_is_a_kernel_or_part_of_one() {
    let mut files = Vec::new();
    find(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let (shared, own): (Vec<_>, Vec<_>) = files.into_iter().partition(|(folder, ..)| folder == "shared");
    let made: Vec<(String, &String)> = own
        .iter()
        .flat_map(|(_, stem, text)| made_of(stem, text).into_iter().map(move |name| (name, text)))
        .collect();
    let names: BTreeSet<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
    let known: BTreeSet<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
    assert_eq!(
        (names.len(), known.len()),
        (made.len(), KERNELS.len()),
        "two kernels have one name"
    );
    // What is made from a template says so.
    for kernel in KERNELS.iter().filter(|kernel| !names.contains(kernel.name)) {
        assert!(kernel.source.contains("; see build/"), "{} has no file", kernel.name);
    }
    assert!(names.is_subset(&known), "{names:?} are not all built");
    for (name, text) in &made {
        let kernel = KERNELS
            .iter()
            .find(|kernel| kernel.name == name)
            .expect("its name is known");
        for line in unchanged_lines(text) {
            assert!(kernel.source.contains(line), "{name} is not what was built: {line}");
        }
    }
    for (_, stem, text) in shared {
        let used = |source: &str| unchanged_lines(&text).all(|line| source.contains(line));
        assert!(KERNELS.iter().any(|kernel| used(kernel.source)), "nobody uses {stem}");
    }
    // What no family holds is never tested before its use: the runtime's own only.
    let tested: BTreeSet<&str> = FAMILIES
        .iter()
        .flat_map(|family| family.kernels)
        .map(|kernel| kernel.name)
        .collect();
    let others: Vec<_> = KERNELS
        .iter()
        .map(|kernel| kernel.name)
        .filter(|name| !tested.contains(name))
        .collect();
    assert_eq!(others, ["nonce", "float_probe"]);
}

/// Folder, stem and text of each file.
fn find(folder: &Path, found: &mut Vec<(String, String, String)>) {
    let word = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    for entry in fs::read_dir(folder).expect("a folder of the sources") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "wgsl") {
            let text = fs::read_to_string(&path).expect("a readable file");
            found.push((word(folder.file_name()), word(path.file_stem()), text));
        }
    }
}
