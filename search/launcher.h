#pragma once

#include <optional>
#include <vector>

namespace neutra::search {

/// Within a family MPI libraries stand in for one another: what was built for one runs with all.
enum class MpiFamily {
  kOpenMpi,  ///< Open MPI from version 3 on
  kMpich     ///< MPICH, Intel MPI, MVAPICH and others, from the versions of 2014 on
};

/// One process of several that mpirun or srun started, as their environment variables tell.
struct Launch {
  int rank = 0;             ///< from 0
  std::optional<int> size;  ///< of the job, where it is told
  bool mpi = true;          ///< false: srun started the job without MPI
  /// Whose ranks such a launcher starts, the likeliest first.
  std::vector<MpiFamily> families = {};
};

/// nullopt: this process was started alone.
std::optional<Launch> launch();

}  // namespace neutra::search
