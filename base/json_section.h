#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/words.h"

namespace neutra {

/// An object of a file with known fields, and its place for messages. Every mistake is an
/// input_error that says file, place, what was found and what is allowed.
class JsonSection {
 public:
  /// `fields`: all that may be there. The object must outlive the section.
  JsonSection(const Json& json, std::string file, std::string place,
              const std::vector<std::string>& fields)
      : json_(json), file_(std::move(file)), place_(std::move(place)) {
    if (!json.is_object()) fail("", json, "an object");
    for (const auto& [name, value] : json.items()) {
      if (std::find(fields.begin(), fields.end(), name) == fields.end()) {
        fail_text(name, "an unknown field", allowed_words(name, fields));
      }
    }
  }

  bool has(const std::string& name) const { return json_.contains(name); }
  const Json& at(const std::string& name) const {
    if (!has(name)) fail_text(name, "nothing", "a value");
    return json_.at(name);
  }
  /// Not empty.
  std::string text(const std::string& name) const {
    const Json& value = at(name);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
      fail(name, value, "a text");
    }
    return value;
  }
  std::string text(const std::string& name, const std::string& fallback) const {
    if (!has(name)) return fallback;
    if (!at(name).is_string()) fail(name, at(name), "a text");
    return at(name);
  }
  /// A word that `parse` knows: it gives an optional.
  template <typename Parse>
  auto word(const std::string& name, Parse parse, const std::string& allowed) const {
    const auto value = parse(text(name));
    if (!value) fail(name, at(name), allowed);
    return *value;
  }
  std::int64_t whole(const std::string& name, std::int64_t least, std::int64_t most) const {
    return whole_of(at(name), name, least, most);
  }
  double number(const std::string& name, double least = -kLargest, double most = kLargest) const {
    const Json& value = at(name);
    if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most)) {
      fail(name, value,
           "a number" + (least > -kLargest ? " from " + shortest(least) : "") +
               (most < kLargest ? " to " + shortest(most) : ""));
    }
    return value;
  }
  bool flag(const std::string& name) const {
    if (!at(name).is_boolean()) fail(name, at(name), "true, false");
    return at(name);
  }
  const Json& object(const std::string& name) const {
    if (!at(name).is_object()) fail(name, at(name), "an object");
    return at(name);
  }
  /// The items of a list; none if the field is missing.
  std::vector<Json> list(const std::string& name) const {
    if (!has(name)) return {};
    if (!at(name).is_array()) fail(name, at(name), "a list");
    return {at(name).begin(), at(name).end()};
  }
  std::vector<std::string> texts(const std::string& name) const {
    std::vector<std::string> result;
    for (const Json& item : list(name)) {
      if (!item.is_string()) fail(item_name(name, result.size()), item, "a text");
      result.push_back(item);
    }
    return result;
  }
  std::vector<std::int64_t> wholes(const std::string& name, std::int64_t least,
                                   std::int64_t most) const {
    std::vector<std::int64_t> result;
    for (const Json& item : list(name)) {
      result.push_back(whole_of(item, item_name(name, result.size()), least, most));
    }
    return result;
  }
  /// Checks "format" and "version".
  void require_format(const std::string& format, int version) const {
    if (text("format") != format) fail("format", at("format"), "\"" + format + "\"");
    whole("version", version, version);
  }

  const std::string& file() const { return file_; }
  std::string place_of(const std::string& name) const {
    return name.empty() ? place_ : place_ + "/" + name;
  }
  static std::string item_name(const std::string& list, std::size_t index) {
    return list + "/" + std::to_string(index);
  }
  [[noreturn]] void fail(const std::string& name, const Json& found,
                         const std::string& allowed) const {
    constexpr std::size_t kShown = 80;
    std::string text = found.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > kShown) text = text.substr(0, kShown) + "...";
    fail_text(name, text, allowed);
  }
  [[noreturn]] void fail_text(const std::string& name, const std::string& found,
                              const std::string& allowed) const {
    throw input_error(describe(file_, place_of(name), found, allowed));
  }

 private:
  static constexpr double kLargest = std::numeric_limits<double>::max();

  std::int64_t whole_of(const Json& value, const std::string& name, std::int64_t least,
                        std::int64_t most) const {
    const bool fits = value.is_number_integer() &&
                      value.get<double>() >= static_cast<double>(least) &&
                      value.get<double>() <= static_cast<double>(most);
    if (!fits) {
      fail(name, value,
           least == most
               ? std::to_string(least)
               : "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }

  const Json& json_;
  std::string file_, place_;
};

/// exact_number() of each.
inline Json exact_numbers(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(exact_number(value));
  return list;
}

}  // namespace neutra
