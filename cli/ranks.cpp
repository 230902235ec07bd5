#include "cli/ranks.h"

#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>

#include "base/cores.h"
#include "base/error.h"
#include "cli/isolated.h"
#include "cli/stopping.h"
#include "search/launcher.h"
#include "search/mpi_job.h"
#include "search/mpi_module.h"
#include "search/remote_worker.h"
#include "training/libraries.h"

namespace neutra::cli {
namespace {

constexpr const char* kInstructionSet = "NEUTRA_ISA";
/// Rank 0 most likely fails for the same reason: when it has said so, the launcher ends the others.
constexpr auto kPatience = std::chrono::seconds(3);

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  return gethostname(name, sizeof name) == 0 ? name : "an unknown machine";
}

std::string affinity_warning(int threads) {
  const int cores = usable_cores();
  if (cores >= threads) return {};
  return "its " + std::to_string(threads) + " workers share " + std::to_string(cores) +
         (cores == 1 ? " core" : " cores") +
         ": give each rank as many cores as workers (mpirun --bind-to none, srun --cpus-per-task)";
}

std::unique_ptr<search::MpiJob> g_job;

/// What a rank trains with.
search::TrainingSite make_site(const Json& setup) {
  if (const Json& isa = setup.at("instruction_set"); !isa.is_null()) {
    setenv(kInstructionSet, isa.get<std::string>().c_str(), 1);
  }
  const training::TrainerOptions options = trainer_options_from_json(setup.at("options"));
  auto trainer = training::make_local_trainer(options);
  const auto wanted = setup.at("fingerprint").get<std::string>();
  const std::string ours = trainer->fingerprint(program::Program{setup.at("program")});
  if (ours != wanted) {
    throw failure("its results would differ from those of rank 0. It trains with " + ours +
                  "; rank 0 with " + wanted +
                  ". Start all ranks with the same libraries and data; "
                  "where processors differ, NEUTRA_ISA=avx2 makes them train alike");
  }
  search::TrainingSite site;
  site.trainer = std::move(trainer);
  setup.at("threads").get_to(site.threads);
  site.warning = affinity_warning(site.threads);
  site.isolated = [options](const training::TrainingJob& job) {
    return train_isolated(job, options);
  };
  return site;
}

}  // namespace

bool join_ranks() {
  const std::optional<search::Launch> launched = search::launch();
  if (!launched) return true;
  const auto give_up = [&](const Error& error) {
    if (launched->rank == 0) throw error;  // one message for all
    return false;
  };
  if (!launched->mpi) {
    return give_up(
        usage_error("srun started " + std::to_string(*launched->size) +
                    " processes without MPI: srun --mpi=pmix (of MPICH: --mpi=pmi2) makes "
                    "them one job"));
  }
  const search::MpiFunctions* mpi = nullptr;
  try {
    mpi = &search::open_mpi();
  } catch (const Error& error) {
    // Without a size, a first rank may be the only one; another is not.
    if (launched->size.value_or(1) == 1 && launched->rank == 0) return true;
    std::string place;
    if (launched->rank > 0) {
      std::this_thread::sleep_for(kPatience);
      place = "rank " + std::to_string(launched->rank) + " on " + host_name() + ": ";
    }
    const std::string ranks =
        launched->size ? std::to_string(*launched->size) + " MPI ranks" : "ranks of an MPI job";
    throw failure(place + "started as " + ranks + ", but " + error.what());
  }
  catch_signals(false);
  g_job = mpi->begin();
  if (const int size = g_job->size(); launched->size.value_or(size) != size) {
    const search::MpiState state = search::mpi_state();
    return give_up(failure("an MPI job of " + std::to_string(*launched->size) +
                           " ranks was started, but each is alone in " + state.version + " (" +
                           state.library.string() +
                           "): start it with the mpirun of this library, or name the library of "
                           "the mpirun that started it: NEUTRA_MPI=FILE"));
  }
  end_with_ranks({g_job->rank() == 0, leave_ranks});
  if (g_job->rank() == 0) return true;
  search::train_for(g_job->search(), make_site, &stop_requested(), [] {
    leave_ranks(0);
    std::_Exit(0);
  });
  return false;
}

search::RemoteWorkers* other_ranks() { return g_job ? &g_job->workers() : nullptr; }

Json ranks_setup(const experiments::Fault& fault, const training::TrainerOptions& options,
                 training::LocalTrainer& trainer, int threads) {
  if (const std::string warning = affinity_warning(threads); !warning.empty()) {
    std::cerr << "warning: rank 0: " << warning << "\n";
  }
  const char* isa = std::getenv(kInstructionSet);
  return {{"options", to_json(options)},
          {"program", fault.buggy.document},
          {"fingerprint", trainer.fingerprint(fault.buggy)},
          {"threads", threads},
          {"instruction_set", isa == nullptr ? Json(nullptr) : Json(isa)}};
}

std::optional<std::string> rank_library() {
  const search::MpiState state = search::mpi_state();
  return state.version.empty() ? std::nullopt : std::optional(state.version);
}

void leave_ranks(int exit_code) {
  if (g_job) g_job->end(exit_code);
}

}  // namespace neutra::cli
