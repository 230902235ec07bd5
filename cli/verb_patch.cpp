#include <algorithm>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/printable.h"
#include "base/strings.h"
#include "base/temporary_folder.h"
#include "base/text_diff.h"
#include "base/utf8.h"
#include "cli/outputs.h"
#include "cli/python.h"
#include "cli/verbs.h"
#include "experiments/catalog.h"
#include "experiments/network_file.h"
#include "search/minimal.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "neutra.sources";

/// A program that the script shall have.
struct Wanted {
  std::string node;  ///< its name in the network; "": it is in none
  program::Program program;
  program::FaultSet faults;  ///< that it repairs
};

/// What sources said of one.
struct Made {
  std::string node, faults, diff;
  std::vector<std::string> said;  ///< lines
  std::string name;               ///< of a file for it
  std::string file;               ///< that it was written to; "": none
  bool whole = false;             ///< every difference is in the diff
};

/// For --json.
struct Patches {
  std::string fault_file;
  std::vector<Made> made;
};

/// The files that a unified diff changes.
std::vector<std::string> files_of(const std::string& diff) {
  std::vector<std::string> files;
  for (const std::string& line : lines_of(diff))
    if (line.starts_with("+++ b/")) files.emplace_back(trimmed(line.substr(6), "\t\r"));
  return files;
}

/// A text as JSON may have it: files may be in another encoding.
std::string in_json(const std::string& text) {
  return find_no_utf8(text) == std::string::npos ? text : printable(text, "\n\r\t");
}

Json json_of(const Patches& patches) {
  Json list = Json::array();
  for (const Made& made : patches.made) {
    Json files = Json::array(), notes = Json::array();
    for (const std::string& name : files_of(made.diff)) files.push_back(in_json(name));
    for (const std::string& line : made.said) notes.push_back(in_json(line));
    list.push_back({{"node", made.node.empty() ? Json() : Json(made.node)},
                    {"faults", made.faults},
                    {"whole", made.whole},
                    {"name", made.name},
                    {"files", std::move(files)},
                    {"diff", in_json(made.diff)},
                    {"notes", std::move(notes)},
                    {"output", made.file.empty() ? Json() : Json(made.file)}});
  }
  return {{"format", "neutra-patches"},
          {"version", 1},
          {"fault", patches.fault_file},
          {"patches", list}};
}

/// The name of the file of a patch: "node_7_ACH-0-1_LCH.diff".
std::string file_name(const Wanted& wanted) {
  const std::string faults = to_string(wanted.faults);
  std::string name = wanted.node.empty() ? "patch" : "node_" + wanted.node;
  if (faults != "-") name += "_";
  for (std::size_t i = 0; i < faults.size() && faults != "-"; ++i) {
    if (faults.compare(i, 2, ", ") == 0) {
      name += '_';
      ++i;
    } else if (faults[i] != ')') {
      name += faults[i] == '(' || faults[i] == ',' ? '-' : faults[i] == '|' ? '_' : faults[i];
    }
  }
  return name + ".diff";
}

/// For people nothing is left to say.
std::string text_of(const Patches&) { return ""; }

Wanted wanted_node(const experiments::Fault& fault, const search::Node& node) {
  program::Program program = fault.space.instantiate(node.parameters);
  program::FaultSet faults = program::diff(fault.buggy, program);
  return {search::node_name(node), std::move(program), std::move(faults)};
}

std::vector<Wanted> of_network(const Arguments& arguments, experiments::NetworkFile& loaded,
                               const std::string& file) {
  if (arguments.has("to"))
    throw usage_error("--to: found " + file + ", the store of a search; allowed: --node N");
  if (!loaded.fault)
    throw input_error(describe(file, "",
                               "a search of " + loaded.network.fault_id + ", whose fault file is " +
                                   loaded.header.value("fault_file", "not known") +
                                   " and not there any more, or another one by now",
                               "--fault FAULT.json names the captured fault"));
  const experiments::Fault& fault = *loaded.fault;
  experiments::require_root(loaded.network, fault, file);
  std::vector<Wanted> wanted;
  if (arguments.flag("all-minimal")) {
    const std::vector<search::RepairSize> sizes =
        experiments::repairs_by_size(loaded.network, &fault);
    for (const search::RepairSize& size : sizes)
      if (size.minimal == true) wanted.push_back(wanted_node(fault, *size.node));
    if (const auto counts = search::count(sizes); counts.unknown > 0)
      std::cerr << "neutra: " << file << ": of " << counts.unknown
                << " repairs it is not known whether they are 1-minimal; neutra search --minimise "
                   "finds out\n";
    return wanted;
  }
  if (!arguments.has("node"))
    throw usage_error("expects --node N or --all-minimal of " + file +
                      "; neutra network --format text lists the repairs");
  const std::string& name = arguments.text("node");
  for (const auto* nodes : {&loaded.network.nodes, &loaded.network.subpatches})
    for (const search::Node& node : *nodes)
      if (search::node_name(node) == name) return {wanted_node(fault, node)};
  throw input_error(describe(file, "--node", name,
                             "0 to " + std::to_string(loaded.network.nodes.size() - 1) +
                                 ", the nodes of the network, and its sub-patches"));
}

Wanted of_fault(const Arguments& arguments, const experiments::Fault& fault,
                const std::string& file) {
  for (const char* option : {"node", "all-minimal"})
    if (arguments.has(option))
      throw usage_error(std::string("--") + option + ": found " + file +
                        ", a fault, which has no network; allowed: the store of a search");
  if (arguments.has("to")) {
    program::Program program = experiments::load_fault(arguments.text("to")).buggy;
    program::FaultSet faults = program::diff(fault.buggy, program);
    return {"", std::move(program), std::move(faults)};
  }
  if (!fault.fixed)
    throw input_error(describe(file, "", "no known fix", "--to PROGRAM.json, or a store"));
  return {"", *fault.fixed, fault.actual};
}

/// What the patches start from, and what they make.
struct Task {
  std::string fault_file;
  std::vector<Wanted> wanted;
};

Task task_of(const Arguments& arguments) {
  const std::string& file = arguments.positional.front();
  std::optional<experiments::Fault> named;
  if (arguments.has("fault")) named = experiments::load_fault(arguments.text("fault"));
  const bool is_network = is_hdf5_file(file) || fs::path(file).extension() == ".h5" ||
                          fs::path(file).extension() == ".tsv";
  if (!is_network) {
    require_no_pipe(file, "a captured fault");  // Python reads it again
    const experiments::Fault fault = experiments::load_fault(file);
    return {fault.file.string(), {of_fault(arguments, fault, file)}};
  }
  experiments::NetworkFile loaded = experiments::read_network_file(file, std::move(named));
  std::vector<Wanted> wanted = of_network(arguments, loaded, file);
  return {loaded.fault->file.string(), std::move(wanted)};
}

void require_options(const Arguments& arguments) {
  if (!arguments.flag("all-minimal")) return;
  if (!arguments.has("output") && !arguments.flag("json"))
    throw usage_error("--all-minimal: expects -o FOLDER or --json, since there are several");
  for (const char* other : {"apply", "node"})
    if (arguments.has(other))
      throw usage_error(std::string("--all-minimal: found --") + other +
                        ", too; allowed: one of them");
}

/// Takes what sources says of one program, whose diff is a file of bytes; writes a whole patch to
/// its file in `output`, if that is a name. Unless the result is JSON, says what came of it.
Made made_of(const Wanted& wanted, const Json& said, const fs::path& diff, const fs::path& output,
             bool json) {
  Made made{.node = wanted.node,
            .faults = to_string(wanted.faults),
            .diff = fs::exists(diff) ? read_file(diff, "a patch") : "",
            .said = said.at("said").get<std::vector<std::string>>(),
            .name = file_name(wanted),
            .file = "",
            .whole = said.at("refused").empty()};
  if (!output.empty() && made.whole) {
    made.file = (output / made.name).string();
    write_file_atomically(made.file, made.diff);
  }
  if (json) return made;
  for (const std::string& line : made.said) std::cerr << line << "\n";
  if (made.whole) {
    std::cout << made.file << "\n";
  } else {
    std::cerr << "neutra: " << made.name << " is not written: not all can be changed\n";
  }
  return made;
}

Result run(const Arguments& arguments) {
  require_options(arguments);
  const Task task = task_of(arguments);
  const PythonModule sources(arguments, kModule);
  const TemporaryFolder folder("neutra-patch");
  std::vector<std::string> files;
  for (std::size_t i = 0; i < task.wanted.size(); ++i) {
    files.push_back((folder.path() / (std::to_string(i) + ".json")).string());
    write_file_atomically(files.back(), to_text(task.wanted[i].program.document));
  }
  const auto words = [&](std::vector<std::string> first) {
    if (arguments.flag("apply")) first.emplace_back("--apply");
    first.insert(first.end(), {"--", task.fault_file});
    first.insert(first.end(), files.begin(), files.end());
    return first;
  };
  const bool json = arguments.flag("json");
  // As bytes, in the encoding of the user's files.
  if (!arguments.has("output") && !json) return sources.run(words({}));
  const fs::path output = arguments.has("output") ? arguments.text("output") : "";
  if (!output.empty()) {
    require_writable_folder(output, "--output");
    fs::create_directories(output);
  }
  Patches patches{task.fault_file, {}};
  if (files.empty()) return json ? result_of(std::move(patches), Exit::kDone) : Result{};
  const ProcessResult said = sources.answer(words({"--json", "--diffs", folder.path().string()}));
  if (said.code > 1) {
    std::cerr << said.err;
    return {.write = {}, .exit = static_cast<Exit>(said.code)};
  }
  try {
    const Json list = parse_json(said.out, kModule).at("patches");
    for (std::size_t i = 0; i < files.size(); ++i) {
      const fs::path diff = folder.path() / (std::to_string(i) + ".diff");
      patches.made.push_back(made_of(task.wanted[i], list.at(i), diff, output, json));
    }
  } catch (const Json::exception& error) {
    throw failure(std::string(kModule) + ": " + error.what());
  }
  const bool whole = std::all_of(patches.made.begin(), patches.made.end(),
                                 [](const Made& made) { return made.whole; });
  const Exit exit = whole ? Exit::kDone : Exit::kFailed;
  if (!json) return {.write = {}, .exit = exit};
  return result_of(std::move(patches), exit);
}

}  // namespace

Verb patch_verb() {
  return {
      .name = "patch",
      .summary = "print a repair of a captured script as a patch of the script's own files",
      .synopsis =
          "patch STORE --node N [--apply] [-o FOLDER]   |   patch STORE --all-minimal -o FOLDER\n"
          "                    patch FAULT.json [--to PROGRAM.json] [--apply] [-o FOLDER]",
      .options = {.names = {"all-minimal", "fault", "node", "python", "to"},
                  .least_positional = 1,
                  .most_positional = 1,
                  .positional_name = "STORE|FAULT.json",
                  .own = {{.name = "apply",
                           .type = OptionType::kFlag,
                           .help = "write the files, too: all of them or none, and none where a "
                                   "difference is left out"},
                          {.name = "output",
                           .letter = 'o',
                           .type = OptionType::kText,
                           .argument = "FOLDER",
                           .help = "write files such as node_7_HLR_LCH.diff into this folder"}}},
      .description =
          "A unified diff that patch -p1 applies in the folder of the fault file, which neutra "
          "capture wrote: literals are\n"
          "replaced, arguments added, layers left out, copied or added; comments and formatting "
          "stay\n"
          "(docs/howto/patch_a_script.md). For any program of a network, a fault's known fix, or "
          "the program of --to. --all-\n"
          "minimal writes one for each 1-minimal repair. What isn't in the patch is on standard "
          "error, with its line and the\n"
          "reason. Exit code 0 where every difference is in the patch, 1 where some are not, 3 for "
          "files that can't be read or\n"
          "have changed since they were captured.",
      .example =
          "  neutra patch repairs.h5 --node 12 > repair.diff\n"
          "  neutra patch repairs.h5 --node 12 --apply\n"
          "  neutra patch repairs.h5 --all-minimal -o patches",
      .run = run};
}

}  // namespace neutra::cli
