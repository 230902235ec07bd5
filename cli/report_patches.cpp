#include "cli/report_patches.h"

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/text_diff.h"
#include "cli/python.h"
#include "search/minimal.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMost = 200;  ///< patches in a report, as many as scripts

/// Programs of the network that are repairs, as files in a folder; their names in the network.
std::vector<std::string> write_repairs(const experiments::NetworkFile& network,
                                       const experiments::Fault& fault, const fs::path& folder,
                                       std::vector<std::string>& files) {
  std::vector<std::string> nodes;
  for (const search::RepairSize& repair : experiments::repairs_by_size(network.network, &fault)) {
    if (repair.node->id < 0) continue;  // in no row of the report's table
    if (nodes.size() == kMost) break;
    nodes.push_back(search::node_name(*repair.node));
    files.push_back((folder / (nodes.back() + ".json")).string());
    write_file_atomically(files.back(),
                          to_text(fault.space.instantiate(repair.node->parameters).document));
  }
  return nodes;
}

std::vector<std::string> texts_of(const Json& list) { return list.get<std::vector<std::string>>(); }

/// What neutra.sources says of these repairs.
report::ReportPatches read_patches(const std::string& text, const std::vector<std::string>& nodes) {
  report::ReportPatches patches;
  const Json document = parse_json(text, "neutra.sources");
  const Json& list = document.at("patches");
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Json& one = list.at(i);
    report::RepairPatch patch{nodes[i], lines_of(one.at("diff").get<std::string>()),
                              texts_of(one.at("refused")), texts_of(one.at("notes"))};
    if (!one.at("arguments").is_null()) patch.arguments = texts_of(one.at("arguments"));
    patches.repairs.push_back(std::move(patch));
  }
  return patches;
}

/// Throws Error for why there are none.
report::ReportPatches make_patches(const Arguments& arguments,
                                   const experiments::NetworkFile& network) {
  if (!network.fault)
    throw input_error("the fault file isn't there any more, or holds another program");
  const experiments::Fault& fault = *network.fault;
  const TemporaryFolder folder("neutra-report");
  std::vector<std::string> words{"--json", "--", fault.file.string()};
  const std::vector<std::string> nodes = write_repairs(network, fault, folder.path(), words);
  if (nodes.empty()) return {};
  const ProcessResult said = PythonModule(arguments, "neutra.sources").answer(words);
  if (said.code > 1) {
    std::string reason = said.err.substr(0, said.err.find_last_not_of("\n") + 1);
    reason = reason.substr(reason.rfind('\n') + 1);
    throw input_error(reason.starts_with("neutra: ") ? reason.substr(8) : reason);
  }
  try {
    return read_patches(said.out, nodes);
  } catch (const Json::exception& error) {
    throw failure(std::string("neutra.sources: ") + error.what());
  }
}

}  // namespace

std::optional<report::ReportPatches> report_patches(const Arguments& arguments,
                                                    const experiments::NetworkFile& network) {
  if (!network.script || !arguments.is_on("patches")) return std::nullopt;
  try {
    return make_patches(arguments, network);
  } catch (const Error& error) {
    return report::ReportPatches{{}, error.what()};
  }
}

}  // namespace neutra::cli
