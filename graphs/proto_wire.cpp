#include <bit>
#include <cstring>

#include "base/byte_reader.h"
#include "base/error.h"
#include "graphs/proto_message.h"

namespace neutra::graphs {
namespace {

/// Levels of messages that protocol buffers' own reader allows.
constexpr int kMostLevels = 100;

/// Reads the messages of one file.
class WireReader {
 public:
  WireReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  Message read(const MessageRule& rule) { return message(rule, bytes_.size(), 0); }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& found, const std::string& allowed) {
    throw input_error(describe(file_, "byte " + std::to_string(at), found, allowed));
  }

  std::uint64_t varint(std::size_t end) {
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ >= end) fail(begin, "a number that is cut off", "a whole file");
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail(begin, "a number of more than 10 bytes", "a protocol buffer");
  }

  std::uint64_t fixed(std::size_t end, int count) {
    if (end - at_ < static_cast<std::size_t>(count))
      fail(at_, "a number that is cut off", "a whole file");
    const std::uint64_t value = unsigned_number(bytes_.data() + at_, count, false);
    at_ += static_cast<std::size_t>(count);
    return value;
  }

  Message message(const MessageRule& rule, std::size_t end, int level) {
    if (level > kMostLevels) fail(at_, "more than 100 levels of messages", "100 at most");
    Message result;
    while (at_ < end) {
      const std::size_t begin = at_;
      const std::uint64_t key = varint(end);
      const auto wire = static_cast<int>(key & 7);
      if (key >> 3 == 0 || key >> 3 > (1U << 29) - 1)
        fail(begin, "a field without a number in a " + rule.name, "a protocol buffer");
      const FieldRule* field = nullptr;
      for (const FieldRule& each : rule.fields)
        if (static_cast<std::uint64_t>(each.number) == key >> 3) field = &each;
      value(result, rule, field, wire, begin, end, level);
    }
    return result;
  }

  void value(Message& result, const MessageRule& rule, const FieldRule* field, int wire,
             std::size_t begin, std::size_t end, int level) {
    if (wire == 2) {
      const std::uint64_t length = varint(end);
      if (length > end - at_)
        fail(begin,
             "a field of " + std::to_string(length) + " bytes, where " + std::to_string(end - at_) +
                 " are left",
             "a whole file");
      const std::size_t stop = at_ + static_cast<std::size_t>(length);
      if (field) delimited(result, *field, stop, level);
      at_ = stop;
      return;
    }
    if (wire != 0 && wire != 1 && wire != 5)
      fail(begin, "a field of wire type " + std::to_string(wire) + " in a " + rule.name,
           "a protocol buffer of version 3");
    const bool wrong = field && (wire != wire_of(field->kind));
    if (wrong)
      fail(begin, "another type for the field " + field->name + " of a " + rule.name,
           "what its .proto says");
    if (field) {
      number(result.at(field->number), *field, end);
    } else if (wire == 0) {
      varint(end);
    } else {
      fixed(end, wire == 1 ? 8 : 4);
    }
  }

  static int wire_of(FieldKind kind) {
    switch (kind) {
      case FieldKind::kInteger:
        return 0;
      case FieldKind::kFloat:
        return 5;
      case FieldKind::kDouble:
        return 1;
      default:
        return 2;
    }
  }

  void number(Message::Field& into, const FieldRule& field, std::size_t end) {
    if (field.kind == FieldKind::kInteger) {
      into.integers.push_back(static_cast<std::int64_t>(varint(end)));
    } else if (field.kind == FieldKind::kFloat) {
      into.numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(fixed(end, 4))));
    } else {
      into.numbers.push_back(std::bit_cast<double>(fixed(end, 8)));
    }
  }

  void delimited(Message& result, const FieldRule& field, std::size_t stop, int level) {
    if (field.kind == FieldKind::kMessage) {
      // The message is read before its place is made: reading may move the fields.
      Message inner = message(*field.message, stop, level + 1);
      result.at(field.number).messages.push_back(std::move(inner));
    } else if (field.kind == FieldKind::kBytes) {
      result.at(field.number).texts.emplace_back(bytes_.substr(at_, stop - at_));
    } else {
      Message::Field& into = result.at(field.number);
      while (at_ < stop) number(into, field, stop);
    }
  }

  std::string_view bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace

Message read_wire(std::string_view bytes, const MessageRule& rule, const std::string& file) {
  return WireReader(bytes, file).read(rule);
}

}  // namespace neutra::graphs
