#include "report/patches.h"

#include "base/printable.h"

namespace neutra::report {
namespace {

/// Tabs and line ends belong to a patch.
Json printable_lines(const std::vector<std::string>& lines) {
  Json list = Json::array();
  for (const std::string& line : lines) list.push_back(printable(line, "\t\r"));
  return list;
}

}  // namespace

Json script_json(const experiments::Script& script) {
  return {{"file", script.file},
          {"folder", script.folder().string()},
          {"framework", script.framework},
          {"arguments", script.arguments}};
}

Json patches_json(const std::optional<ReportPatches>& patches) {
  if (!patches) return nullptr;
  Json repairs = Json::object();
  for (const RepairPatch& patch : patches->repairs) {
    repairs[patch.node] = {
        {"diff", printable_lines(patch.diff)},
        {"refused", printable_lines(patch.refused)},
        {"notes", printable_lines(patch.notes)},
        {"arguments", patch.arguments ? printable_lines(*patch.arguments) : Json(nullptr)}};
  }
  return {{"refusal", patches->refusal.empty() ? Json(nullptr) : Json(printable(patches->refusal))},
          {"repairs", std::move(repairs)}};
}

}  // namespace neutra::report
