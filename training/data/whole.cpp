#include "training/data/whole.h"

#include <string>

#include "base/byte_reader.h"
#include "base/error.h"
#include "training/data/cifar10.h"
#include "training/data/sources.h"

namespace neutra::training {
namespace {

constexpr std::uint64_t kLargest = std::uint64_t{4} << 30;  ///< bytes of a file, unpacked

}  // namespace

void require_whole(const Json& data, const SearchPath& search_path) {
  const std::string source = data.value("source", "");
  if (source == "reuters") {
    Json smallest = data;  // all of the file is read for any number of words
    smallest["arguments"]["num_words"] = 1;
    read_source(smallest, search_path);
    return;
  }
  const bool large = source == "idx" || source == "cifar10";
  read_source(data, search_path, large ? Reading::kHeader : Reading::kAll);
  if (!large) return;
  for (const auto& [name, file] : data_files(data, search_path)) {
    ByteReader reader = ByteReader::open(file);
    const std::size_t bytes = reader.rest(kLargest, "the data").size();
    if (source == "cifar10" && bytes % kCifar10Row != 0) {
      throw input_error(describe(file.string(), "", std::to_string(bytes) + " bytes",
                                 "rows of " + std::to_string(kCifar10Row) + " bytes"));
    }
  }
}

}  // namespace neutra::training
