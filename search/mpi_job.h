#pragma once

#include <memory>
#include <string>

#include "search/remote.h"

namespace neutra::search {

/// Name and version of the MPI library: "Open MPI v4.1.4". May be called without a job.
std::string mpi_library();

/// The MPI job that this process is a rank of. Rank 0 searches, the others train for it. There is
/// one at most, used by the thread that made it. Only where a launcher started the process, since
/// MPI cannot be begun without one everywhere.
class MpiJob {
 public:
  /// Begins MPI; all ranks must. Throws failure().
  MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;
  ~MpiJob();

  int rank() const;          ///< from 0
  int size() const;          ///< ranks of the job
  RemoteWorkers& workers();  ///< of rank 0: the other ranks, process 0 is rank 1
  RemoteSearch& search();    ///< of the others

  /// The last call: rank 0 has the others end, and all leave MPI. When some don't answer for 10
  /// seconds, or when what started them has died, this process ends here, with `exit_code`.
  void end(int exit_code);

 private:
  struct Ends;
  std::unique_ptr<Ends> ends_;
};

}  // namespace neutra::search
