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
  // Open MPI's mpirun, MPICH's and Intel's, and srun --mpi=pmix, which tells no size of its own.
  if (const auto rank = number("OMPI_COMM_WORLD_RANK")) {
    return Launch{*rank, number("OMPI_COMM_WORLD_SIZE")};
  }
  if (const auto rank = number("PMI_RANK")) return Launch{*rank, number("PMI_SIZE")};
  if (const auto rank = number("PMIX_RANK")) return Launch{*rank, number("SLURM_STEP_NUM_TASKS")};
  const auto rank = number("SLURM_PROCID"), size = number("SLURM_STEP_NUM_TASKS");
  if (rank && size.value_or(1) > 1) return Launch{*rank, size, false};
  return std::nullopt;
}

}  // namespace neutra::search
