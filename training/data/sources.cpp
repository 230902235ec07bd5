#include "training/data/sources.h"

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/words.h"
#include "training/data/cifar10.h"
#include "training/data/csv.h"
#include "training/data/generators.h"
#include "training/data/hdf5.h"
#include "training/data/idx.h"
#include "training/data/npy.h"
#include "training/data/reuters.h"

namespace neutra::training {
namespace {

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
      {"hdf5", read_hdf5_source},
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
