#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace neutra::search {

struct MpiFunctions;  // search/mpi_job.h

/// The command is linked with no MPI. Searches over ranks go through the MPI library that is found
/// when they start, and a module of neutra built for its family.
///
/// The library is that which NEUTRA_MPI names, else the first that is found of the families that
/// the launcher of this process may belong to (search/launcher.h). Throws failure() where none can
/// be used: what was looked for, and what would help. One library for the life of the process.
const MpiFunctions& open_mpi();

/// What open_mpi() finds, for people.
struct MpiState {
  struct Module {
    std::string family;          ///< "Open MPI"
    std::filesystem::path file;  ///< where it belongs: ".../neutra_mpi_openmpi.so"
    bool there = false;          ///< false: neutra was built without this family's headers
  };
  std::vector<Module> modules;    ///< one for each family
  std::string version;            ///< "Open MPI v4.1.4"; empty: no library can be used
  std::filesystem::path library;  ///< the file of that library
  std::string problem;            ///< where none can be used: why
  bool broken = false;            ///< because a module that is there can't be opened
};

/// Opens the library, as open_mpi() does, but throws nothing.
MpiState mpi_state();

}  // namespace neutra::search
