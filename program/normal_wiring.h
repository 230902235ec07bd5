#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// Puts what the layers of a document, `written`, say of their inputs and of the layers whose
/// weights they take into their normal form, `normal`: positions over the layers. What says what
/// holds anyway is left out. `path`: of the layers. Appends what is wrong with it.
void add_normal_wiring(const Json& written, Json& normal, const std::string& path,
                       std::vector<Problem>& problems);

/// Why a layer can't be the one that `weights_of` of layer `index` names; nullopt: it can.
std::optional<Problem> problem_of_call(const Json& written, std::size_t index,
                                       const std::string& path);

}  // namespace neutra::program
