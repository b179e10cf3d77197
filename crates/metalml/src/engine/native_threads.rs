//! How the native kernels share their work: the calling thread works too, with helpers from a pool.
//!
//! A caller that sleeps while a pool works is moved about by the scheduler: on two cores both workers often land on one
//! (measured: half the speed). So the caller stays and takes tasks as the helpers do. Tasks never depend on the number of
//! threads and their results come back in order: answers have the same bits for any number.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::ThreadPool;

/// Elements of work below which waking another thread costs more than it saves.
const SERIAL_WORK: usize = 1 << 16;

thread_local! {
    static HELPERS: RefCell<Option<Arc<ThreadPool>>> = const { RefCell::new(None) };
}

/// Runs `work` on this thread, which shares its tasks with `helpers`: a pool of one thread less than there are cores.
/// Without this (and outside a pool) kernels run on the calling thread alone.
pub fn with_helpers<R>(helpers: &Arc<ThreadPool>, work: impl FnOnce() -> R) -> R {
    /// Puts the helpers from before back, also when `work` panics.
    struct Restore(Option<Arc<ThreadPool>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            HELPERS.replace(self.0.take());
        }
    }
    let _restore = Restore(HELPERS.replace(Some(Arc::clone(helpers))));
    work()
}

/// The results of all tasks, in their order; `work` is the number of elements they read altogether.
pub(crate) fn map_tasks<R: Send>(n_tasks: usize, work: usize, task: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let mut results: Vec<Option<R>> = (0..n_tasks).map(|_| None).collect();
    for_each_chunk(&mut results, 1, work, |at, result| result[0] = Some(task(at)));
    results.into_iter().flatten().collect()
}

/// Calls `task` with the number of each chunk of `values`, and the chunk; `work` as above.
pub(crate) fn for_each_chunk<T: Send>(
    values: &mut [T],
    chunk: usize,
    work: usize,
    task: impl Fn(usize, &mut [T]) + Sync,
) {
    let n_chunks = values.len().div_ceil(chunk);
    let chunks = values.chunks_mut(chunk).enumerate();
    if n_chunks < 2 || work < SERIAL_WORK {
        chunks.for_each(|(at, chunk)| task(at, chunk));
        return;
    }
    let chunks = Mutex::new(chunks);
    share(n_chunks, &|| {
        let next = || chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((at, chunk)) = next() {
            task(at, chunk);
        }
    });
}

/// Runs `work` on this thread and, at the same time, on as many helpers as there are and can be of use.
fn share<'w>(n_tasks: usize, work: &'w (dyn Fn() + Sync)) {
    let helpers = HELPERS.with_borrow(Clone::clone);
    let in_pool = rayon::current_thread_index().is_some();
    let n_helpers = match &helpers {
        Some(pool) => pool.current_num_threads(),
        None if in_pool => rayon::current_num_threads() - 1,
        None => 0,
    };
    let scope = |scope: &rayon::Scope<'w>| {
        for _ in 0..n_helpers.min(n_tasks - 1) {
            scope.spawn(move |_| work());
        }
        work();
    };
    match helpers {
        Some(pool) => pool.in_place_scope(scope),
        None if in_pool => rayon::in_place_scope(scope),
        None => work(),
    }
}
