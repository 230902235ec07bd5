#include <algorithm>
#include <exception>
#include <functional>

#include "base/files.h"
#include "base/printable.h"
#include "base/text_layout.h"
#include "base/words.h"
#include "cli/doctor/check.h"
#include "cli/texts.h"
#include "cli/verbs.h"

namespace neutra::cli {
namespace {

using doctor::Check;
using doctor::Checks;
using doctor::State;

struct Report {
  Checks checks;
};

bool is(const Check& check, State state) { return check.state == state; }

Json json_of(const Report& report) {
  Json list = Json::array();
  for (const Check& check : report.checks) {
    list.push_back({{"name", check.name},
                    {"state", to_string(check.state)},
                    {"ok", is(check, State::kOk) || is(check, State::kNote)},
                    {"detail", check.detail},
                    {"hint", check.hint}});
  }
  return {{"format", "neutra-doctor"}, {"version", 1}, {"checks", std::move(list)}};
}

/// "2 broken: torch, fault D7" for each state that is not ok.
std::string counts_text(const Checks& checks) {
  std::string text;
  for (const State state : {State::kBroken, State::kWrong, State::kMissing, State::kNote}) {
    std::vector<std::string> names;
    for (const Check& check : checks) {
      if (is(check, state)) names.push_back(check.name);
    }
    if (names.empty()) continue;
    text += in_lines(std::to_string(names.size()) + " " + std::string(to_string(state)) + ": " +
                     join(names));
  }
  return text.empty() ? "all is well\n" : text;
}

/// A line for each part, with what to do below it, to fit the terminal.
std::string text_of(const Report& report) {
  constexpr std::size_t kStates = 7, kLeast = 30;
  std::size_t names = 0;
  for (const Check& check : report.checks) names = std::max(names, text_columns(check.name));
  const std::vector<std::size_t> widths{kStates, names, 0};
  const std::vector<bool> right(widths.size(), false);
  const std::size_t before = row_columns(widths);
  const std::size_t all = output_columns().value_or(std::string::npos);
  const std::size_t room = all > before + kLeast ? all - before : kLeast;
  const auto lines = [&](const std::string& text) {
    return all == std::string::npos ? std::vector{printable(text)} : wrapped(printable(text), room);
  };
  std::string text;
  for (const Check& check : report.checks) {
    const std::string state(to_string(check.state));
    text += row_text({{state}, {check.name}, lines(check.detail)}, widths, right);
    if (!check.hint.empty()) {
      text += row_text({{""}, {""}, lines("-> " + check.hint)}, widths, right);
    }
  }
  return text + "\n" + counts_text(report.checks);
}

/// Looks at everything. Nothing that one look finds keeps the others from being made.
Checks looked_at(const Arguments& arguments) {
  Checks checks;
  const auto look = [&](const char* name, const std::function<Checks()>& at) {
    try {
      const Checks found = at();
      checks.insert(checks.end(), found.begin(), found.end());
    } catch (const std::exception& error) {
      checks.push_back({name, State::kWrong, std::string("can't be looked at: ") + error.what()});
    }
  };
  const auto look_once = [&](const char* name, Check (*at)()) {
    look(name, [&] { return Checks{at()}; });
  };
  std::vector<doctor::DataUse> uses;
  look_once("command", doctor::command_check);
  look_once("processor", doctor::processor_check);  // before what NEUTRA_ISA would end
  look_once("cores", doctor::cores_check);
  look_once("memory", doctor::memory_check);
  look_once("clock", doctor::clock_check);
  look_once("onednn", doctor::onednn_check);
  look_once("hdf5", doctor::hdf5_check);
  look_once("modules", doctor::modules_check);
  look("torch", doctor::torch_checks);
  look_once("mpi", doctor::mpi_check);
  look("bundled files", [&] { return doctor::resource_checks(uses); });
  look("data folder", [&] { return doctor::data_checks(uses, arguments); });
  look("documentation", doctor::document_checks);
  look("programs", doctor::program_checks);
  look_once("temporary folder", doctor::temporary_folder_check);
  look_once("store", doctor::store_check);
  return checks;
}

Result run(const Arguments& arguments) {
  if (arguments.has("write-checksums")) {
    const std::string folder = arguments.text("write-checksums");
    write_file_atomically(folder + "/" + doctor::kChecksumsFile, doctor::checksums_of(folder));
    return {};
  }
  Report report{looked_at(arguments)};
  const bool broken = std::any_of(report.checks.begin(), report.checks.end(),
                                  [](const Check& check) { return is(check, State::kBroken); });
  return result_of(std::move(report), broken ? Exit::kFailed : Exit::kDone);
}

}  // namespace

Verb doctor_verb() {
  return {.name = "doctor",
          .summary = "say what is installed, what is missing and what is broken",
          .synopsis = "doctor [--data-dir DIR] [--format text|json]",
          .options = {.names = {"data-dir"},
                      .formats = {"text", "json"},
                      .own = {{.name = "write-checksums",
                               .argument = "FOLDER",
                               .help = "for packagers: write FOLDER/checksums.json, against which "
                                       "doctor checks the files of share/neutra; check nothing"}}},
          .description =
              "Looks at each part that neutra consists of or can use, at the machine and at the "
              "folders that it writes to, and\n"
              "says where it is, what was found, and how to get or mend it. The states of a part: "
              "ok; note: it works, with\n"
              "something to know; missing: something optional is not here; "
              "wrong: a setting, a file of yours\n"
              "or the machine is in the way; broken: a part of neutra is damaged. Exit 1 where a "
              "part is broken, else 0.\n"
              "Parts that could take the command down with them are tried in a process of their "
              "own.",
          .example = "  neutra doctor\n  neutra doctor --format json",
          .run = run};
}

}  // namespace neutra::cli
