#include "search/store_header.h"

#include <array>

#include "search/options.h"
#include "search/store_content.h"

namespace neutra::search {
namespace {

/// Fields of the configuration.
constexpr std::array<const char*, 2> kBudgets{"budget_evaluations", "budget_seconds"};

}  // namespace

std::vector<std::string> header_differences(const Json& stored, const Json& wanted) {
  std::vector<std::string> differences;
  const auto text = [](const Json& json) {
    return json.is_null() ? "not set" : json.is_string() ? json.get<std::string>() : json.dump();
  };
  const auto compare = [&](const std::string& name, const Json& a, const Json& b) {
    if (a != b) differences.push_back(name + " was " + text(a) + ", now " + text(b));
  };
  const auto field = [](const Json& json, const std::string& name) {
    return json.is_object() && json.contains(name) ? json[name] : Json(nullptr);
  };
  for (const char* name : {"fault", "metric", "goal", "start", "fixed"}) {
    compare(name, field(stored, name), field(wanted, name));
  }
  if (field(stored, "program") != field(wanted, "program")) {
    differences.push_back("the buggy program was changed: its hash was " +
                          text(field(stored, "program")) + ", now " +
                          text(field(wanted, "program")));
  }
  const Json before = field(stored, "config"), now = field(wanted, "config");
  for (const auto& [name, value] : now.items()) {
    const bool older = !before.contains(name) && fields_of_older_stores().contains(name);
    compare(name, older ? fields_of_older_stores()[name] : field(before, name), value);
  }
  return differences;
}

bool raises_budgets(const Json& stored, const Json& wanted) {
  Json raised = stored;
  const Json *before = member(stored, "config"), *now = member(wanted, "config");
  for (const char* name : kBudgets) {
    const Json* old_budget = before != nullptr ? member(*before, name) : nullptr;
    const Json* new_budget = now != nullptr ? member(*now, name) : nullptr;
    // One that is taken away may have been forgotten.
    if (old_budget != nullptr && new_budget != nullptr && old_budget->is_number() &&
        new_budget->is_number() && *new_budget > *old_budget) {
      raised["config"][name] = *new_budget;
    }
  }
  return raised != stored && header_differences(raised, wanted).empty();
}

void raise_budgets(Json& header, const Json& wanted) {
  for (const char* name : kBudgets) {
    header["config"][name] = wanted.at("config").value(name, Json());
  }
  header["command"] = wanted.value("command", Json());
}

void require_known_version(const std::filesystem::path& file, const Json& header) {
  const Json* version = member(header, "version");
  if (version && !(version->is_number_integer() && *version <= kStoreVersion)) {
    throw newer_version(file, "version " + version->dump());
  }
}

Error newer_version(const std::filesystem::path& file, const std::string& found) {
  return input_error(
      describe(file.string(), "", found,
               "versions up to " + std::to_string(kStoreVersion) + ": a newer neutra made it"));
}

}  // namespace neutra::search
