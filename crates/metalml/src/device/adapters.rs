//! Which GPUs there are, and which one a request means.

use crate::{Error, Result};

/// What sort of device an adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the CPU's memory.
    Integrated,
    /// A GPU lent by a hypervisor.
    Virtual,
    /// A driver that computes on the CPU.
    Software,
}

impl Kind {
    /// The word a user reads and writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Software => "software",
        }
    }
}

/// One adapter, in words.
#[derive(Clone, Debug)]
pub struct AdapterFacts {
    /// The device's name.
    pub name: String,
    /// `vulkan`, `metal` or `dx12`.
    pub api: &'static str,
    /// What sort of device it is.
    pub kind: Kind,
    /// The driver and its version.
    pub driver: String,
}

/// Which adapter a caller wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Request {
    /// `vulkan`, `metal`, `dx12`, or any.
    pub api: Option<String>,
    /// An index into `adapters()`, or a part of a name or kind.
    pub selector: Option<String>,
    /// Whether a software adapter will do when nothing else is there.
    pub software: bool,
}

pub(super) fn instance() -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    // Validation layers are a developer's tool: never loaded because the extension was built in debug mode.
    descriptor.flags = wgpu::InstanceFlags::empty();
    descriptor.memory_budget_thresholds.for_resource_creation = Some(95);
    wgpu::Instance::new(descriptor)
}

fn found(instance: &wgpu::Instance) -> Vec<(AdapterFacts, wgpu::Adapter)> {
    let mut found: Vec<_> = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
        .into_iter()
        .filter_map(|adapter| Some((facts(&adapter.get_info())?, adapter)))
        .collect();
    // The fastest kind first; equal kinds in the driver's order.
    found.sort_by_key(|(facts, _)| facts.kind);
    found
}

fn facts(info: &wgpu::AdapterInfo) -> Option<AdapterFacts> {
    let api = match info.backend {
        wgpu::Backend::Vulkan => "vulkan",
        wgpu::Backend::Metal => "metal",
        wgpu::Backend::Dx12 => "dx12",
        _ => return None,
    };
    let kind = match info.device_type {
        wgpu::DeviceType::DiscreteGpu => Kind::Discrete,
        wgpu::DeviceType::IntegratedGpu => Kind::Integrated,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => Kind::Virtual,
        wgpu::DeviceType::Cpu => Kind::Software,
    };
    let driver = format!("{} {}", info.driver, info.driver_info).trim().to_owned();
    Some(AdapterFacts {
        name: info.name.clone(),
        api,
        kind,
        driver,
    })
}

/// Every adapter, the fastest kind first. Loads the drivers.
pub fn adapters() -> Vec<AdapterFacts> {
    found(&instance()).into_iter().map(|(facts, _)| facts).collect()
}

/// The adapter that `request` means.
pub(super) fn choose(instance: &wgpu::Instance, request: &Request) -> Result<(AdapterFacts, wgpu::Adapter)> {
    let all = found(instance);
    let names: Vec<String> = all.iter().map(|(facts, _)| described(facts)).collect();
    let seen = if names.is_empty() {
        "no Vulkan, Metal or DirectX 12 driver was found".to_owned()
    } else {
        format!("found: {}", names.join(", "))
    };
    let none = |wanted: String| Error::NoDevice {
        reason: format!("{wanted}; {seen}"),
    };
    let fits = |index: usize, facts: &AdapterFacts| {
        request.api.as_deref().is_none_or(|api| api == facts.api)
            && request
                .selector
                .as_deref()
                .is_none_or(|selector| selects(selector, index, facts))
    };
    let mut fitting = all
        .into_iter()
        .enumerate()
        .filter(|(index, (facts, _))| fits(*index, facts))
        .map(|(_, found)| found);
    // A software adapter that is named is wanted.
    let software = request.software || request.selector.is_some();
    let mut only_software = false;
    let chosen = fitting.find(|(facts, _)| {
        let acceptable = software || facts.kind != Kind::Software;
        only_software |= !acceptable;
        acceptable
    });
    chosen.ok_or_else(|| match (&request.selector, &request.api) {
        (Some(selector), _) => none(format!("METALML_DEVICE={selector} names no adapter")),
        (None, _) if only_software => {
            none("only a software adapter is there, which is slower than the CPU engine".into())
        }
        (None, Some(api)) => none(format!("no {api} adapter")),
        (None, None) => none("no GPU".into()),
    })
}

fn described(facts: &AdapterFacts) -> String {
    format!("{} ({}, {})", facts.name, facts.api, facts.kind.name())
}

fn selects(selector: &str, index: usize, facts: &AdapterFacts) -> bool {
    if let Ok(wanted) = selector.parse::<usize>() {
        return wanted == index;
    }
    let wanted = selector.to_lowercase();
    facts.name.to_lowercase().contains(&wanted) || facts.kind.name() == wanted || facts.api == wanted
}
