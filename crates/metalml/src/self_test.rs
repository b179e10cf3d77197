//! Trust is earned: before a family of kernels is first used on a device, its cases run there beside their f64 meaning.
//!
//! The verdict is kept on disk by device, driver, version and source. A family that fails is not used on that device.

use crate::Result;
use crate::device::{Device, Verdict};
use crate::kernels::Family;
use crate::testing::On;

/// Test what is not known yet of these families; the first reason not to use them, in words.
pub fn refusal(device: &Device, families: &[&Family]) -> Result<Option<String>> {
    for family in families {
        let known = |kernel: &crate::device::Kernel| device.trust().of(kernel.fingerprint);
        let verdicts: Vec<_> = family.kernels.iter().map(known).collect();
        let verdict = match verdicts.iter().flatten().find(|verdict| **verdict != Verdict::Passed) {
            Some(failed) => failed.clone(),
            None if verdicts.iter().all(Option::is_some) => Verdict::Passed,
            None => examine(device, family)?,
        };
        if let Verdict::Failed(why) = verdict {
            let name = &device.facts().name;
            return Ok(Some(format!("`{}` failed its self-test on {name}: {why}", family.name)));
        }
    }
    Ok(None)
}

fn examine(device: &Device, family: &Family) -> Result<Verdict> {
    let mut verdict = Verdict::Passed;
    for case in (family.cases)().iter().filter(|case| case.in_self_test()) {
        if let Some(fault) = case.fault(On::Gpu(device))? {
            tracing::error!(family = family.name, fault, "self-test failed");
            verdict = Verdict::Failed(fault);
            break;
        }
    }
    for kernel in family.kernels {
        device.trust().record(kernel.fingerprint, verdict.clone());
    }
    Ok(verdict)
}
