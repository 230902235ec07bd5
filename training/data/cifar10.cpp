#include "training/data/cifar10.h"

#include <array>

#include "base/error.h"
#include "training/data/fields.h"

namespace neutra::training {
namespace {

constexpr std::size_t kSide = 32, kPixels = kSide * kSide, kChannels = 3;
static_assert(kCifar10Row == 1 + kPixels * kChannels);

/// Files whose rows follow each other.
Part read_files(const Json& arguments, const char* name, const SearchPath& search_path,
                Reading reading) {
  const auto fail = [&](const std::string& found) {
    throw input_error(describe("", std::string("data.arguments.") + name, found,
                               "a list of CIFAR-10 batch files"));
  };
  if (!arguments.contains(name)) fail("nothing");
  const Json& files = arguments[name];
  if (!files.is_array() || files.empty()) fail(files.dump().substr(0, 80));
  Part part;
  std::uint64_t bytes = 0;
  for (const Json& file : files) {
    if (!file.is_string()) fail(file.dump().substr(0, 80));
    const std::filesystem::path path = find_file({file.get<std::string>()}, search_path);
    if (reading == Reading::kHeader) {
      bytes += std::filesystem::file_size(path);
      continue;
    }
    ByteReader reader = ByteReader::open(path);
    read_cifar10(reader, part);
  }
  if (reading == Reading::kHeader) {
    // There is no header: rows of one length. A packed file doesn't tell their number.
    const auto rows = static_cast<std::int64_t>(bytes % kCifar10Row == 0 ? bytes / kCifar10Row : 0);
    part.x.extents = {rows, kSide, kSide, kChannels};
    part.y.extents = {rows};
  }
  return part;
}

}  // namespace

void read_cifar10(ByteReader& reader, Part& part) {
  std::array<char, kCifar10Row> row;
  std::int64_t rows = part.x.rows();
  do {
    const std::uint64_t label = reader.read_number(1, true, "row " + std::to_string(rows));
    if (label > 9) reader.fail("the label " + std::to_string(label), "0 to 9", 1);
    part.y.values.push_back(static_cast<double>(label));
    reader.read(std::span(row).first(kCifar10Row - 1), "row " + std::to_string(rows));
    for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
      for (std::size_t channel = 0; channel < kChannels; ++channel) {
        part.x.values.push_back(static_cast<unsigned char>(row[channel * kPixels + pixel]));
      }
    }
    ++rows;
    if (static_cast<double>(rows) * (kCifar10Row - 1) > kMaxNumbers) {
      reader.fail(std::to_string(rows) + " images", "a table of at most 2147483648 numbers");
    }
  } while (!reader.at_end());
  part.x.extents = {rows, kSide, kSide, kChannels};
  part.y.extents = {rows};
}

RawData read_cifar10_source(const Json& arguments, const SearchPath& search_path, Reading reading) {
  check_fields(arguments, "data.arguments",
               {{"train", FieldRule::kAny}, {"test", FieldRule::kAny}});
  return {read_files(arguments, "train", search_path, reading),
          read_files(arguments, "test", search_path, reading), true};
}

}  // namespace neutra::training
