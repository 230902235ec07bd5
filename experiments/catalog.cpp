#include "experiments/catalog.h"

#include <algorithm>
#include <cctype>
#include <system_error>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "base/json_section.h"
#include "base/numbers.h"
#include "base/printable.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "base/words.h"
#include "program/formats/keras_model.h"
#include "program/patch.h"
#include "program/vocabulary.h"

namespace neutra::experiments {

namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;

std::string format_of(const Json& json, const std::string& file, const std::string& allowed) {
  if (!json.is_object() || !json.contains("format") || !json.at("format").is_string()) {
    throw input_error(
        describe(file, "/format", json.is_object() ? "no format" : json.type_name(), allowed));
  }
  return json.at("format").get<std::string>();
}

void require_format(const Json& json, const std::string& file, const std::string& format) {
  const std::string found = format_of(json, file, format);
  if (found != format) throw input_error(describe(file, "/format", found, format));
  const Json version = json.value("version", Json());
  if (version != kVersion) {
    throw input_error(describe(file, "/version", version.is_null() ? "none" : version.dump(),
                               std::to_string(kVersion) + ", the only version of " + format));
  }
}

/// A program document that validates.
program::Program read_program(const Json& document, const std::string& file) {
  program::require_valid(document, file);
  return program::Program{document};
}

/// "program": a document, or the name of a file beside `file`.
program::Program program_of(const JsonSection& section, const fs::path& file) {
  const Json& value = section.at("program");
  if (!value.is_string()) return read_program(value, file.string());
  const fs::path other = file.parent_path() / value.get<std::string>();
  return read_program(read_json(other), other.string());
}

std::vector<program::Key> read_keys(const std::vector<Json>& list, const std::string& file) {
  std::vector<program::Key> keys;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const JsonSection section(list[i], file, "/keys/" + std::to_string(i),
                              {"name", "kind", "paths", "values"});
    program::Key key;
    key.name = section.text("name");
    key.kind = section.word("kind", program::parse_key_kind, "a kind of hyperparameter");
    key.paths = section.texts("paths");
    if (section.has("values")) {
      for (const auto& [spelling, meaning] : section.object("values").items()) {
        key.values.emplace_back(spelling, meaning);
      }
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

/// Changed hyperparameters: {"act3": "sigmoid", "epochs": 100}.
program::Parameters read_parameters(const JsonSection& section) {
  program::Parameters parameters;
  if (!section.has("parameters")) return parameters;
  for (const auto& [key, value] : section.object("parameters").items()) {
    if (value.is_string()) {
      parameters[key] = value.get<std::string>();
    } else if (value.is_number_integer()) {
      parameters[key] = value.dump();
    } else if (value.is_number()) {
      parameters[key] = python_repr(value.get<double>());
    } else {
      section.fail("parameters/" + key, value, "a string or a number");
    }
  }
  return parameters;
}

/// Operation `i` of a JSON Patch.
void apply(const Json& operation, std::size_t i, const JsonSection& section,
           program::PatchedDocument& document) {
  const auto fail = [&](const std::string& found, const std::string& allowed) {
    section.fail_text(JsonSection::item_name("patch", i), found, allowed);
  };
  if (!operation.is_object()) fail(operation.dump().substr(0, 80), "an object");
  const auto text = [&](const char* field) -> std::string {
    const Json* value = member(operation, field);
    if (value == nullptr || !value->is_string()) {
      fail(value == nullptr ? std::string("no ") + field
                            : std::string(field) + " " + value->dump().substr(0, 80),
           std::string("a string as ") + field);
    }
    return value->get<std::string>();
  };
  const std::string op = text("op"), path = text("path");
  const std::vector<std::string> ops{"add", "copy", "move", "remove", "replace", "test"};
  if (std::find(ops.begin(), ops.end(), op) == ops.end()) {
    fail("op '" + op + "'", allowed_words(op, ops));
  }
  const bool takes_value = op == "add" || op == "replace" || op == "test";
  if (takes_value && !operation.contains("value")) fail("no value", "a value for " + op);
  if (op == "copy" || op == "move") text("from");
  try {
    document.apply(operation);
  } catch (const Json::exception&) {
    if (op == "test") fail("another value at " + path, "the value of the test");
    fail(op + " at '" + path + "', which does not apply to the program",
         "a JSON Patch whose paths exist");
  }
}

/// One version (buggy or fixed) of a fault, as changes to the program that the file starts from.
program::Program read_version(const program::ProgramSpace& start, const JsonSection& section,
                              const fs::path& file) {
  if (section.has("program")) {
    if (section.has("parameters") || section.has("patch")) {
      section.fail_text("", "a program and changes", "either a program or parameters and patch");
    }
    return program_of(section, file);
  }
  const std::string where = file.string() + ": " + section.place_of("parameters");
  program::Program program =
      start.instantiate(start.with_changes(read_parameters(section), where), where);
  if (section.has("patch")) {
    const std::vector<Json> patch = section.list("patch");
    program::PatchedDocument patched(std::move(program.document),
                                     file.string() + ": " + section.place_of("patch"));
    for (std::size_t i = 0; i < patch.size(); ++i) apply(patch[i], i, section, patched);
    program.document = std::move(patched).document();
  }
  return read_program(program.document, file.string());
}

const std::vector<std::string> kVersionFields{"parameters", "patch", "program"};

/// A layer's repeat count moves the layers behind it, so the paths of the keys would be wrong.
void refuse_repeats(const JsonSection& section, const std::vector<program::Key>& keys) {
  const program::Parameters changes = read_parameters(section);
  for (const program::Key& key : keys) {
    if (key.kind == program::KeyKind::kRepeat && changes.contains(key.name)) {
      section.fail_text("parameters/" + key.name, "a number of copies of a layer",
                        "other keys; write the buggy program out to add or remove a layer");
    }
  }
}

Subject read_subject(const fs::path& path) {
  const std::string file = path.string();
  const Json json = read_json(path);
  if (format_of(json, file, "neutra-subject or neutra-program") == "neutra-program") {
    return {.id = path.stem().string(),
            .title = json.value("name", ""),
            .source = "",
            .licence = "",
            .space = program::ProgramSpace::with_default_keys(read_program(json, file)),
            .file = path};
  }
  require_format(json, file, "neutra-subject");
  const JsonSection section(
      json, file, "",
      {"format", "version", "id", "title", "source", "licence", "program", "keys", "notes"});
  program::Program program = program_of(section, path);
  program::ProgramSpace space =
      section.has("keys")
          ? program::ProgramSpace(std::move(program), read_keys(section.list("keys"), file), file)
          : program::ProgramSpace::with_default_keys(std::move(program));
  return {.id = section.text("id"),
          .title = section.text("title"),
          .source = section.text("source"),
          .licence = section.text("licence", ""),
          .space = std::move(space),
          .file = path};
}

/// Ids name files.
void require_id(const std::string& id, const std::string& file) {
  const bool good = std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  if (!good || id.empty() || id.front() == '.' || id.size() > 100) {
    throw input_error(describe(file, "/id", Json(id).dump().substr(0, 120),
                               "1 to 100 letters, digits, '.', '_' and '-', no '.' first"));
  }
}

/// Everything that follows from the two programs.
Fault make_fault(program::ProgramSpace space, std::optional<program::Program> fixed,
                 const fs::path& file) {
  program::Program buggy = space.base();
  std::optional<program::Parameters> fixed_parameters;
  program::FaultSet actual;
  if (fixed) {
    fixed_parameters = space.parameters_of(*fixed);
    actual = program::diff(buggy, *fixed);
  }
  return {.id = file.stem().string(),
          .title = "",
          .subject = "",
          .origin = "",
          .source = "",
          .tags = {},
          .space = std::move(space),
          .buggy = std::move(buggy),
          .fixed = std::move(fixed),
          .fixed_parameters = std::move(fixed_parameters),
          .tools = std::nullopt,
          .tools_reason = "",
          .declared = {},
          .actual = std::move(actual),
          .file = file};
}

/// What a fault file starts from: a bundled subject or a program of its own. `keys` is empty where
/// the default rule makes them.
struct Start {
  program::ProgramSpace space;
  std::vector<program::Key> keys;
};

Start read_start(const JsonSection& section, const fs::path& path) {
  const bool own = section.has("program");
  if (own == section.has("subject")) {
    section.fail_text("", own ? "a subject and a program" : "neither subject nor program",
                      "one of the two");
  }
  const std::string file = path.string();
  std::vector<program::Key> keys;
  if (section.has("keys")) keys = read_keys(section.list("keys"), file);
  if (own) {
    program::Program program = program_of(section, path);
    if (keys.empty()) return {program::ProgramSpace::with_default_keys(std::move(program)), {}};
    return {program::ProgramSpace(std::move(program), keys, file), keys};
  }
  const Subject subject = load_subject(section.text("subject"));
  if (keys.empty()) return {subject.space, subject.space.keys()};
  return {program::ProgramSpace(subject.space.base(), keys, file), keys};
}

Fault read_fault(const Json& json, const fs::path& path) {
  const std::string file = path.string();
  require_format(json, file, "neutra-fault");
  const JsonSection section(
      json, file, "",
      {"format", "version", "id", "title", "subject", "origin", "source", "declared", "tags",
       "program", "keys", "buggy", "fixed", "tools", "notes", "script"});
  const Start start = read_start(section, path);

  std::optional<program::ProgramSpace> space;
  if (section.has("buggy")) {
    const JsonSection changes(section.object("buggy"), file, "/buggy", kVersionFields);
    refuse_repeats(changes, start.keys);
    program::Program buggy = read_version(start.space, changes, path);
    space = start.keys.empty() ? program::ProgramSpace::with_default_keys(std::move(buggy))
                               : program::ProgramSpace(std::move(buggy), start.keys, file);
  }
  std::optional<program::Program> fixed;
  if (section.has("fixed")) {
    const JsonSection changes(section.object("fixed"), file, "/fixed", kVersionFields);
    fixed = read_version(start.space, changes, path);
  }

  Fault fault = make_fault(space ? *std::move(space) : start.space, std::move(fixed), path);
  if (section.has("id")) {
    fault.id = section.text("id");
    require_id(fault.id, file);
  }
  fault.title = section.text("title", "");
  fault.subject = section.text("subject", "");
  fault.origin = section.text("origin", "");
  if (fault.origin != "" && fault.origin != "real" && fault.origin != "artificial") {
    section.fail("origin", fault.origin, "real, artificial");
  }
  fault.source = section.text("source", "");
  fault.tags = section.texts("tags");
  if (section.has("tools")) {
    std::vector<std::string> fields = kVersionFields;
    fields.emplace_back("reason");
    const JsonSection changes(section.object("tools"), file, "/tools", fields);
    fault.tools_reason = changes.text("reason");
    fault.tools = read_version(fault.space, changes, path);
  }
  if (section.has("declared")) {
    fault.declared = program::parse_fault_set(section.text("declared"), file + ": /declared");
  }
  if (section.has("script")) {
    // Its places are in the program.
    if (!section.has("program")) section.fail_text("script", "no program", "with a program");
    fault.script.emplace(section.object("script"), file, "/script", path.parent_path());
  }
  return fault;
}

/// The list `name` of index.json.
std::vector<std::string> index_list(const std::string& name) {
  const fs::path path = resource_directory() / "index.json";
  const Json json = read_json(path);
  require_format(json, path.string(), "neutra-index");
  return JsonSection(json, path.string(), "", {"format", "version", "subjects", "faults"})
      .texts(name);
}

/// The id of the list that is `word` in any case; "" where there is none.
std::string match(const std::vector<std::string>& ids, const std::string& word) {
  for (const std::string& id : ids) {
    if (lower(id) == lower(word)) return id;
  }
  return "";
}

[[noreturn]] void unknown(const std::string& what, const std::string& word,
                          const std::vector<std::string>& ids) {
  throw input_error(
      describe("", "", "unknown " + what + " '" + word + "'",
               allowed_words(word, ids) + ", listed by neutra faults and neutra subjects"));
}

}  // namespace

fs::path resource_directory() {
  if (const std::string folder = environment("NEUTRA_RESOURCES"); !folder.empty()) {
    if (find_no_utf8(folder) == std::string::npos && fs::exists(fs::path(folder) / "index.json")) {
      return folder;
    }
    throw input_error(describe("", "NEUTRA_RESOURCES", printable(folder),
                               "a folder with neutra's index.json, with a name in UTF-8"));
  }
  const fs::path folder = own_program().parent_path().parent_path() / "share" / "neutra";
  // Names of files end up in stores and in JSON.
  if (find_no_utf8(folder.string()) != std::string::npos) {
    throw failure(printable(folder.string()) +
                  ": found a folder whose name is no UTF-8; install neutra elsewhere");
  }
  if (fs::exists(folder / "index.json")) return fs::canonical(folder);
  throw failure("the bundled subjects and faults are not in " + folder.string() +
                "; name their folder in NEUTRA_RESOURCES");
}

const program::Program& tools_program(const Fault& fault) {
  return fault.tools ? *fault.tools : fault.buggy;
}

std::string tools_difference(const Fault& fault) {
  if (!fault.tools) return "";
  const auto parameters = fault.space.parameters_of(*fault.tools);
  if (!parameters) return "another program";
  std::string text;
  for (const auto& [key, value] : *parameters) {
    const std::string& own = fault.space.base_parameters().at(key);
    if (value != own) text += (text.empty() ? "" : ", ") + key + "=" + value + " for " + own;
  }
  return text;
}

std::vector<std::string> subject_ids() { return index_list("subjects"); }

std::vector<std::string> fault_ids() { return index_list("faults"); }

bool is_bundled(const Fault& fault) {
  std::error_code ignored;
  return fs::equivalent(fault.file, resource_directory() / "faults" / (fault.id + ".json"),
                        ignored);
}

Subject load_subject(const std::string& id_or_file) {
  const std::vector<std::string> ids = subject_ids();
  if (const std::string id = match(ids, id_or_file); !id.empty()) {
    return read_subject(resource_directory() / "subjects" / (id + ".json"));
  }
  if (fs::path(id_or_file).extension() != ".json") unknown("subject", id_or_file, ids);
  return read_subject(id_or_file);
}

Fault load_fault(const std::string& id_or_file) {
  const std::vector<std::string> ids = fault_ids();
  if (const std::string id = match(ids, id_or_file); !id.empty()) {
    const fs::path path = resource_directory() / "faults" / (id + ".json");
    return read_fault(read_json(path), path);
  }
  const std::vector<std::string> subjects = subject_ids();
  if (const std::string id = match(subjects, id_or_file); !id.empty()) {
    Subject subject = load_subject(id);
    Fault fault = make_fault(std::move(subject.space), std::nullopt, subject.file);
    fault.title = std::move(subject.title);
    fault.subject = std::move(subject.id);
    fault.source = std::move(subject.source);
    return fault;
  }
  const fs::path path = id_or_file;
  std::error_code error;
  if (!fs::exists(path, error) && path.extension() != ".json" && !path.has_parent_path()) {
    std::vector<std::string> all = ids;
    all.insert(all.end(), subjects.begin(), subjects.end());
    unknown("fault or subject", id_or_file, all);
  }
  const Json json = read_json(path);
  const std::string allowed = "neutra-fault or neutra-program";
  if (program::is_keras_json(json)) {
    throw input_error(describe(path.string(), "", "a model of Keras's to_json()",
                               allowed + ": neutra import makes a program of it"));
  }
  const std::string format = format_of(json, path.string(), allowed);
  if (format == "neutra-program") {
    Fault fault =
        make_fault(program::ProgramSpace::with_default_keys(read_program(json, path.string())),
                   std::nullopt, path);
    fault.title = json.value("name", "");
    return fault;
  }
  if (format == "neutra-fault") return read_fault(json, path);
  throw input_error(describe(path.string(), "/format", format, allowed));
}

}  // namespace neutra::experiments
