#include "training/data/sources.h"

#include <cmath>
#include <map>

#include "program/error.h"
#include "program/hdf5_file.h"
#include "program/vocabulary.h"
#include "program/words.h"
#include "training/data/cifar10.h"
#include "training/data/csv.h"
#include "training/data/dataset.h"
#include "training/data/idx.h"
#include "training/data/npy.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

/// How to get the files of a folder that programs share.
struct Origin {
  const char* folder;
  const char* advice;
};
constexpr Origin kOrigins[] = {
    {"mnist",
     "Put MNIST's four files there: train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, "
     "t10k-images-idx3-ubyte.gz, t10k-labels-idx1-ubyte.gz, packed or not, e.g. from "
     "https://ossci-datasets.s3.amazonaws.com/mnist/; or name the folder that holds the folder "
     "mnist with --data-dir or NEUTRA_DATA_DIR."},
    {"fashion-mnist",
     "Install Debian's package dataset-fashion-mnist, or name the folder that holds the folder "
     "fashion-mnist with --data-dir or NEUTRA_DATA_DIR."},
    {"cifar-10-batches-bin",
     "Unpack https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz there, or name the folder "
     "that holds the folder cifar-10-batches-bin with --data-dir or NEUTRA_DATA_DIR."},
};

RawData read_hdf5(const Json& arguments, const SearchPath& search_path, Reading reading) {
  check_fields(arguments, "data.arguments",
               {{"file", FieldRule::kText}, {"allow_nan", FieldRule::kFlag}});
  const fs::path path = find_file({text_argument(arguments, "file", "hdf5")}, search_path);
  const Hdf5File file = Hdf5File::open(path);
  return read_arrays(
      path.string(), "dataset", [&](const std::string& name) { return file.has("/" + name); },
      [&](const std::string& name) {
        const std::string dataset = "/" + name;
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
        double elements = 1;
        for (const std::int64_t n : table.extents) elements *= static_cast<double>(n);
        if (elements > kMaxNumbers) {
          throw input_error(describe(path.string(), dataset, shortest(elements) + " elements",
                                     "up to " + shortest(kMaxNumbers)));
        }
        if (reading == Reading::kHeader) return table;
        table.values = file.read_doubles(dataset);
        require_finite(table, path.string() + ": " + dataset, arguments);
        return table;
      });
}

/// Known, so that its programs can be read and changed, but not readable.
RawData refuse_reuters(const Json&, const SearchPath&, Reading) {
  throw MissingData(
      "data source reuters is not available: Keras's reuters.npz holds pickled Python objects, "
      "which neutra doesn't read. Write the features and labels as arrays x_train, y_train, x_test "
      "and y_test of an .npz file and use source npz.");
}

/// Of programs whose data nobody knows, such as imported models.
RawData refuse_none(const Json&, const SearchPath&, Reading) {
  throw MissingData(
      "the program has no data: its data section says source none. Give it rows: a data section "
      "(docs/formats/data.md), or --data where the verb takes it.");
}

using ReadSource = RawData (*)(const Json& arguments, const SearchPath& search_path,
                               Reading reading);
const std::map<std::string, ReadSource>& readers() {
  static const std::map<std::string, ReadSource> kReaders{
      {"cifar10", read_cifar10_source},
      {"csv", read_csv_source},
      {"generator", [](const Json& arguments, const SearchPath&,
                       Reading reading) { return generate(arguments, reading); }},
      {"hdf5", read_hdf5},
      {"idx", read_idx_source},
      {"none", refuse_none},
      {"npy", read_npy_source},
      {"npz", read_npz_source},
      {"reuters", refuse_reuters}};
  return kReaders;
}

/// The arguments that name files, by source.
const std::map<std::string, std::vector<const char*>>& file_arguments() {
  static const std::map<std::string, std::vector<const char*>> kArguments{
      {"cifar10", {"train", "test"}},
      {"csv", {"file"}},
      {"hdf5", {"file"}},
      {"idx", {"train_images", "train_labels", "test_images", "test_labels"}},
      {"npy", {"x", "y", "x_train", "y_train", "x_test", "y_test"}},
      {"npz", {"file"}}};
  return kArguments;
}

std::vector<std::string> known_sources() {
  std::vector<std::string> names;
  for (const auto& [name, reader] : readers()) names.push_back(name);
  return names;
}

}  // namespace

fs::path find_file(const std::vector<std::string>& files, const SearchPath& search_path) {
  const std::string& file = files.front();
  const bool relative = fs::path(file).is_relative() && !search_path.empty();
  std::string tried;
  for (const fs::path& folder : relative ? search_path : SearchPath{""}) {
    for (const std::string& spelling : files) {
      std::error_code ignored;
      if (fs::is_regular_file(folder / spelling, ignored)) return folder / spelling;
    }
    tried += "\n  " + (folder / file).string();
  }
  std::string advice = "Put it there, or name its folder with --data-dir or NEUTRA_DATA_DIR.";
  for (const Origin& origin : kOrigins) {
    if (*fs::path(file).begin() == origin.folder) advice = origin.advice;
  }
  throw MissingData("data file " + file + " not found; looked for" + tried + "\n" + advice);
}

std::string text_argument(const Json& arguments, const std::string& name, const char* source) {
  if (arguments.contains(name) && arguments[name].is_string()) return arguments[name];
  throw input_error("data.arguments." + name + ": missing; source " + source +
                    " needs a file name");
}

void require_finite(const Table& table, const std::string& place, const Json& arguments) {
  if (arguments.value("allow_nan", false)) return;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (std::isfinite(table.values[i])) continue;
    const std::size_t row = i / static_cast<std::size_t>(table.row_size());
    throw input_error(describe(place, "row " + std::to_string(row), python_repr(table.values[i]),
                               "finite numbers, unless data.arguments.allow_nan is true"));
  }
}

RawData read_arrays(const std::string& place, const char* noun,
                    const std::function<bool(const std::string&)>& has,
                    const std::function<Table(const std::string&)>& read) {
  const bool whole = has("x") || has("y");
  std::vector<std::string> missing, surplus;
  for (const char* name : {"x", "y", "x_train", "y_train", "x_test", "y_test"}) {
    const bool of_whole = std::string_view(name).size() == 1;
    if (of_whole == whole && !has(name)) missing.emplace_back(name);
    if (of_whole != whole && has(name)) surplus.emplace_back(name);
  }
  if (!missing.empty()) {
    throw input_error(describe(place, "", std::string("no ") + noun + " " + join(missing),
                               "x and y, or x_train, y_train, x_test and y_test"));
  }
  if (!surplus.empty()) {
    throw input_error(describe(place, "", std::string(noun) + " " + join(surplus) + " beside x, y",
                               "x and y, or x_train, y_train, x_test and y_test"));
  }
  if (whole) return {{read("x"), read("y")}, {}, false};
  return {{read("x_train"), read("y_train")}, {read("x_test"), read("y_test")}, true};
}

void check_fields(const Json& object, const std::string& place,
                  std::initializer_list<FieldRule> rules) {
  if (!object.is_object()) {
    throw input_error(describe("", place, object.dump().substr(0, 80), "an object"));
  }
  std::vector<std::string> names;
  for (const FieldRule& rule : rules) names.emplace_back(rule.name);
  for (const auto& item : object.items()) {
    const std::string& name = item.key();  // no structured binding: lambdas below use them
    const Json& value = item.value();
    const FieldRule* rule = rules.begin();
    while (rule != rules.end() && rule->name != name) ++rule;
    if (rule == rules.end()) {
      throw input_error(
          describe("", place, "unknown field '" + name + "'", allowed_words(name, names)));
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

std::vector<std::pair<std::string, fs::path>> data_files(const Json& data,
                                                         const SearchPath& search_path) {
  std::vector<std::pair<std::string, fs::path>> files;
  const std::string source = data.value("source", "");
  const auto names = file_arguments().find(source);
  if (names == file_arguments().end()) return files;
  const Json arguments = data.value("arguments", Json::object());
  for (const char* name : names->second) {
    const Json* value = member(arguments, name);
    if (value == nullptr) continue;
    for (const Json& file : value->is_array() ? *value : Json::array({*value})) {
      if (!file.is_string()) continue;  // load_dataset() says what is wrong
      const std::string text = file;
      files.emplace_back(
          text, find_file(source == "idx" ? idx_spellings(text) : std::vector{text}, search_path));
    }
  }
  return files;
}

RawData read_source(const Json& data, const SearchPath& search_path, Reading reading) {
  if (!data.is_object() || !data.contains("source") || !data["source"].is_string()) {
    throw input_error("data.source: missing; allowed: " + join(known_sources()));
  }
  const std::string source = data["source"];
  const auto reader = readers().find(source);
  if (reader == readers().end()) {
    throw input_error(
        describe("", "data.source", "\"" + source + "\"", allowed_words(source, known_sources())));
  }
  return reader->second(data.value("arguments", Json::object()), search_path, reading);
}

}  // namespace neutra
