#include "base/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cfenv>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "base/environment.h"
#include "base/error.h"

namespace neutra {

namespace fs = std::filesystem;

fs::path installed_module_folder() { return NEUTRA_MODULE_FOLDER; }

fs::path module_file(const std::string& name) {
  const fs::path folder = own_program().parent_path();
  const fs::path beside = folder / name;
  std::error_code error;
  return fs::exists(beside, error) ? beside
                                   : folder.parent_path() / installed_module_folder() / name;
}

std::string damage_of(const fs::path& library) {
  Elf64_Ehdr header{};
  std::ifstream in(library, std::ios::binary);
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!in || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return library.string() + ": found no shared library";
  }
  const std::uint64_t whole = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  std::error_code ignored;
  const std::uint64_t bytes = fs::file_size(library, ignored);
  if (bytes >= whole) return "";
  return library.string() + ": found " + std::to_string(bytes) +
         " bytes; allowed: " + std::to_string(whole) + " at least, as it says itself";
}

void* open_library(const fs::path& file, int mode, std::string& problem) {
  std::error_code ignored;
  if (file.has_parent_path() && fs::exists(file, ignored)) {
    problem = damage_of(file);
    if (!problem.empty()) return nullptr;
  }
  std::fenv_t environment;
  std::fegetenv(&environment);
  std::fesetenv(FE_DFL_ENV);
  void* const library = dlopen(file.c_str(), mode);
  std::fesetenv(&environment);
  if (library == nullptr) problem = dlerror();
  return library;
}

fs::path library_file(void* library) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? fs::path(map->l_name) : fs::path();
}

const void* open_module(const fs::path& file, const std::string& what, const char* table,
                        const char* build) {
  std::string problem;
  void* const module = open_library(file, RTLD_LAZY | RTLD_LOCAL, problem);
  if (module == nullptr) throw failure(what + " can't be loaded: " + problem);
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
