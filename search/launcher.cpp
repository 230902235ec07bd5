#include "search/launcher.h"

#include <cstdlib>
#include <string_view>

#include "base/parse_number.h"

namespace neutra::search {
namespace {

std::optional<int> number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::optional<int> value = parse_number<int>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

std::optional<Launch> launch() {
  using enum MpiFamily;
  if (const auto rank = number("OMPI_COMM_WORLD_RANK")) {  // Open MPI's mpirun
    return Launch{.rank = *rank, .size = number("OMPI_COMM_WORLD_SIZE"), .families = {kOpenMpi}};
  }
  if (const auto rank = number("MV2_COMM_WORLD_RANK")) {  // MVAPICH's mpirun_rsh
    return Launch{.rank = *rank, .size = number("MV2_COMM_WORLD_SIZE"), .families = {kMpich}};
  }
  // MPICH's and Intel's mpirun, and srun --mpi=pmi2, which Open MPI 4 may have been built for.
  if (const auto rank = number("PMI_RANK")) {
    return Launch{.rank = *rank, .size = number("PMI_SIZE"), .families = {kMpich, kOpenMpi}};
  }
  const auto size = number("SLURM_STEP_NUM_TASKS");
  if (const auto rank = number("PMIX_RANK")) {  // srun --mpi=pmix, which tells no size of its own
    return Launch{.rank = *rank, .size = size, .families = {kOpenMpi, kMpich}};
  }
  const auto rank = number("SLURM_PROCID");
  if (rank && size.value_or(1) > 1) return Launch{.rank = *rank, .size = size, .mpi = false};
  return std::nullopt;
}

}  // namespace neutra::search
