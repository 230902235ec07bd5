#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace neutra::graphs {

// A small reader of protocol buffers, binary and text, by tables of the fields that are wanted.
// Why not the library: docs/formats/computation_graph.md.

/// What a field holds.
enum class FieldKind { kInteger, kFloat, kDouble, kBytes, kMessage };

struct MessageRule;

/// A field that is read; all others are skipped.
struct FieldRule {
  int number = 0;
  std::string name;  ///< in the text form
  FieldKind kind = FieldKind::kInteger;
  const MessageRule* message = nullptr;  ///< of kMessage
  /// Words of the text form for whole numbers.
  const std::vector<std::pair<std::string, std::int64_t>>* words = nullptr;
};

struct MessageRule {
  std::string name;
  std::vector<FieldRule> fields;
};

/// The fields of a message, by their numbers.
class Message {
 public:
  const std::vector<std::int64_t>& integers(int field) const;
  const std::vector<double>& numbers(int field) const;
  const std::vector<std::string>& texts(int field) const;
  const std::vector<Message>& messages(int field) const;

  bool has(int field) const { return find(field) != nullptr; }
  /// The last value, as protocol buffers have it; 0, "" or an empty message where there is none.
  std::int64_t integer(int field) const;
  double number(int field) const;
  const std::string& text(int field) const;
  const Message& message(int field) const;

  struct Field;
  /// The field, which is made where it is missing.
  Field& at(int field);

 private:
  const Field* find(int field) const;

  std::vector<Field> fields_;
};

struct Message::Field {
  int number = 0;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::vector<std::string> texts;
  std::vector<Message> messages;
};

/// Reads the binary form. Throws input_error with file and byte for what ends too early, has more
/// than 100 levels, or is no protocol buffer.
Message read_wire(std::string_view bytes, const MessageRule& rule, const std::string& file);

/// Reads the text form. Throws input_error with file and line; fields that the rule lacks are
/// skipped.
Message read_proto_text(std::string_view text, const MessageRule& rule, const std::string& file);

}  // namespace neutra::graphs
