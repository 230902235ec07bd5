#pragma once

#include <optional>

namespace neutra::search {

/// One process of several that mpirun or srun started, as their environment variables tell.
struct Launch {
  int rank = 0;             ///< from 0
  std::optional<int> size;  ///< of the job, where it is told
  bool mpi = true;          ///< false: srun started the job without MPI
};

/// nullopt: this process was started alone.
std::optional<Launch> launch();

}  // namespace neutra::search
