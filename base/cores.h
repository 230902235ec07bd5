#pragma once

namespace neutra {

/// Cores that this process may use, at least 1: those that Slurm, mpirun or taskset(1) leave it
/// (sched_getaffinity(2)), else all of the machine.
int usable_cores();

}  // namespace neutra
