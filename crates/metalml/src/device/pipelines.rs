//! Compiled kernels: made on demand, kept for the process, and by the driver on disk where it can.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::adapters::AdapterFacts;
use super::array::Kernel;
use super::open::Options;
use super::trust::{cache_file, write_file};
use crate::{Error, Result};

#[derive(Debug)]
pub(crate) struct Pipelines {
    compiled: Mutex<HashMap<&'static str, wgpu::ComputePipeline>>,
    disk: Option<(wgpu::PipelineCache, PathBuf)>,
    checked: bool,
    kernels_from: Option<&'static Path>,
}

impl Pipelines {
    #[expect(unsafe_code, reason = "a pipeline cache takes bytes from disk")]
    pub(super) fn new(device: &wgpu::Device, facts: &AdapterFacts, on_disk: bool, options: &Options) -> Self {
        let disk = on_disk.then(|| cache_file(facts, "pipelines")).flatten().map(|path| {
            let data = std::fs::read(&path).ok();
            let descriptor = wgpu::PipelineCacheDescriptor {
                label: Some("metalml"),
                data: data.as_deref(),
                fallback: true,
            };
            // SAFETY: the bytes came from `get_data` of the same driver (the file's name holds it) and carry a header that
            // wgpu checks; with `fallback`, bytes that do not fit make an empty cache.
            (unsafe { device.create_pipeline_cache(&descriptor) }, path)
        });
        Self {
            compiled: Mutex::default(),
            disk,
            checked: options.checked,
            kernels_from: options.kernels_from,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The pipeline of `kernel`, compiled at its first use.
    pub(super) fn get(&self, device: &wgpu::Device, kernel: &Kernel) -> Result<wgpu::ComputePipeline> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = compiled.get(kernel.name) {
            return Ok(pipeline.clone());
        }
        let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let pipeline = self.compile(device, kernel);
        if let Some(error) = pollster::block_on(scope.pop()) {
            return Err(Error::Internal(format!(
                "kernel `{}` does not compile: {error}",
                kernel.name
            )));
        }
        if let Some((cache, path)) = &self.disk
            && let Some(data) = cache.get_data()
        {
            write_file(path, &data);
        }
        Ok(compiled.entry(kernel.name).or_insert(pipeline).clone())
    }

    #[expect(
        unsafe_code,
        reason = "kernels guard their own indices; wgpu's guards cost up to half of the speed"
    )]
    fn compile(&self, device: &wgpu::Device, kernel: &Kernel) -> wgpu::ComputePipeline {
        let checks = if self.checked {
            wgpu::ShaderRuntimeChecks::checked()
        } else {
            wgpu::ShaderRuntimeChecks::unchecked()
        };
        let edited = self
            .kernels_from
            .and_then(|folder| std::fs::read_to_string(folder.join(format!("{}.wgsl", kernel.name))).ok());
        let source = wgpu::ShaderSource::Wgsl(edited.map_or(kernel.source.into(), Into::into));
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(kernel.name),
            source,
        };
        // SAFETY: every index into a binding is guarded by a size from `Params`, every loop ends by one; tests also run checked.
        let module = unsafe { device.create_shader_module_trusted(descriptor, checks) };
        device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(kernel.name),
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions {
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: self.disk.as_ref().map(|(cache, _)| cache),
        })
    }
}
