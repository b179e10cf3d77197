//! What the self-tests found, kept on disk by device, driver and version of this package.
//!
//! A file that is missing, damaged or of another version is as if nothing were known; one that cannot be written is no error.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::adapters::AdapterFacts;

/// What a kernel's self-test found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every case was right.
    Passed,
    /// The first case that was not, in words; the kernel is not used on this device.
    Failed(String),
}

/// The verdicts on one device.
#[derive(Debug)]
pub struct Trust {
    known: Mutex<BTreeMap<String, Verdict>>,
    path: Option<PathBuf>,
}

const HEADER: &str = concat!("metalml self-test ", env!("CARGO_PKG_VERSION"));

impl Trust {
    pub(super) fn load(facts: &AdapterFacts, forget: bool) -> Self {
        let path = if forget { None } else { cache_file(facts, "self-test") };
        let text = path.as_deref().and_then(|path| std::fs::read_to_string(path).ok());
        let known = text.as_deref().and_then(parsed).unwrap_or_default();
        Self {
            known: Mutex::new(known),
            path,
        }
    }

    /// What is known of `kernel`.
    pub fn of(&self, kernel: &str) -> Option<Verdict> {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(kernel)
            .cloned()
    }

    /// All that is known.
    pub fn all(&self) -> BTreeMap<String, Verdict> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remember a verdict, here and on disk.
    pub(crate) fn record(&self, kernel: &str, verdict: Verdict) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(kernel.to_owned(), verdict);
        if let Some(path) = &self.path {
            write_file(path, written(&known).as_bytes());
        }
    }
}

fn written(known: &BTreeMap<String, Verdict>) -> String {
    let lines = known.iter().map(|(kernel, verdict)| match verdict {
        Verdict::Passed => format!("{kernel} passed\n"),
        Verdict::Failed(why) => format!("{kernel} failed {}\n", why.replace('\n', " ")),
    });
    let body: String = lines.collect();
    format!("{HEADER}\n{body}end {}\n", known.len())
}

fn parsed(text: &str) -> Option<BTreeMap<String, Verdict>> {
    let mut lines = text.lines();
    if lines.next()? != HEADER {
        return None;
    }
    let mut known = BTreeMap::new();
    for line in lines {
        let (kernel, rest) = line.split_once(' ')?;
        match rest.split_once(' ').unwrap_or((rest, "")) {
            // The last line counts the others: a file cut short says nothing.
            (count, "") if kernel == "end" => return (count.parse() == Ok(known.len())).then_some(known),
            ("passed", "") => known.insert(kernel.to_owned(), Verdict::Passed),
            ("failed", why) => known.insert(kernel.to_owned(), Verdict::Failed(why.to_owned())),
            _ => return None,
        };
    }
    None
}

/// Where `what` is kept for this device, driver and version.
pub(super) fn cache_file(facts: &AdapterFacts, what: &str) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (&facts.name, facts.api, &facts.driver, env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    let folder = match std::env::var_os("METALML_CACHE_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => dirs::cache_dir()?.join("metalml"),
    };
    Some(folder.join(format!("{what}-{:016x}", hasher.finish())))
}

/// Write a file whole or not at all; failing is no error, only a slower next start.
pub(super) fn write_file(path: &Path, bytes: &[u8]) {
    let fresh = path.with_extension(format!("{}.part", std::process::id()));
    let written = path
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(&fresh, bytes))
        .and_then(|()| std::fs::rename(&fresh, path));
    if let Err(error) = written {
        tracing::debug!(path = %path.display(), %error, "the cache could not be written");
        let _ = std::fs::remove_file(&fresh);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_written_reads_back() {
        let known = BTreeMap::from([
            ("gram".to_owned(), Verdict::Passed),
            ("matmul".to_owned(), Verdict::Failed("case 3:\n1 is not 2".to_owned())),
        ]);
        let read = parsed(&written(&known)).expect("it is whole");
        assert_eq!(read["gram"], Verdict::Passed);
        assert_eq!(read["matmul"], Verdict::Failed("case 3: 1 is not 2".to_owned()));
    }

    #[test]
    fn a_damaged_file_says_nothing() {
        let whole = written(&BTreeMap::from([("gram".to_owned(), Verdict::Passed)]));
        for cut in 0..whole.len() - 1 {
            assert_eq!(parsed(&whole[..cut]), None, "cut at {cut}");
        }
        assert_eq!(parsed(&whole.replace("passed", "perhaps")), None);
        assert_eq!(parsed(&whole.replace("self-test ", "self-test 9")), None);
    }
}
