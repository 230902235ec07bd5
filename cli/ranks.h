#pragma once

#include <optional>
#include <string>

#include "experiments/catalog.h"
#include "search/remote.h"
#include "training/local_trainer.h"

namespace neutra::cli {

/// Joins the MPI job that mpirun or srun started this process in, if there is one; to be called
/// before anything else, and once. Rank 0, or a process alone, returns true and goes on. The others
/// train for it until it ends them, and return false. Throws failure() where the ranks can't become
/// one job.
bool join_ranks();

/// Is this process rank 0 of a job? Then the others: they train. Null: alone.
search::RemoteWorkers* other_ranks();

/// What the other ranks need to know to train the programs of a fault, as this process would, with
/// `threads` each. They refuse where their results would differ from this one's.
Json ranks_setup(const experiments::Fault& fault, const training::TrainerOptions& options,
                 training::LocalTrainer& trainer, int threads);

/// What jobs of several ranks would go through here: "Open MPI v4.1.4". Nothing: no MPI library can
/// be used (search/mpi_module.h tells why).
std::optional<std::string> rank_library();

/// Has the other ranks end. Where that can't be, the process ends here with `exit_code`.
void leave_ranks(int exit_code);

}  // namespace neutra::cli
