#pragma once

#include <string>
#include <vector>

#include "program/program.h"
#include "program/vocabulary.h"

namespace neutra::program {

/// The document in normal form: canonical names, one spelling of everything, numbers normalised.
/// Appends every problem that shows without shapes; a value with a problem stays as it is written,
/// so that different wrong documents have different normal forms. Never throws.
Json normal_form(const Json& document, Defaults defaults, std::vector<Problem>& problems);

/// The same for one value of a field; `path` is its place in the document.
Json normal_value(const Field& field, const Json& value, Defaults defaults, const std::string& path,
                  std::vector<Problem>& problems);

}  // namespace neutra::program
