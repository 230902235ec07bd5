#pragma once

#include <filesystem>
#include <string>

namespace neutra {

/// Where a module belongs: code in a file of its own ("neutra_torch.so"), which the command opens
/// when it is needed. It lies beside the running program, as in the build folder, or in
/// `lib/neutra` of its installation. It may be missing.
std::filesystem::path module_file(const std::string& name);

/// Opens a library or module for good (dlopen(3)); nullptr: dlerror(3) says why not. Those such as
/// LibTorch make tables when they are loaded, perhaps by a thread that flushes denormals: they are
/// loaded with the usual floating-point environment.
void* open_library(const std::filesystem::path& file);

/// Opens a module for good and returns its constant of the name `table`. `build` is the caller's
/// kModuleBuild (base/module_build.h). Throws failure(): "WHAT can't be loaded: REASON", or that
/// the module is of another build.
const void* open_module(const std::filesystem::path& file, const std::string& what,
                        const char* table, const char* build);

}  // namespace neutra
