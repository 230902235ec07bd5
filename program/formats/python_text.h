#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "base/json.h"
#include "base/numbers.h"
#include "base/words.h"

/// Parts of scripts in Python.
namespace neutra::program {

/// A value as Python writes it; arrays are tuples.
inline std::string literal(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number_float()) return python_repr(value);
  if (!value.is_array()) return value.dump();
  std::string text = "(";
  for (std::size_t i = 0; i < value.size(); ++i) text += (i > 0 ? ", " : "") + literal(value[i]);
  return text + (value.size() == 1 ? ",)" : ")");
}

/// Collects the names of a module that a script imports.
class Names {
 public:
  const std::string& use(const std::string& name) { return *names_.insert(name).first; }
  std::string import_line(const std::string& module) const {
    if (names_.empty()) return "";
    return "from " + module + " import " + join({names_.begin(), names_.end()}) + "\n";
  }

 private:
  std::set<std::string> names_;
};

}  // namespace neutra::program
