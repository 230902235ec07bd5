#include "training/data/idx.h"

#include "training/data/fields.h"
#include "training/data/numbers.h"
#include "training/data/raw_data.h"

namespace neutra::training {
namespace {

std::string hex(std::uint64_t byte) {
  constexpr const char* kDigits = "0123456789abcdef";
  return {'0', 'x', kDigits[byte >> 4 & 15], kDigits[byte & 15]};
}

NumberType type_of(std::uint64_t code, const ByteReader& reader) {
  switch (code) {
    case 0x08:
      return {NumberType::kUnsigned, 1, true};
    case 0x09:
      return {NumberType::kSigned, 1, true};
    case 0x0b:
      return {NumberType::kSigned, 2, true};
    case 0x0c:
      return {NumberType::kSigned, 4, true};
    case 0x0d:
      return {NumberType::kFloat, 4, true};
    case 0x0e:
      return {NumberType::kFloat, 8, true};
    default:
      reader.fail("type " + hex(code),
                  "an IDX type: 0x08 (uint8), 0x09 (int8), 0x0b (int16), 0x0c (int32), 0x0d "
                  "(float32), 0x0e (float64)",
                  1);
  }
}

}  // namespace

Table read_idx(ByteReader& reader, Reading reading) {
  if (reader.read_number(2, true, "the header") != 0) {
    reader.fail("another start than two zero bytes", "an IDX file", 2);
  }
  const NumberType type = type_of(reader.read_number(1, true, "the header"), reader);
  std::vector<std::uint64_t> extents(reader.read_number(1, true, "the header"));
  for (std::uint64_t& extent : extents) extent = reader.read_number(4, true, "the extents");
  Table table = read_table(reader, type, extents, reading);
  if (reading == Reading::kAll) reader.require_end("the array");
  return table;
}

RawData read_idx_source(const Json& arguments, const SearchPath& search_path, Reading reading) {
  check_fields(arguments, "data.arguments",
               {{"train_images", FieldRule::kText},
                {"train_labels", FieldRule::kText},
                {"test_images", FieldRule::kText},
                {"test_labels", FieldRule::kText},
                {"allow_nan", FieldRule::kFlag}});
  const auto read = [&](const char* argument, Reading what) {
    const std::string file = text_argument(arguments, argument, "idx");
    ByteReader reader = ByteReader::open(find_file(idx_spellings(file), search_path));
    Table table = read_idx(reader, what);
    require_finite(table, reader.file(), arguments);
    return table;
  };
  const auto all = [&](Reading what) -> RawData {
    return {{read("train_images", what), read("train_labels", what)},
            {read("test_images", what), read("test_labels", what)},
            true};
  };
  RawData headers = all(Reading::kHeader);
  require_rows(headers);
  return reading == Reading::kHeader ? headers : all(reading);
}

}  // namespace neutra::training
