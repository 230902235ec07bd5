// The processor, its cores, memory and the clock.

#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/cores.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/parse_number.h"
#include "base/strings.h"
#include "cli/doctor/check.h"
#include "training/isa.h"

namespace neutra::cli::doctor {
namespace {

namespace fs = std::filesystem;
using training::InstructionSet;

/// The value of a line "NAME : VALUE" of a file of /proc; "": there is none.
std::string proc_value(const char* file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || trimmed(line.substr(0, colon)) != name) continue;
    return std::string(trimmed(line.substr(colon + 1)));
  }
  return "";
}

/// Bytes of a line of /proc/meminfo, which counts in KiB.
std::optional<std::uint64_t> memory_of(std::string_view name) {
  const std::string value = proc_value("/proc/meminfo", name);
  const auto number = parse_number<std::uint64_t>(value.substr(0, value.find(' ')));
  return number ? std::optional(*number << 10) : std::nullopt;
}

/// The words of `file` in the control group of this process and in each above it (cgroups(7)):
/// containers and batch systems limit memory and cores there. `controller`: its folder in
/// version 1.
std::vector<std::string> group_limits(const std::string& controller, const std::string& first,
                                      const std::string& second) {
  const fs::path mount = "/sys/fs/cgroup";
  std::vector<std::string> limits;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:memory:/job_7", "0::/job_7"
    const std::size_t name = line.find(':') + 1, path = line.find(':', name) + 1;
    if (name == 0 || path == 0) continue;
    const std::string controllers = "," + line.substr(name, path - name - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && !contains(controllers, "," + controller + ",")) continue;
    fs::path group = fs::path(line.substr(path)).relative_path();
    for (bool more = true; more; group = group.parent_path()) {
      more = !group.empty();
      std::ifstream in((unified ? mount : mount / controller) / group / (unified ? second : first));
      if (std::string text; std::getline(in, text)) limits.push_back(text);
    }
  }
  return limits;
}

/// The least memory that a control group or the shell (ulimit -v) leaves this process.
std::optional<std::uint64_t> memory_limit() {
  std::optional<std::uint64_t> least;
  const auto take = [&](std::uint64_t limit) { least = std::min(least.value_or(limit), limit); };
  for (const std::string& text : group_limits("memory", "memory.limit_in_bytes", "memory.max")) {
    if (const auto limit = parse_number<std::uint64_t>(text)) take(*limit);
  }
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) take(space.rlim_cur);
  return least;
}

/// Processor time that a control group leaves this process, in cores.
std::optional<double> core_quota() {
  std::optional<double> least;
  for (const std::string& text : group_limits("cpu", "cpu.cfs_quota_us", "cpu.max")) {
    std::istringstream words(text);  // "50000 100000", "max 100000"; version 1: "50000", "-1"
    double quota = 0, period = 100000;
    if (!(words >> quota) || quota <= 0) continue;
    words >> period;
    if (period > 0) least = std::min(least.value_or(quota / period), quota / period);
  }
  return least;
}

std::string cores_text(long count) {
  return std::to_string(count) + (count == 1 ? " core" : " cores");
}

}  // namespace

Check processor_check() {
  const bool avx2 = training::supports(InstructionSet::kAvx2);
  const bool avx512 = training::supports(InstructionSet::kAvx512);
  const std::string best = avx512 ? "avx512" : avx2 ? "avx2" : "the generic one";
  std::string detail = proc_value("/proc/cpuinfo", "model name");
  if (detail.empty()) detail = "a processor without a name";
  detail += avx512 ? ", with AVX2 and AVX-512" : avx2 ? ", with AVX2" : ", without AVX2";
  try {
    if (const auto wanted = training::wanted_instruction_set()) {
      const bool less = *wanted == InstructionSet::kAvx2 && avx512;
      return {
          "processor", State::kOk,
          detail + "; instruction set used: " + (less ? "avx2" : best) + ", as NEUTRA_ISA says"};
    }
  } catch (const Error& error) {
    ::unsetenv("NEUTRA_ISA");
    return {"processor", State::kWrong,
            detail + ". " + error.what() + "; nothing can be trained with it",
            avx2 ? std::string("unset NEUTRA_ISA, or set it to avx2") + (avx512 ? " or avx512" : "")
                 : "unset NEUTRA_ISA"};
  }
  detail += "; instruction set used: " + best;
  if (avx2) return {"processor", State::kOk, std::move(detail)};
  return {"processor", State::kNote, std::move(detail),
          "trainings are several times slower than with AVX2, which processors have since 2013"};
}

Check cores_check() {
  const long all = ::sysconf(_SC_NPROCESSORS_ONLN);
  const int usable = usable_cores();
  std::string detail = std::to_string(usable) + " of the machine's " + cores_text(all) +
                       " may be used, so --workers is " + std::to_string(usable) + " by default";
  const std::optional<double> quota = core_quota();
  const int threads = omp_get_thread_limit();
  if (quota && *quota < usable) {
    std::ostringstream number;
    number << *quota;
    return {"cores", State::kNote,
            detail + "; the control group of this process gets the time of " + number.str(),
            "--workers " + std::to_string(std::max(1, static_cast<int>(*quota))) +
                ", or give the container or job more"};
  }
  if (threads <= usable) {
    return {"cores", State::kNote,
            detail + "; OMP_THREAD_LIMIT allows " + std::to_string(threads) + " threads",
            "unset OMP_THREAD_LIMIT, or make it larger than the number of workers"};
  }
  if (usable >= all) return {"cores", State::kOk, std::move(detail)};
  return {"cores", State::kNote, std::move(detail),
          "the others are kept from this process (taskset, cpuset, a job's allocation): srun "
          "--cpus-per-task or mpirun --bind-to none give more"};
}

Check memory_check() {
  constexpr std::uint64_t kFew = std::uint64_t{1} << 30;
  const auto all = memory_of("MemTotal"), free = memory_of("MemAvailable");
  if (!all || !free) {
    return {"memory", State::kNote, "/proc/meminfo does not say how much there is"};
  }
  std::uint64_t usable = *free;
  std::string detail = size_text(*free) + " of " + size_text(*all) + " are free";
  if (const auto limit = memory_limit(); limit && *limit < *all) {
    usable = std::min(usable, *limit);
    detail += "; this process may have " + size_text(*limit);
  }
  if (usable >= kFew) return {"memory", State::kOk, std::move(detail)};
  return {"memory", State::kNote, std::move(detail),
          "trainings on images take up to a gigabyte each: fewer --workers, or --memory " +
              std::to_string(usable >> 20) + "M"};
}

Check clock_check() {
  const std::string now = utc_now();
  std::error_code error;
  const auto made = fs::last_write_time(own_program(), error);
  // Clocks of machines differ by seconds; a day too early is a clock that was never set.
  if (!error && fs::file_time_type::clock::now() + std::chrono::hours(24) < made) {
    return {"clock", State::kWrong, "it says " + now + ", before the file of this command was made",
            "set the machine's clock: budgets of time and the times in stores come from it"};
  }
  return {"clock", State::kOk, "it says " + now};
}

}  // namespace neutra::cli::doctor
