//! How work is shared on the host, among threads and among vector lanes: the calling thread works too, beside a team of helpers.
//!
//! A caller that sleeps while a pool works is moved about by the scheduler, and both workers often land on one core
//! (measured on two: half the speed). So the caller is itself a worker of its team: it takes tasks as the helpers do, and
//! takes back what no helper has begun, so a busy machine costs no waiting; nor does a fork, which leaves helpers behind.
//! Tasks never depend on the number of threads and results come back in order: the same bits for any number.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Elements of work (some 0.2 ms) below which waking another thread does not pay.
const SERIAL_WORK: usize = 1 << 18;

/// The results of all tasks, in their order; `work` is the number of elements they read altogether.
pub(crate) fn map_tasks<R: Send>(n_tasks: usize, work: usize, task: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let mut results: Vec<Option<R>> = (0..n_tasks).map(|_| None).collect();
    for_each_chunk(&mut results, 1, work, |at, result| result[0] = Some(task(at)));
    results.into_iter().flatten().collect()
}

/// Calls `task` with the number of each chunk of `values`, and the chunk; `work` as above. Threads take the next chunk in turn:
/// what they touch at one time lies close together, as staging memory wants it.
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

/// The same for memory that may be fresh: threads stay far apart, since two that write to one huge page would both clear it.
pub(crate) fn for_each_chunk_apart<T: Send>(
    values: &mut [T],
    chunk: usize,
    work: usize,
    task: impl Fn(usize, &mut [T]) + Sync,
) {
    if values.len() <= chunk || work < SERIAL_WORK {
        for_each_chunk(values, chunk, work, task);
        return;
    }
    let n_chunks = values.len().div_ceil(chunk);
    let stretches = Mutex::new(Stretches::new(values, chunk));
    share(n_chunks, &|| {
        let stretches = || stretches.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = stretches().join();
        let next = || stretches().next(worker);
        while let Some((at, chunk)) = next() {
            task(at, chunk);
        }
    });
}

/// Chunks not begun, a stretch of neighbours for each worker.
struct Stretches<'v, T> {
    chunk: usize,
    n_workers: usize,
    /// The number of its first chunk, and the values.
    of: Vec<(usize, &'v mut [T])>,
}

impl<'v, T> Stretches<'v, T> {
    fn new(values: &'v mut [T], chunk: usize) -> Self {
        Self {
            chunk,
            n_workers: 0,
            of: vec![(0, values)],
        }
    }

    /// The number of a new worker. The first owns everything.
    fn join(&mut self) -> usize {
        if self.n_workers > 0 {
            self.of.push((0, &mut []));
        }
        self.n_workers += 1;
        self.n_workers - 1
    }

    /// The next chunk of a worker; one that has none takes the second half of the longest stretch.
    fn next(&mut self, worker: usize) -> Option<(usize, &'v mut [T])> {
        if self.of[worker].1.is_empty() {
            let longest = self.of.iter_mut().max_by_key(|(_, values)| values.len())?;
            let (first, values) = std::mem::take(longest);
            let kept = values.len().div_ceil(self.chunk) / 2;
            let (front, back) = values.split_at_mut(kept * self.chunk);
            *longest = (first, front);
            self.of[worker] = (first + kept, back);
        }
        let (first, values) = std::mem::take(&mut self.of[worker]);
        let (next, rest) = values.split_at_mut(self.chunk.min(values.len()));
        self.of[worker] = (first + 1, rest);
        (!next.is_empty()).then_some((first, next))
    }
}

/// Runs `work` on this thread and, at the same time, on as many helpers as there are and can be of use.
fn share(n_tasks: usize, work: &(dyn Fn() + Sync)) {
    let team = || {
        let n_helpers = (rayon::current_num_threads() - 1).min(n_tasks - 1);
        rayon::scope(|scope| {
            (0..n_helpers).for_each(|_| scope.spawn(|_| work()));
            work();
        });
    };
    if rayon::current_thread_index().is_some() || join_team() {
        team();
    } else if let Some(pool) = shared_pool() {
        pool.install(team);
    } else {
        work();
    }
}

/// As many threads as `METALML_NUM_THREADS` or `OMP_NUM_THREADS` say (joblib sets the second for its workers), else one a core.
fn builder() -> ThreadPoolBuilder {
    let said = |name| std::env::var(name).ok()?.parse().ok();
    let threads = said("METALML_NUM_THREADS")
        .or_else(|| said("OMP_NUM_THREADS"))
        .unwrap_or(0);
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("metalml-{i}"))
}

/// Makes the first thread that asks a worker of a team of its own, for as long as it lives.
fn join_team() -> bool {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    !TAKEN.swap(true, Ordering::Relaxed) && builder().use_current_thread().build().is_ok_and(keep)
}

/// The team lives on without its handle.
fn keep(pool: ThreadPool) -> bool {
    std::mem::forget(pool);
    true
}

/// The pool of all other threads; none in a process forked from the one that made it.
fn shared_pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<(u32, ThreadPool)>> = OnceLock::new();
    let process = std::process::id();
    let made = POOL.get_or_init(|| Some((process, builder().build().ok()?)));
    made.as_ref()
        .filter(|(maker, _)| *maker == process)
        .map(|(_, pool)| pool)
}

/// Runs `work` compiled for the widest vectors this machine has. The closure and what it calls must be
/// `#[inline(always)]`, or they stay compiled for the oldest machine of the architecture.
#[expect(clippy::inline_always, reason = "it must be compiled where it is called")]
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Work that is not shared, and work that is.
    const WORK: [usize; 2] = [0, SERIAL_WORK];

    #[test]
    fn results_come_in_the_order_of_their_tasks() {
        for work in WORK {
            for n_tasks in [0, 1, 2, 3, 64, 1000] {
                let found = map_tasks(n_tasks, work, |task| task * task);
                assert!(
                    found.into_iter().eq((0..n_tasks).map(|task| task * task)),
                    "{n_tasks} tasks"
                );
            }
        }
    }

    #[test]
    fn every_chunk_is_done_once_and_knows_its_number() {
        for work in WORK {
            for len in [0, 1, 6, 7, 8, 1000] {
                let task = |at: usize, chunk: &mut [usize]| {
                    assert_eq!(chunk.len(), 7.min(len - 7 * at), "chunk {at} of {len}");
                    chunk
                        .iter_mut()
                        .enumerate()
                        .for_each(|(i, value)| *value += 7 * at + i + 1);
                };
                let (mut near, mut apart) = (vec![0; len], vec![0; len]);
                for_each_chunk(&mut near, 7, work, task);
                for_each_chunk_apart(&mut apart, 7, work, task);
                assert!(near.into_iter().eq(1..=len), "{len} values");
                assert!(apart.into_iter().eq(1..=len), "{len} values");
            }
        }
    }

    #[test]
    fn work_is_shared_if_there_is_enough_of_it() {
        let threads = |work, patience: u128| {
            let (arrived, seen) = (AtomicUsize::new(0), Mutex::new(std::collections::HashSet::new()));
            map_tasks(2, work, |_| {
                seen.lock().expect("no task panics").insert(std::thread::current().id());
                arrived.fetch_add(1, Ordering::SeqCst);
                // Whoever has begun one task leaves the other to somebody else, for a while.
                let start = std::time::Instant::now();
                while arrived.load(Ordering::SeqCst) < 2 && start.elapsed().as_millis() < patience {
                    std::thread::yield_now();
                }
            });
            seen.into_inner().expect("no task panics").len()
        };
        assert_eq!(threads(SERIAL_WORK - 1, 20), 1);
        let most = builder().build().expect("a pool").current_num_threads();
        assert_eq!(threads(SERIAL_WORK, 5000), most.min(2));
    }

    #[test]
    fn tasks_may_share_work_of_their_own() {
        let inner = |outer: usize| {
            map_tasks(50, SERIAL_WORK, |task| outer * task)
                .into_iter()
                .sum::<usize>()
        };
        let found = map_tasks(20, SERIAL_WORK, inner);
        assert!(found.into_iter().eq((0..20).map(|outer| outer * 1225)));
    }

    #[test]
    fn many_callers_are_served_at_once() {
        std::thread::scope(|scope| {
            for caller in 0..8 {
                scope.spawn(move || {
                    for _ in 0..20 {
                        let found = map_tasks(100, SERIAL_WORK, |task| task + caller);
                        assert!(found.into_iter().eq(caller..caller + 100));
                    }
                });
            }
        });
    }

    #[test]
    fn workers_take_every_chunk_once_whoever_is_quicker() {
        for turns in [[0, 1, 2], [0, 0, 1], [2, 1, 1], [1, 1, 1]] {
            for len in [1, 10, 11, 95] {
                let mut values = vec![0; len];
                let mut stretches = Stretches::new(&mut values, 10);
                let workers = [stretches.join(), stretches.join(), stretches.join()];
                let mut numbers = Vec::new();
                for turn in turns.into_iter().cycle() {
                    let Some((at, chunk)) = stretches.next(workers[turn]) else {
                        break;
                    };
                    chunk.fill(at + 1);
                    numbers.push(at);
                }
                numbers.sort_unstable();
                assert!(numbers.into_iter().eq(0..len.div_ceil(10)), "{len} values, {turns:?}");
                assert!(
                    values.into_iter().eq((0..len).map(|i| i / 10 + 1)),
                    "{len} values, {turns:?}"
                );
            }
        }
    }

    #[test]
    fn vectorized_work_gives_its_result() {
        assert_eq!(vectorized(|| 6 * 7), 42);
    }
}
