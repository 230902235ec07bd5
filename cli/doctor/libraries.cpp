// Libraries: what results depend on, LibTorch, MPI.

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/environment.h"
#include "base/error.h"
#include "base/module.h"
#include "base/strings.h"
#include "base/words.h"
#include "cli/doctor/check.h"
#include "search/mpi_module.h"
#include "training/libraries.h"
#include "training/on_torch.h"

namespace neutra::cli::doctor {
namespace {

namespace fs = std::filesystem;

/// "oneDNN 2.7.3, /usr/lib/libdnnl.so.2": a library that the command is linked with. The system
/// does not start the command without it.
Check linked_library(const std::string& name, const std::string& title, const std::string& version,
                     const std::string& beginning) {
  const std::string file = loaded_library(beginning);
  return {name, State::kOk, title + " " + version + ", " + (file.empty() ? "built in" : file)};
}

constexpr const char* kModule = "neutra_torch.so";

/// As an answer of tried(): messages of the system may hold bytes that are no UTF-8.
std::string answer_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The files of all modules, by name.
std::vector<fs::path> modules_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("neutra_") && name.ends_with(".so")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// What LibTorch says of itself, as JSON.
std::string ask_torch() {
  if (const std::optional<training::TorchProblem>& problem = training::torch_problem()) {
    return answer_of(
        {{"kind", problem->kind}, {"what", problem->what}, {"advice", problem->advice}});
  }
  const training::LibraryVersions versions = training::library_versions(true);
  return answer_of({{"version", versions.torch},
                    {"file", loaded_library("libtorch_cpu")},
                    {"blas", versions.blas_route},
                    {"gflops", versions.gflops}});
}

constexpr const char* kWithoutTorch =
    "programs that the fused back end knows are still trained; recurrent layers, embeddings and "
    "others are not";

/// A torch_problem().
Check torch_problem_check(const Json& problem) {
  using Kind = training::TorchProblem::Kind;
  const Kind kind = problem.at("kind");
  const std::string what = problem.at("what"), advice = problem.at("advice");
  if (kind == Kind::kBroken) return {"torch", State::kBroken, what, kInstallAgain};
  return {"torch", kind == Kind::kLeftOut ? State::kMissing : State::kWrong,
          what + ": " + kWithoutTorch,
          advice.empty() ? "install LibTorch; unset NEUTRA_TORCH if it is set" : advice};
}

constexpr const char* kOneMachine =
    "searches run on one machine without it; docs/howto/run_on_a_cluster.md says which MPI "
    "libraries work";

/// What MPI library a search over ranks would use, as JSON.
std::string ask_mpi() {
  const search::MpiState state = search::mpi_state();
  std::vector<std::string> modules;
  for (const search::MpiState::Module& module : state.modules) {
    if (module.there) modules.push_back(module.family + " (" + module.file.string() + ")");
  }
  return answer_of({{"modules", join(modules)},
                    {"version", state.version},
                    {"library", state.library.string()},
                    {"problem", state.problem},
                    {"broken", state.broken}});
}

}  // namespace

Check onednn_check() {
  return linked_library("onednn", "oneDNN", training::library_versions(false).onednn, "libdnnl");
}

Check hdf5_check() {
  return linked_library("hdf5", "HDF5", training::library_versions(false).hdf5, "libhdf5");
}

Check modules_check() {
  std::vector<std::string> names, damages;
  const fs::path folder = module_file(kModule).parent_path();
  for (const fs::path& module : modules_in(folder)) {
    names.push_back(module.filename().string());
    if (const std::string damage = damage_of(module); !damage.empty()) damages.push_back(damage);
  }
  if (!damages.empty()) return {"modules", State::kBroken, join(damages, "; "), kInstallAgain};
  return {"modules", State::kOk,
          folder.string() + ": " + (names.empty() ? std::string("none") : join(names))};
}

Checks torch_checks() {
  const Check unused{"blas", State::kOk,
                     "without LibTorch all matrix products are those of the fused back end, which "
                     "calls oneDNN"};
  const fs::path module = module_file(kModule);
  std::error_code ignored;
  if (!fs::exists(module, ignored)) {
    return {
        {"torch", State::kMissing, "no file " + module.string() + ": " + kWithoutTorch,
         "install a neutra with its eager back end: Debian's package, a build from source, or a "
         "wheel made for a release of torch"},
        unused};
  }
  const Trial trial = tried(ask_torch);
  if (!trial.answer) {
    return {{"torch", trial.died ? State::kBroken : State::kWrong,
             "loading " + module.string() + " and LibTorch: " + trial.problem,
             "install neutra again, and the LibTorch that it was built for"},
            unused};
  }
  const Json told = parse_json(*trial.answer, "the answer of a process");
  if (told.contains("kind")) return {torch_problem_check(told), unused};
  const std::string route = told.at("blas");
  char speed[32];
  std::snprintf(speed, sizeof speed, "%.0f", told.at("gflops").get<double>());
  const std::string products =
      "LibTorch's matrix products go to " + route + ", " + speed + " GFLOP/s on one core";
  return {{"torch", State::kOk,
           "LibTorch " + told.at("version").get<std::string>() + ", " +
               told.at("file").get<std::string>() + "; " + module.string()},
          contains(route, "slow")
              ? Check{"blas", State::kNote, products,
                      "the eager back end is slow: the command's sgemm_ should come before that of "
                      "the system's BLAS; is LD_PRELOAD set?"}
              : Check{"blas", State::kOk, products}};
}

Check mpi_check() {
  const Trial trial = tried(ask_mpi);
  if (!trial.answer) {
    return {"mpi", State::kWrong, "opening the MPI library: " + trial.problem, kOneMachine};
  }
  const Json told = parse_json(*trial.answer, "the answer of a process");
  const std::string modules = told.at("modules"), problem = told.at("problem");
  if (problem.empty()) {
    return {"mpi", State::kOk,
            told.at("version").get<std::string>() + ", " + told.at("library").get<std::string>() +
                "; modules: " + modules};
  }
  if (told.at("broken")) return {"mpi", State::kBroken, problem, kInstallAgain};
  const std::string named = environment("NEUTRA_MPI");
  return {"mpi", named.empty() ? State::kMissing : State::kWrong,
          problem + "; modules: " + (modules.empty() ? "none" : modules), kOneMachine};
}

}  // namespace neutra::cli::doctor
