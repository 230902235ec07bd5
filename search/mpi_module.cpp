#include "search/mpi_module.h"

#include <dlfcn.h>

#include <optional>

#include "base/environment.h"
#include "base/error.h"
#include "base/module.h"
#include "base/module_build.h"
#include "base/words.h"
#include "search/launcher.h"
#include "search/mpi_job.h"

namespace neutra::search {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "NEUTRA_MPI";

struct Family {
  MpiFamily family;
  const char* name;
  const char* module;
  std::vector<const char*> libraries;  ///< names of its shared library
};

const Family& family_facts(MpiFamily family) {
  static const std::vector<Family> families = {
      {MpiFamily::kOpenMpi, "Open MPI", "neutra_mpi_openmpi.so", {"libmpi.so.40"}},
      // The second: Debian's MPICH.
      {MpiFamily::kMpich, "MPICH", "neutra_mpi_mpich.so", {"libmpi.so.12", "libmpich.so.12"}}};
  return families.at(static_cast<std::size_t>(family));
}

std::vector<MpiFamily> likely_families() {
  const std::optional<Launch> launched = launch();
  if (launched && launched->mpi) return launched->families;
  return {MpiFamily::kOpenMpi, MpiFamily::kMpich};
}

/// The MPI library of this process, with the module for it.
class Library {
 public:
  Library() {
    if (const std::string named = environment(kVariable); !named.empty()) {
      try_library(named.c_str(), {});
    } else {
      for (const MpiFamily family : likely_families()) try_family(family_facts(family));
    }
  }

  const MpiFunctions* functions() const { return functions_; }
  const fs::path& file() const { return file_; }
  bool broken() const { return broken_; }
  std::string problem() const {
    const std::string setting = environment(kVariable).empty() ? "" : std::string(kVariable) + ": ";
    const std::string found = "no MPI library can be used: " + setting + join(problems_, "; ");
    if (broken_) return found;
    return found +
           "; to have one found: LD_LIBRARY_PATH with its folder (on clusters: module load), or " +
           kVariable + "=FILE; to build neutra with another MPI: cmake -DMPI_HOME=FOLDER";
  }

 private:
  void try_family(const Family& family) {
    if (functions_ != nullptr) return;
    if (fs::exists(module_file(family.module))) {
      for (const char* name : family.libraries) try_library(name, family.family);
    } else {
      problems_.push_back(std::string("this neutra was built without ") + family.module);
    }
  }

  /// The library's symbols must be known to all that is opened later: to the module, which isn't
  /// linked with it since its name differs, and to the library's own plug-ins.
  void try_library(const char* name, std::optional<MpiFamily> wanted) {
    if (functions_ != nullptr || broken_) return;
    std::string problem;
    void* library = open_library(name, RTLD_NOW | RTLD_GLOBAL, problem);
    if (library == nullptr) {
      problems_.push_back(problem);
      return;
    }
    const std::optional<MpiFamily> family = family_of(library);
    if (!family || (wanted && family != wanted)) {
      problems_.push_back(
          std::string(name) + ": found " +
          (family ? std::string("a library of ") + family_facts(*family).name
                  : std::string("no MPI library of Open MPI or MPICH")) +
          (wanted ? std::string("; looked for ") + family_facts(*wanted).name : ""));
      dlclose(library);
      return;
    }
    open_module_for(library, family_facts(*family));
  }

  /// By what libraries export; of their names, libmpi.so.12 was Open MPI's once.
  static std::optional<MpiFamily> family_of(void* library) {
    if (dlsym(library, "ompi_mpi_comm_world") != nullptr) return MpiFamily::kOpenMpi;
    if (dlsym(library, "MPIR_Dup_fn") != nullptr) return MpiFamily::kMpich;
    return std::nullopt;
  }

  void open_module_for(void* library, const Family& family) {
    file_ = library_file(library);
    const fs::path module = module_file(family.module);
    if (!fs::exists(module)) {
      problems_.push_back(std::string("this neutra was built without ") + family.module);
      return;
    }
    try {
      functions_ = static_cast<const MpiFunctions*>(
          open_module(module, family.module, "neutra_mpi_functions", kModuleBuild));
    } catch (const Error& error) {
      broken_ = true;
      problems_.emplace_back(error.what());
    }
  }

  const MpiFunctions* functions_ = nullptr;
  fs::path file_;
  std::vector<std::string> problems_;
  bool broken_ = false;
};

const Library& library() {
  static const Library opened;
  return opened;
}

}  // namespace

const MpiFunctions& open_mpi() {
  if (library().functions() == nullptr) throw failure(library().problem());
  return *library().functions();
}

MpiState mpi_state() {
  MpiState state;
  for (const MpiFamily family : {MpiFamily::kOpenMpi, MpiFamily::kMpich}) {
    const fs::path file = module_file(family_facts(family).module);
    state.modules.push_back({family_facts(family).name, file, fs::exists(file)});
  }
  if (const MpiFunctions* functions = library().functions()) {
    state.version = functions->version();
    state.library = library().file();
  } else {
    state.problem = library().problem();
    state.broken = library().broken();
  }
  return state;
}

}  // namespace neutra::search
