#include "base/module.h"

#include <dlfcn.h>

#include <cfenv>
#include <cstring>

#include "base/environment.h"
#include "base/error.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

}  // namespace

fs::path module_file(const std::string& name) {
  const fs::path folder = own_program().parent_path();
  const fs::path beside = folder / name;
  std::error_code error;
  return fs::exists(beside, error) ? beside : folder.parent_path() / NEUTRA_MODULE_FOLDER / name;
}

void* open_library(const fs::path& file) {
  std::fenv_t environment;
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
  std::fesetenv(&environment);
  return library;
}

const void* open_module(const fs::path& file, const std::string& what, const char* table,
                        const char* build) {
  void* const module = open_library(file);
  if (module == nullptr) throw failure(what + " can't be loaded: " + dlerror());
  const auto its_build = reinterpret_cast<const char* (*)()>(dlsym(module, "neutra_module_build"));
  if (its_build == nullptr || std::strcmp(its_build(), build) != 0) {
    throw failure(file.string() + " is of another build (" +
                  (its_build == nullptr ? "unknown" : its_build()) + ") than this neutra (" +
                  build + "); was it replaced meanwhile?");
  }
  const void* constant = dlsym(module, table);
  if (constant == nullptr) throw failure(file.string() + " is no module of neutra");
  return constant;
}

}  // namespace neutra
