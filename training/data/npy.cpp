#include "training/data/npy.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

#include "base/error.h"
#include "program/program.h"
#include "training/data/fields.h"
#include "training/data/numbers.h"
#include "training/data/raw_data.h"

namespace neutra::training {
namespace {

constexpr std::uint64_t kMaxHeader = 1U << 16;  ///< bytes; NumPy writes a few hundred at most
constexpr std::size_t kMaxRank = 64;            ///< of NumPy's arrays
constexpr std::uint64_t kMaxPickle = 1U << 28;  ///< bytes; Keras's largest has 60 million

constexpr const char* kTypes =
    "booleans ('|b1'), integers ('<i4', '>u2', ...) and floats ('<f2', '<f4', '<f8') of either "
    "byte "
    "order";

/// What an .npy file says about its array.
struct Header {
  NumberType type;
  bool objects = false;  ///< pickled: no numbers, and no type
  bool fortran_order = false;
  std::vector<std::uint64_t> extents;
};

/// Reads the header's Python literal, e.g. {'descr': '<f8', 'fortran_order': False, 'shape': (3,
/// 4), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const ByteReader& reader) : text_(text), reader_(reader) {}

  Header parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !descr) {
        type(header);
        descr = true;
      } else if (key == "fortran_order" && !order) {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape" && !shape) {
        header.extents = extents();
        shape = true;
      } else {
        fail("the field '" + key + "'", "descr, fortran_order and shape, once each");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) fail("text behind the header's braces", "spaces");
    if (!descr || !order || !shape) {
      fail("no " + std::string(!descr   ? "descr"
                               : !order ? "fortran_order"
                                        : "shape"),
           "descr, fortran_order and shape");
    }
    return header;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(rest(), std::string("'") + c + "' in the header");
  }
  std::string rest() const {
    return at_ == text_.size() ? "the header's end"
                               : Json(std::string(text_.substr(at_, 20)))
                                     .dump(-1, ' ', true, Json::error_handler_t::replace);
  }

  std::string quoted() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end =
        quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail(rest(), "a quoted text in the header");
    const std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail(rest(), "True, False");
  }

  std::uint64_t whole_number() {
    skip_space();
    std::uint64_t value = 0;
    const auto [end, status] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) fail(rest(), "a whole number below 2^64");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2's long integers
    return value;
  }

  std::vector<std::uint64_t> extents() {
    std::vector<std::uint64_t> result;
    expect('(');
    while (!accept(')')) {
      if (result.size() == kMaxRank) fail("more than 64 extents", "at most 64");
      result.push_back(whole_number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  void type(Header& header) {
    if (accept('[')) fail("a structure", kTypes);
    const std::string text = quoted();
    header.objects = text.find('O') != std::string::npos;
    if (header.objects) return;
    const bool swapped = text.starts_with('>');
    const std::string_view rest = std::string_view(text).substr(
        text.empty() || std::string_view("<>|=").find(text[0]) == std::string_view::npos ? 0 : 1);
    for (const auto& [name, kind, bytes] : {std::tuple{"b1", NumberType::kBool, 1},
                                            {"i1", NumberType::kSigned, 1},
                                            {"i2", NumberType::kSigned, 2},
                                            {"i4", NumberType::kSigned, 4},
                                            {"i8", NumberType::kSigned, 8},
                                            {"u1", NumberType::kUnsigned, 1},
                                            {"u2", NumberType::kUnsigned, 2},
                                            {"u4", NumberType::kUnsigned, 4},
                                            {"u8", NumberType::kUnsigned, 8},
                                            {"f2", NumberType::kFloat, 2},
                                            {"f4", NumberType::kFloat, 4},
                                            {"f8", NumberType::kFloat, 8}}) {
      if (rest != name) continue;
      header.type = {kind, bytes, swapped};
      return;
    }
    fail("type " + Json(text).dump(-1, ' ', true, Json::error_handler_t::replace), kTypes);
  }

  [[noreturn]] void fail(const std::string& found, const std::string& allowed) const {
    reader_.fail(found, allowed, text_.size() - at_);
  }

  std::string_view text_;
  const ByteReader& reader_;
  std::size_t at_ = 0;
};

/// The same table with its last extent running fastest, given with its first one doing so.
Table row_major(const Table& table) {
  Table result{table.extents, std::vector<double>(table.values.size())};
  const std::size_t rank = table.extents.size();
  std::vector<std::int64_t> index(rank);
  std::vector<std::size_t> stride(rank, 1);
  for (std::size_t i = rank - 1; i-- > 0;) {
    stride[i] = stride[i + 1] * static_cast<std::size_t>(table.extents[i + 1]);
  }
  std::size_t to = 0;
  for (const double value : table.values) {
    result.values[to] = value;
    for (std::size_t i = 0; i < rank; ++i) {
      to += stride[i];
      if (++index[i] < table.extents[i]) break;
      to -= stride[i] * static_cast<std::size_t>(table.extents[i]);
      index[i] = 0;
    }
  }
  return result;
}

}  // namespace

void write_npy(const std::filesystem::path& path, const Array& array) {
  static_assert(std::endian::native == std::endian::little);
  std::string shape;
  for (const std::int64_t extent : array.extents) shape += std::to_string(extent) + ", ";
  if (array.extents.size() > 1) shape.resize(shape.size() - 2);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kStart = 10, kAlignment = 64;  // magic, version, length; as NumPy pads
  header.append(kAlignment - 1 - (kStart + header.size()) % kAlignment, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  std::ofstream out(path, std::ios::binary);
  out.write("\x93NUMPY\x01\x00", 8);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << header;
  out.write(reinterpret_cast<const char*>(array.values.data()),
            static_cast<std::streamsize>(array.values.size() * sizeof(float)));
  out.close();
  if (!out) {
    throw failure(
        describe(path.string(), "", std::string("cannot be written: ") + std::strerror(errno), ""));
  }
}

namespace {

Header read_header(ByteReader& reader) {
  std::string magic(6, '\0');
  reader.read(magic, "the header");
  if (magic != "\x93NUMPY") reader.fail("another start than NumPy's", "an .npy file", 6);
  const std::uint64_t version = reader.read_number(1, false, "the header");
  if (version < 1 || version > 3) {
    reader.fail("version " + std::to_string(version), "1, 2, 3", 1);
  }
  reader.read_number(1, false, "the header");  // the minor version says nothing
  const int bytes = version == 1 ? 2 : 4;
  const std::uint64_t length = reader.read_number(bytes, false, "the header");
  if (length > kMaxHeader) {
    reader.fail("a header of " + std::to_string(length) + " bytes",
                "at most " + std::to_string(kMaxHeader), static_cast<std::uint64_t>(bytes));
  }
  reader.require(length, "a header");
  std::string text(length, '\0');
  reader.read(text, "the header");
  return HeaderParser(text, reader).parse();
}

}  // namespace

Table read_npy(ByteReader& reader, Reading reading) {
  const Header header = read_header(reader);
  if (header.objects) {
    reader.fail(
        "pickled Python objects, which are never unpickled (source reuters reads Keras's "
        "reuters.npz)",
        kTypes);
  }
  Table table = read_table(reader, header.type, header.extents, reading);
  if (reading == Reading::kHeader) return table;
  reader.require_end("the array");
  return header.fortran_order && table.extents.size() > 1 ? row_major(table) : table;
}

program::PickledLists read_npy_lists(ByteReader& reader) {
  const Header header = read_header(reader);
  const std::uint64_t start = reader.offset();
  program::PickledLists lists;
  if (header.objects) {
    require_extents(reader, header.extents);
    lists = program::unpickle_lists(reader.rest(kMaxPickle, "a pickle"), reader.file(), start);
    if (lists.ends.size() != header.extents.front()) {
      reader.fail(std::to_string(lists.ends.size()) + " pickled lists",
                  std::to_string(header.extents.front()) + ", as the header says");
    }
    return lists;
  }
  if (header.type.kind == NumberType::kFloat) {
    reader.fail("floats", "whole numbers, or lists of them");
  }
  const Table table = read_table(reader, header.type, header.extents);
  reader.require_end("the array");
  for (const double value : (header.fortran_order ? row_major(table) : table).values) {
    lists.numbers.push_back(static_cast<std::int64_t>(value));
  }
  for (std::int64_t row = 1; row <= table.rows(); ++row) {
    lists.ends.push_back(static_cast<std::size_t>(row * table.row_size()));
  }
  return lists;
}

std::int64_t read_npy_rows(ByteReader& reader) {
  const Header header = read_header(reader);
  require_extents(reader, header.extents);
  return static_cast<std::int64_t>(header.extents.front());
}

template <typename Read>
auto NpzFile::read_member(const std::string& array, Read&& read) const {
  const std::string member = array + ".npy";
  if (!has(array)) throw input_error(describe(file_, member, "no such array", ""));
  ZipFile::Stream stream = zip_.open(member);
  ByteReader reader(file_ + ": " + member, stream.capacity, std::move(stream.read));
  return read(reader);
}

Table NpzFile::read(const std::string& array, Reading reading) const {
  return read_member(array, [&](ByteReader& reader) { return read_npy(reader, reading); });
}

program::PickledLists NpzFile::read_lists(const std::string& array) const {
  return read_member(array, read_npy_lists);
}

std::int64_t NpzFile::read_rows(const std::string& array) const {
  return read_member(array, read_npy_rows);
}

RawData read_npy_source(const Json& arguments, const SearchPath& search_path, Reading reading) {
  check_fields(arguments, "data.arguments",
               {{"x", FieldRule::kText},
                {"y", FieldRule::kText},
                {"x_train", FieldRule::kText},
                {"y_train", FieldRule::kText},
                {"x_test", FieldRule::kText},
                {"y_test", FieldRule::kText},
                {"sample_weight", FieldRule::kText},
                {"sample_weight_train", FieldRule::kText},
                {"sample_weight_test", FieldRule::kText},
                {"allow_nan", FieldRule::kFlag}});
  return read_arrays(
      "data.arguments", "file", [&](const std::string& name) { return arguments.contains(name); },
      [&](const std::string& name, Reading what) {
        ByteReader reader =
            ByteReader::open(find_file({text_argument(arguments, name, "npy")}, search_path));
        Table table = read_npy(reader, what);
        if (!is_weights(name)) require_finite(table, reader.file(), arguments);
        return table;
      },
      reading, program::has_sample_weights({{"arguments", arguments}}));
}

RawData read_npz_source(const Json& arguments, const SearchPath& search_path, Reading reading) {
  check_fields(arguments, "data.arguments",
               {{"file", FieldRule::kText},
                {"allow_nan", FieldRule::kFlag},
                {"sample_weight", FieldRule::kFlag}});
  const std::filesystem::path path =
      find_file({text_argument(arguments, "file", "npz")}, search_path);
  const NpzFile file(path);
  return read_arrays(
      path.string(), "array", [&](const std::string& name) { return file.has(name); },
      [&](const std::string& name, Reading what) {
        Table table = file.read(name, what);
        if (!is_weights(name)) require_finite(table, path.string() + ": " + name, arguments);
        return table;
      },
      reading, program::has_sample_weights({{"arguments", arguments}}));
}

}  // namespace neutra::training
