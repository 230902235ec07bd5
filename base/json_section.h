#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/json.h"

namespace neutra {

/// An object of a JSON file with known fields, and its place in the file for messages. Every
/// mistake is an input_error that says file, place, what was found and what is allowed.
class JsonSection {
 public:
  /// `file` and `place` ("/layers/0") are for messages, `fields` all that the object may have: any
  /// other field is refused. The object must outlive the section.
  JsonSection(const Json& json, std::string file, std::string place,
              const std::vector<std::string>& fields);

  bool has(const std::string& name) const { return json_.contains(name); }

  // The value of a field. Refused where the field is missing or holds something else.

  const Json& at(const std::string& name) const;
  std::string text(const std::string& name) const;  ///< not empty
  /// `fallback` where the field is missing; may be empty.
  std::string text(const std::string& name, const std::string& fallback) const;
  /// A word that `parse` knows: it takes a text and gives an optional. `allowed` is for the
  /// message.
  template <typename Parse>
  auto word(const std::string& name, Parse parse, const std::string& allowed) const {
    const auto value = parse(text(name));
    if (!value) fail(name, at(name), allowed);
    return *value;
  }
  /// Between the limits, which are allowed; so below.
  std::int64_t whole(const std::string& name, std::int64_t least, std::int64_t most) const;
  double number(const std::string& name, double least = -kLargest, double most = kLargest) const;
  bool flag(const std::string& name) const;
  const Json& object(const std::string& name) const;

  // The items of a list; none where the field is missing.

  std::vector<Json> list(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;
  std::vector<std::int64_t> wholes(const std::string& name, std::int64_t least,
                                   std::int64_t most) const;

  /// Refuses another "format" and another "version".
  void require_format(const std::string& format, int version) const;

  const std::string& file() const { return file_; }
  /// The place of a field, for messages; "" is the section itself.
  std::string place_of(const std::string& name) const;
  /// The name of an item of a list, to be used like that of a field: "layers/0".
  static std::string item_name(const std::string& list, std::size_t index);
  /// Throws the input_error for a field that holds `found`.
  [[noreturn]] void fail(const std::string& name, const Json& found,
                         const std::string& allowed) const;
  /// The same with what was found in words.
  [[noreturn]] void fail_text(const std::string& name, const std::string& found,
                              const std::string& allowed) const;

 private:
  static constexpr double kLargest = std::numeric_limits<double>::max();

  std::int64_t whole_of(const Json& value, const std::string& name, std::int64_t least,
                        std::int64_t most) const;

  const Json& json_;
  std::string file_, place_;
};

}  // namespace neutra
