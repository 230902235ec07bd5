#include "program/formats/pickle.h"

#include <bit>

namespace neutra::program {
namespace {

/// Writes the operations of pickle's stack machine: Python's Lib/pickletools.py names them.
class Pickler {
 public:
  void text(std::string_view value) {
    out_ += 'X';  // BINUNICODE
    number(value.size(), 4);
    out_ += value;
  }
  void integer(std::int64_t value) {
    out_ += "\x8a\x08";  // LONG1 of 8 bytes
    number(static_cast<std::uint64_t>(value), 8);
  }
  void value(const Json& value) {
    if (value.is_null()) {
      out_ += 'N';
    } else if (value.is_boolean()) {
      out_ += value.get<bool>() ? '\x88' : '\x89';
    } else if (value.is_number_integer()) {
      integer(value.get<std::int64_t>());
    } else if (value.is_number()) {
      out_ += 'G';  // BINFLOAT, big-endian
      const auto bits = std::bit_cast<std::uint64_t>(value.get<double>());
      for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(bits >> shift);
    } else if (value.is_string()) {
      text(value.get_ref<const std::string&>());
    } else if (value.is_array()) {
      out_ += "](";
      for (const Json& item : value) this->value(item);
      out_ += 'e';  // APPENDS
    } else {
      begin_dict();
      for (const auto& [key, item] : value.items()) {
        text(key);
        this->value(item);
      }
      end_dict();
    }
  }
  void begin_dict() { out_ += "}("; }
  void end_dict() { out_ += 'u'; }  // SETITEMS

  /// As ndarray.__reduce__ has it: an empty array gets version, shape, type, order and bytes.
  void array(const PickledArray& array) {
    global("numpy.core.multiarray", "_reconstruct");
    global("numpy", "ndarray");
    out_ += "(";
    integer(0);
    out_ += "t";
    bytes("b", 1);
    out_ += "\x87R(";  // TUPLE3, REDUCE; MARK
    integer(1);
    out_ += '(';
    for (const std::int64_t extent : array.extents) integer(extent);
    out_ += 't';
    global("numpy", "dtype");
    text("f4");
    out_ += "\x89\x88\x87R(";  // False, True
    integer(3);
    text("<");
    out_ += "NNN";
    integer(-1);
    integer(-1);
    integer(0);
    out_ += "tb\x89";  // BUILD; False: C order
    static_assert(std::endian::native == std::endian::little);
    bytes(reinterpret_cast<const char*>(array.values.data()), array.values.size_bytes());
    out_ += "tb";
  }

  std::string done() { return "\x80\x04" + out_ + "."; }

 private:
  void number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) out_ += static_cast<char>(value >> (8 * i));
  }
  void bytes(const char* data, std::size_t size) {
    out_ += '\x8e';  // BINBYTES8
    number(size, 8);
    out_.append(data, size);
  }
  void global(const char* module, const char* name) {
    out_ += 'c';
    out_ += module;
    out_ += '\n';
    out_ += name;
    out_ += '\n';
  }

  std::string out_;
};

}  // namespace

std::string pickle(const Json& value) {
  Pickler pickler;
  pickler.value(value);
  return pickler.done();
}

std::string pickle(const std::vector<std::pair<std::string, PickledArray>>& arrays) {
  Pickler pickler;
  pickler.begin_dict();
  for (const auto& [name, array] : arrays) {
    pickler.text(name);
    pickler.array(array);
  }
  pickler.end_dict();
  return pickler.done();
}

}  // namespace neutra::program
