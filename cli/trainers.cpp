#include "cli/trainers.h"

#include "base/cores.h"
#include "base/environment.h"
#include "base/error.h"
#include "cli/ranks.h"
#include "cli/stopping.h"
#include "experiments/catalog.h"

namespace neutra::cli {

std::filesystem::path data_folder(const Arguments& arguments) {
  if (arguments.has("data-dir")) {  // or NEUTRA_DATA_DIR, or a configuration file
    const std::filesystem::path folder = arguments.text("data-dir");
    if (!std::filesystem::is_directory(folder))
      throw input_error(describe("data-dir", "", folder.string(), "a folder"));
    return folder;
  }
  const std::string shared = environment("NEUTRA_SHARED");
  return shared.empty() ? "../shared/data" : std::filesystem::path(shared) / "data";
}

std::vector<std::filesystem::path> data_path(const Arguments& arguments,
                                             const std::filesystem::path& own_file) {
  std::vector<std::filesystem::path> path;
  if (!own_file.empty()) path.push_back(own_file.has_parent_path() ? own_file.parent_path() : ".");
  path.push_back(experiments::resource_directory() / "data");
  path.push_back(data_folder(arguments));
  path.push_back("/usr/share/datasets");  // where Debian's dataset-* packages install
  // What Keras has fetched: its utils/data_utils.py: get_file().
  if (const std::string keras = environment("KERAS_HOME"); !keras.empty()) {
    path.push_back(std::filesystem::path(keras) / "datasets");
  } else if (const std::string home = environment("HOME"); !home.empty()) {
    path.push_back(std::filesystem::path(home) / ".keras" / "datasets");
  }
  return path;
}

training::TrainerOptions trainer_options(const Arguments& arguments,
                                         const std::filesystem::path& own_file) {
  training::TrainerOptions options;
  options.data_path = data_path(arguments, own_file);
  if (arguments.has("backend"))
    options.backend = *training::parse_backend(arguments.text("backend"));
  options.skip_dead_epochs = !arguments.has("skip-dead") || arguments.is_on("skip-dead");
  options.reuse_epochs = arguments.has("reuse-epochs") && arguments.is_on("reuse-epochs");
  if (arguments.has("memory")) options.memory = arguments.bytes("memory");
  return options;
}

std::unique_ptr<training::LocalTrainer> make_trainer(const Arguments& arguments,
                                                     const std::filesystem::path& own_file) {
  return make_trainer(arguments, own_file, trainer_options(arguments, own_file).backend);
}

std::unique_ptr<training::LocalTrainer> make_trainer(const Arguments& arguments,
                                                     const std::filesystem::path& own_file,
                                                     training::Backend backend) {
  training::TrainerOptions options = trainer_options(arguments, own_file);
  options.backend = backend;
  return training::make_local_trainer(std::move(options));
}

int worker_count(const Arguments& arguments) {
  if (arguments.has("workers")) return static_cast<int>(arguments.integer("workers"));
  if (other_ranks()) return 1;
  return usable_cores();
}

std::vector<training::ReplicaResult> train_all(
    training::LocalTrainer& trainer, const std::vector<training::TrainingJob>& jobs, int workers,
    const std::function<void(const Tally&)>& done,
    const std::vector<training::Observer*>& observers,
    const std::function<void(std::size_t, const training::ReplicaResult&)>& trained) {
  std::vector<training::ReplicaResult> results(jobs.size());
  std::atomic<std::size_t> failed = 0;
  const auto train = [&](std::size_t i) {
    training::TrainingJob job = jobs[i];
    job.stop = &stop_requested();
    results[i] = trainer.train(job, observers.empty() ? nullptr : observers[i]);
    if (trained) trained(i, results[i]);
    failed += !training::has_metric(results[i].status);
  };
  run_all(jobs.size(), workers, &stop_requested(), train, [&](std::size_t finished) {
    if (done) done({finished, jobs.size(), failed});
  });
  return results;
}

}  // namespace neutra::cli
