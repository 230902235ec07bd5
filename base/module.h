#pragma once

#include <filesystem>
#include <string>

namespace neutra {

/// Where modules lie below the prefix of an installation: "lib/neutra".
std::filesystem::path installed_module_folder();

/// The file of a module ("neutra_torch.so"): code that the command opens only when it is needed. It
/// lies beside the running program, as in the build folder, else in `lib/neutra` of the
/// installation. It may not exist.
std::filesystem::path module_file(const std::string& name);

/// What is wrong with the file of a shared library (elf(5)), "" for nothing: a process dies of
/// loading one that ends too soon.
std::string damage_of(const std::filesystem::path& library);

/// Opens a library or module for good (dlopen(3), with `mode`, such as RTLD_LAZY | RTLD_LOCAL);
/// nullptr: `problem` says why not. Meanwhile floating-point settings are the default: LibTorch
/// computes tables as it loads.
void* open_library(const std::filesystem::path& file, int mode, std::string& problem);

/// The file of an open library; empty where the system doesn't tell.
std::filesystem::path library_file(void* library);

/// Opens a module for good and returns its constant of the name `table`. `build` is the caller's
/// kModuleBuild (base/module_build.h). Throws failure(): "WHAT can't be loaded: REASON", or that
/// the file is no module of neutra, or one of another build.
const void* open_module(const std::filesystem::path& file, const std::string& what,
                        const char* table, const char* build);

}  // namespace neutra
