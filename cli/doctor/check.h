#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cli/arguments.h"

// What `neutra doctor` looks at. Each function here looks at one thing and says what it found. What
// it throws is reported as "can't be looked at".
namespace neutra::cli::doctor {

/// How a part is.
enum class State {
  kOk,
  kNote,  ///< it works, and there is something to know: it is slower, or less than there could be
  kMissing,  ///< it is not here, and something optional needs it
  kWrong,    ///< a setting, a file of the user's or the machine keeps something from working
  kBroken,   ///< it belongs to neutra and is damaged or gone
};
/// "ok", "note", "missing", "wrong", "broken".
std::string_view to_string(State state);

/// What was found out about one part.
struct Check {
  std::string name;  ///< of the part, for people and scripts: "torch", "data mnist"
  State state = State::kOk;
  std::string detail;     ///< where it is and what was found there
  std::string hint = {};  ///< how to get it or to mend it; "" where nothing is to be done
};
using Checks = std::vector<Check>;

/// The hint for what is broken.
inline constexpr const char* kInstallAgain = "install neutra again";

/// What came of something that may crash or hang.
struct Trial {
  std::optional<std::string> answer;  ///< what it returned; nothing: it failed
  std::string problem;  ///< why: the message of its exception, or how its process died
  bool died = false;    ///< it crashed, or gave no answer in time
};
/// Calls `work` in a copy of this process, a minute at most.
Trial tried(const std::function<std::string()>& work);

/// The file of a library that this process has loaded whose name begins so ("libhdf5"); "": none.
std::string loaded_library(std::string_view beginning);

// Of the machine.

/// Instruction sets. Takes a NEUTRA_ISA that can't be used out of the environment, so that the
/// other checks go on without it.
Check processor_check();
Check cores_check();
Check memory_check();
Check clock_check();

// Of libraries.

Check onednn_check();
Check hdf5_check();
/// The files of neutra's own modules (base/module.h).
Check modules_check();
/// LibTorch, and where its matrix products go.
Checks torch_checks();
Check mpi_check();

// Of files that belong to neutra.

Check command_check();
/// A data section of a bundled program.
struct DataUse {
  std::string program;  ///< id of the subject or fault
  Json data;
};
/// Subjects, faults and the other files that the command reads. Adds what data they use.
Checks resource_checks(std::vector<DataUse>& uses);
/// Documentation, manual pages and completions where they are installed.
Checks document_checks();

/// Data sets of bundled programs, and the folder that is named for them.
Checks data_checks(const std::vector<DataUse>& uses, const Arguments& arguments);

// Of other programs.

/// What draws pictures, Slurm, the Python package.
Checks program_checks();

// Of places to write.

Check temporary_folder_check();
/// Can the folder that the command was started in keep a store?
Check store_check();

/// The digests of the files below `folder` as the text of its checksums.json, which
/// resource_checks() compares with. Throws input_error for a file that can't be read.
std::string checksums_of(const std::string& folder);
/// The name of that file.
inline constexpr const char* kChecksumsFile = "checksums.json";

}  // namespace neutra::cli::doctor
