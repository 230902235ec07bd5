#pragma once

#include <string>

#include "experiments/batch/batch.h"

namespace neutra::experiments {

/// A script for sbatch: an array job with one element for each fault. An element that Slurm ends at
/// its time limit, or that is killed, is requeued until it is through or out of attempts.
std::string slurm_script(const SearchBatch& batch);
/// A script for bash that does the same on this machine, one fault after the other.
std::string local_script(const SearchBatch& batch);

/// A word quoted for sh, so that it stays one word; plain words stay as they are.
std::string shell_quoted(const std::string& word);

}  // namespace neutra::experiments
