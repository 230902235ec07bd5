#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "base/parallel.h"
#include "cli/arguments.h"
#include "training/local_trainer.h"
#include "training/trainer.h"

namespace neutra::cli {

/// The folder of data sets: --data-dir or its stand-ins.
std::filesystem::path data_folder(const Arguments& arguments);
/// Where data files are looked up: the fault's own folder, the bundled data, the folder of data
/// sets, then where packages and Keras keep theirs.
std::vector<std::filesystem::path> data_path(const Arguments& arguments,
                                             const std::filesystem::path& own_file);

/// How --backend, --memory, --skip-dead and --reuse-epochs have programs trained whose data are
/// looked up from the folder of `own_file`.
training::TrainerOptions trainer_options(const Arguments& arguments,
                                         const std::filesystem::path& own_file);

/// The back end of --backend for the programs of one file.
std::unique_ptr<training::LocalTrainer> make_trainer(const Arguments& arguments,
                                                     const std::filesystem::path& own_file);
/// The same with a back end that no option names.
std::unique_ptr<training::LocalTrainer> make_trainer(const Arguments& arguments,
                                                     const std::filesystem::path& own_file,
                                                     training::Backend backend);
/// Trainings at the same time: --workers, else 1 in a rank of an MPI job, else the cores.
int worker_count(const Arguments& arguments);

/// Jobs of one verb, trained in parallel; results in the order of the jobs. Stops as run_all does.
/// `observers`: one for each job, or none. `trained` is called when a job has ended, from the
/// thread that trained it, before `done`.
std::vector<training::ReplicaResult> train_all(
    training::LocalTrainer& trainer, const std::vector<training::TrainingJob>& jobs, int workers,
    const std::function<void(const Tally& trainings)>& done = {},
    const std::vector<training::Observer*>& observers = {},
    const std::function<void(std::size_t job, const training::ReplicaResult& result)>& trained =
        {});

}  // namespace neutra::cli
