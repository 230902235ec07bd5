#pragma once

#include <memory>
#include <string>

#include "search/remote.h"

namespace neutra::search {

/// The MPI job that this process is a rank of. Rank 0 searches, the others train for it. There is
/// one at most, used by the thread that made it. Only where a launcher started the process, since
/// MPI cannot be begun without one everywhere.
class MpiJob {
 public:
  virtual ~MpiJob() = default;
  virtual int rank() const = 0;          ///< from 0
  virtual int size() const = 0;          ///< ranks of the job
  virtual RemoteWorkers& workers() = 0;  ///< of rank 0: the other ranks, process 0 is rank 1
  virtual RemoteSearch& search() = 0;    ///< of the others

  /// The last call: rank 0 has the others end, and all leave MPI. When some don't answer for 10
  /// seconds, or when what started them has died, this process ends here, with `exit_code`.
  virtual void end(int exit_code) = 0;
};

/// What a module of an MPI family does (search/mpi_module.h opens it).
struct MpiFunctions {
  /// Begins MPI; all ranks must. Throws failure().
  std::unique_ptr<MpiJob> (*begin)();
  /// Name and version of the library: "Open MPI v4.1.4". May be called without a job.
  std::string (*version)();
};

/// By a name for dlsym.
extern "C" const MpiFunctions neutra_mpi_functions;

}  // namespace neutra::search
