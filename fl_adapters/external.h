#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/process.h"
#include "fl_adapters/tool_description.h"
#include "fl_adapters/tool_folder.h"

namespace neutra::fl_adapters {

/// One run of an external tool.
struct ExternalRun {
  Localisation answer;
  ProcessResult process;
  std::vector<std::string> files;  ///< what it was given
};

/// Runs an external tool (docs/formats/tool.md): writes a folder, starts the command there, keeps
/// to the limits, reads the answer. Thread safe.
class ExternalTool {
 public:
  /// Starts nothing.
  explicit ExternalTool(ToolDescription description) : description_(std::move(description)) {}
  /// What the tool was made from.
  const ToolDescription& description() const { return description_; }

  /// Whatever the tool does is a status. Throws Error for what a user must fix (missing data, a
  /// full disk) and, with Exit::kInterrupted, when `context.stop` is set. `context.trainer` may be
  /// null for a tool that doesn't ask for data.
  ExternalRun run(const FaultyProgram& faulty, const LocaliseContext& context);

 private:
  ToolDescription description_;
};

/// As a tool like any other. A tool that doesn't get the data counts as one that only reads the
/// program: it is run once.
Tool external_tool(ToolDescription description);

/// Are the folders that `runs` runs of an external tool are kept in free, or left by earlier runs?
/// Throws input_error.
void require_run_folders(const std::filesystem::path& keep, const FaultyProgram& faulty,
                         const Tool& tool, std::size_t runs);

/// The tool that a description file is about. It stays for the life of the process, and a file is
/// read once. Throws what read_tool_description() throws.
const Tool* load_tool(const std::filesystem::path& file);

/// What is found out about a tool by running it.
struct ToolCheck {
  enum class Verdict { kOk, kRemark, kFailed };
  Verdict verdict = Verdict::kOk;
  std::string what;    ///< "description", "start", ...
  std::string detail;  ///< what was found, and what to do
};
/// Runs the tool on a program, step by step, up to the first that fails. Throws what
/// ExternalTool::run() throws.
std::vector<ToolCheck> check_tool(const std::filesystem::path& file, const FaultyProgram& faulty,
                                  const LocaliseContext& context);

}  // namespace neutra::fl_adapters
