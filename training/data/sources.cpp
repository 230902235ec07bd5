#include "training/data/sources.h"

#include <cmath>
#include <map>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "base/numbers.h"
#include "base/words.h"
#include "program/vocabulary.h"
#include "training/data/cifar10.h"
#include "training/data/csv.h"
#include "training/data/idx.h"
#include "training/data/npy.h"
#include "training/data/reuters.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;

std::vector<std::int64_t> table_extents(const fs::path& file, const std::string& dataset,
                                        const std::vector<std::uint64_t>& extents) {
  const auto fail = [&](const std::string& found, const std::string& allowed) {
    throw input_error(describe(file.string(), dataset, found, allowed));
  };
  if (extents.empty()) fail("a scalar", "an array of rows");
  double elements = 1;
  for (const std::uint64_t n : extents) {
    if (n == 0) fail("an extent of 0", "1 or more");
    elements *= static_cast<double>(n);
  }
  if (elements > kMaxNumbers)
    fail(shortest(elements) + " elements", "up to " + shortest(kMaxNumbers));
  return {extents.begin(), extents.end()};
}

RawData read_hdf5(const Json& arguments, const SearchPath& search_path, Reading reading) {
  check_fields(arguments, "data.arguments",
               {{"file", FieldRule::kText}, {"allow_nan", FieldRule::kFlag}});
  const fs::path path = find_file({text_argument(arguments, "file", "hdf5")}, search_path);
  const Hdf5File file = Hdf5File::open(path);
  return read_arrays(
      path.string(), "dataset", [&](const std::string& name) { return file.has("/" + name); },
      [&](const std::string& name, Reading what) {
        const std::string dataset = "/" + name;
        Table table{table_extents(path, dataset, file.extents(dataset)), {}};
        if (what == Reading::kHeader) return table;
        table.values = file.read_doubles(dataset);
        require_finite(table, path.string() + ": " + dataset, arguments);
        return table;
      },
      reading);
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
      {"reuters", read_reuters_source}};
  return kReaders;
}

std::vector<std::string> known_sources() {
  std::vector<std::string> names;
  for (const auto& [name, reader] : readers()) names.push_back(name);
  return names;
}

}  // namespace

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

void require_rows(const RawData& data) {
  for (const auto& [part, name] : {std::pair{&data.train, "training"}, {&data.test, "test"}}) {
    if (part == &data.test && !data.parted) continue;
    const std::int64_t x = part->x.rows(), y = part->y.rows();
    if (x == y && x > 0) continue;
    throw input_error("data: found " + std::to_string(x) + " rows of features and " +
                      std::to_string(y) + " of targets for " + name +
                      "; allowed: the same number, at least one");
  }
}

RawData read_arrays(const std::string& place, const char* noun,
                    const std::function<bool(const std::string&)>& has,
                    const std::function<Table(const std::string&, Reading)>& read,
                    Reading reading) {
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
  const auto all = [&](Reading what) -> RawData {
    if (whole) return {{read("x", what), read("y", what)}, {}, false};
    return {{read("x_train", what), read("y_train", what)},
            {read("x_test", what), read("y_test", what)},
            true};
  };
  RawData headers = all(Reading::kHeader);
  require_rows(headers);
  return reading == Reading::kHeader ? headers : all(reading);
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

}  // namespace neutra::training
