#include "training/data/sources.h"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "program/error.h"
#include "program/hdf5_file.h"
#include "program/words.h"
#include "training/data/csv.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

std::string file_argument(const Json& arguments, const std::string& source) {
  if (arguments.contains("file") && arguments["file"].is_string()) return arguments["file"];
  throw input_error("data.arguments.file: missing; source " + source + " needs a file name");
}

RawData read_hdf5(const Json& arguments, const SearchPath& search_path) {
  check_fields(arguments, "data.arguments",
               {{"file", FieldRule::kText}, {"allow_nan", FieldRule::kFlag}});
  const bool allow_nan = arguments.value("allow_nan", false);
  const std::string name = file_argument(arguments, "hdf5");
  const fs::path path =
      find_file(name, search_path,
                "Put it there, name its folder with --data-dir or NEUTRA_DATA_DIR, or make it: an "
                "HDF5 file with datasets x and y, or x_train, y_train, x_test and y_test.");
  const Hdf5File file = Hdf5File::open(path);
  auto read = [&](const std::string& dataset) {
    Table table;
    for (const std::uint64_t n : file.extents(dataset)) {
      table.extents.push_back(static_cast<std::int64_t>(n));
    }
    if (table.extents.empty()) {
      throw input_error(describe(path.string(), dataset, "a scalar", "an array of rows"));
    }
    for (const std::int64_t n : table.extents) {
      if (n == 0) {
        throw input_error(describe(path.string(), dataset, "an extent of 0", "1 or more"));
      }
    }
    table.values = file.read_doubles(dataset);
    for (std::size_t i = 0; i < table.values.size() && !allow_nan; ++i) {
      if (std::isfinite(table.values[i])) continue;
      const std::size_t row = i / static_cast<std::size_t>(table.row_size());
      throw input_error(describe(path.string(), dataset + ", row " + std::to_string(row),
                                 python_repr(table.values[i]),
                                 "finite numbers, unless data.arguments.allow_nan is true"));
    }
    return table;
  };
  if (file.has("/x") && file.has("/y")) return {{read("/x"), read("/y")}, {}, false};
  std::vector<std::string> missing;
  const bool whole = file.has("/x") || file.has("/y");
  for (const char* dataset : {"/x", "/y", "/x_train", "/y_train", "/x_test", "/y_test"}) {
    const bool of_whole = std::string_view(dataset).size() == 2;
    if (of_whole == whole && !file.has(dataset)) missing.emplace_back(dataset);
  }
  if (!missing.empty()) {
    throw input_error(describe(path.string(), "", "no dataset " + join(missing),
                               "datasets x and y, or x_train, y_train, x_test and y_test"));
  }
  return {{read("/x_train"), read("/y_train")}, {read("/x_test"), read("/y_test")}, true};
}

RawData read_csv(const Json& arguments, const SearchPath& search_path) {
  const fs::path path =
      find_file(file_argument(arguments, "csv"), search_path,
                "Put it there, or name its folder with --data-dir or NEUTRA_DATA_DIR.");
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw input_error(describe(path.string(), "", "a file that can't be read", ""));
  return {parse_csv(text.str(), csv_options(arguments), path.string()), {}, false};
}

/// Sources whose readers come in a later version: the files they will need and where to get them.
struct Announced {
  const char* files;
  const char* origin;
};
const std::map<std::string, Announced>& announced() {
  static const std::map<std::string, Announced> kSources{
      {"idx",
       {"train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz, "
        "t10k-labels-idx1-ubyte.gz (folder mnist)",
        "the MNIST distribution"}},
      {"cifar10",
       {"data_batch_1.bin to data_batch_5.bin and test_batch.bin (folder cifar-10-batches-bin)",
        "the binary version of CIFAR-10 from the University of Toronto"}},
      {"reuters", {"reuters.npz", "the data sets that Keras downloads"}},
      {"npz", {"the named .npz file", "wherever the program's data come from"}},
  };
  return kSources;
}

}  // namespace

fs::path find_file(const std::string& file, const SearchPath& search_path,
                   const std::string& advice) {
  const fs::path path(file);
  std::string tried;
  auto consider = [&](const fs::path& candidate) {
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) return true;
    tried += "\n  " + candidate.string();
    return false;
  };
  if (path.is_absolute()) {
    if (consider(path)) return path;
  } else {
    for (const fs::path& folder : search_path) {
      if (consider(folder / path)) return folder / path;
    }
    if (search_path.empty() && consider(path)) return path;
  }
  throw input_error("data file " + file + " not found; looked for" + tried + "\n" + advice);
}

void check_fields(const Json& object, const std::string& place,
                  std::initializer_list<FieldRule> rules) {
  if (!object.is_object()) {
    throw input_error(describe("", place, object.dump().substr(0, 80), "an object"));
  }
  std::vector<std::string> names;
  for (const FieldRule& rule : rules) names.emplace_back(rule.name);
  for (const auto& [name, value] : object.items()) {
    const FieldRule* rule = rules.begin();
    while (rule != rules.end() && rule->name != name) ++rule;
    if (rule == rules.end()) {
      const std::string close = nearest(name, names);
      throw input_error(
          describe("", place, "unknown field '" + name + "'",
                   join(names) + (close.empty() ? "" : "; did you mean '" + close + "'?")));
    }
    const double number = value.is_number() ? value.get<double>() : 0;
    const bool in_range = value.is_number() && number >= rule->low && number <= rule->high;
    const std::string range = rule->low < -1e307 ? ""
                              : rule->high > 1e307
                                  ? " from " + shortest(rule->low)
                                  : " from " + shortest(rule->low) + " to " + shortest(rule->high);
    const auto require = [&](bool good, const std::string& allowed) {
      if (good) return;
      throw input_error(describe("", place + "." + name, value.dump().substr(0, 80), allowed));
    };
    switch (rule->type) {
      case FieldRule::kText:
        require(value.is_string(), "a string");
        break;
      case FieldRule::kFlag:
        require(value.is_boolean(), "true, false");
        break;
      case FieldRule::kNumber:
        require(in_range, "a number" + range);
        break;
      case FieldRule::kWhole:
        require(in_range && number == std::floor(number), "a whole number" + range);
        break;
      case FieldRule::kAny:
        break;
    }
  }
}

RawData read_source(const Json& data, const SearchPath& search_path) {
  if (!data.is_object() || !data.contains("source") || !data["source"].is_string()) {
    throw input_error("data.source: missing; allowed: csv, generator, hdf5");
  }
  const std::string source = data["source"];
  const Json arguments = data.value("arguments", Json::object());
  if (source == "hdf5") return read_hdf5(arguments, search_path);
  if (source == "csv") return read_csv(arguments, search_path);
  if (source == "generator") return generate(arguments);
  if (const auto it = announced().find(source); it != announced().end()) {
    std::string folders;
    for (const fs::path& folder : search_path) {
      folders += (folders.empty() ? "" : ", ") + folder.string();
    }
    throw input_error("data source " + source + " is not available yet. A later version reads " +
                      it->second.files + " from " +
                      (folders.empty() ? "the data folder" : folders) + "; get them from " +
                      it->second.origin + ".");
  }
  throw input_error("data.source: found \"" + source +
                    "\"; allowed: csv, generator, hdf5 (cifar10, idx, npz, reuters come later)");
}

}  // namespace neutra
