#include "training/data/fields.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"

namespace neutra::training {

std::string text_argument(const Json& arguments, const std::string& name, const char* source) {
  if (arguments.contains(name) && arguments[name].is_string()) return arguments[name];
  throw input_error("data.arguments." + name + ": missing; source " + source +
                    " needs a file name");
}

void check_fields(const Json& object, const std::string& place,
                  std::initializer_list<FieldRule> rules) {
  if (!object.is_object()) {
    throw input_error(describe("", place, object.dump().substr(0, 80), "an object"));
  }
  std::vector<std::string> names;
  for (const FieldRule& rule : rules) names.emplace_back(rule.name);
  for (const auto& item : object.items()) {
    const std::string& name = item.key();  // no structured binding: lambdas below use them
    const Json& value = item.value();
    const FieldRule* rule = rules.begin();
    while (rule != rules.end() && rule->name != name) ++rule;
    if (rule == rules.end()) {
      throw input_error(
          describe("", place, "unknown field '" + name + "'", allowed_words(name, names)));
    }
    const double number = value.is_number() ? value.get<double>() : 0;
    const bool in_range = value.is_number() && number >= rule->low && number <= rule->high;
    const std::string range = rule->low < -1e307 ? ""
                              : rule->high > 1e307
                                  ? " from " + shortest(rule->low)
                                  : " from " + shortest(rule->low) + " to " + shortest(rule->high);
    const auto require = [&](bool good, const std::string& allowed) {
      if (good) return;
      throw input_error(describe("", place + "." + name, value.dump().substr(0, 80), allowed));
    };
    switch (rule->type) {
      case FieldRule::kText:
        require(value.is_string(), "a string");
        break;
      case FieldRule::kFlag:
        require(value.is_boolean(), "true, false");
        break;
      case FieldRule::kNumber:
        require(in_range, "a number" + range);
        break;
      case FieldRule::kWhole:
        require(in_range && number == std::floor(number), "a whole number" + range);
        break;
      case FieldRule::kAny:
        break;
    }
  }
}

}  // namespace neutra::training
