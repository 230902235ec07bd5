#include "base/module.h"

#include <dlfcn.h>
#include <link.h>

#include <cfenv>
#include <cstring>

#include "base/environment.h"
#include "base/error.h"

namespace neutra {

namespace fs = std::filesystem;

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

fs::path library_file(void* library) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? fs::path(map->l_name) : fs::path();
}

const void* open_module(const fs::path& file, const std::string& what, const char* table,
                        const char* build) {
  void* const module = open_library(file);
  if (module == nullptr) throw failure(what + " can't be loaded: " + dlerror());
  const auto its_build = reinterpret_cast<const char* (*)()>(dlsym(module, "neutra_module_build"));
  if (its_build == nullptr) {
    throw failure(file.string() + ": found no module of neutra; install neutra again");
  }
  if (std::strcmp(its_build(), build) != 0) {
    throw failure(file.string() + " is of another build (" + its_build() + ") than this neutra (" +
                  build + "); install neutra again");
  }
  const void* constant = dlsym(module, table);
  if (constant == nullptr) {
    throw failure(file.string() + ": found a module of neutra without " + table +
                  "; install neutra again");
  }
  return constant;
}

}  // namespace neutra
