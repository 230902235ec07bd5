#include "base/json_section.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"

namespace neutra {

JsonSection::JsonSection(const Json& json, std::string file, std::string place,
                         const std::vector<std::string>& fields)
    : json_(json), file_(std::move(file)), place_(std::move(place)) {
  if (!json.is_object()) fail("", json, "an object");
  for (const auto& [name, value] : json.items()) {
    if (std::find(fields.begin(), fields.end(), name) == fields.end()) {
      fail_text(name, "an unknown field", allowed_words(name, fields));
    }
  }
}

const Json& JsonSection::at(const std::string& name) const {
  if (!has(name)) fail_text(name, "nothing", "a value");
  return json_.at(name);
}

std::string JsonSection::text(const std::string& name) const {
  const Json& value = at(name);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    fail(name, value, "a text");
  }
  return value;
}

std::string JsonSection::text(const std::string& name, const std::string& fallback) const {
  if (!has(name)) return fallback;
  if (!at(name).is_string()) fail(name, at(name), "a text");
  return at(name);
}

std::int64_t JsonSection::whole(const std::string& name, std::int64_t least,
                                std::int64_t most) const {
  return whole_of(at(name), name, least, most);
}

double JsonSection::number(const std::string& name, double least, double most) const {
  const Json& value = at(name);
  if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most)) {
    fail(name, value,
         "a number" + (least > -kLargest ? " from " + shortest(least) : "") +
             (most < kLargest ? " to " + shortest(most) : ""));
  }
  return value;
}

bool JsonSection::flag(const std::string& name) const {
  if (!at(name).is_boolean()) fail(name, at(name), "true, false");
  return at(name);
}

const Json& JsonSection::object(const std::string& name) const {
  if (!at(name).is_object()) fail(name, at(name), "an object");
  return at(name);
}

std::vector<Json> JsonSection::list(const std::string& name) const {
  if (!has(name)) return {};
  if (!at(name).is_array()) fail(name, at(name), "a list");
  return {at(name).begin(), at(name).end()};
}

std::vector<std::string> JsonSection::texts(const std::string& name) const {
  std::vector<std::string> result;
  for (const Json& item : list(name)) {
    if (!item.is_string()) fail(item_name(name, result.size()), item, "a text");
    result.push_back(item);
  }
  return result;
}

std::vector<std::int64_t> JsonSection::wholes(const std::string& name, std::int64_t least,
                                              std::int64_t most) const {
  std::vector<std::int64_t> result;
  for (const Json& item : list(name)) {
    result.push_back(whole_of(item, item_name(name, result.size()), least, most));
  }
  return result;
}

void JsonSection::require_format(const std::string& format, int version) const {
  if (text("format") != format) fail("format", at("format"), "\"" + format + "\"");
  whole("version", version, version);
}

std::string JsonSection::place_of(const std::string& name) const {
  return name.empty() ? place_ : place_ + "/" + name;
}

std::string JsonSection::item_name(const std::string& list, std::size_t index) {
  return list + "/" + std::to_string(index);
}

void JsonSection::fail(const std::string& name, const Json& found,
                       const std::string& allowed) const {
  constexpr std::size_t kShown = 80;
  std::string text = found.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  fail_text(name, text, allowed);
}

void JsonSection::fail_text(const std::string& name, const std::string& found,
                            const std::string& allowed) const {
  throw input_error(describe(file_, place_of(name), found, allowed));
}

std::int64_t JsonSection::whole_of(const Json& value, const std::string& name, std::int64_t least,
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

}  // namespace neutra
