#include "program/key_values.h"

#include <algorithm>

#include "program/document.h"
#include "program/key_access.h"

namespace neutra::program {

Parameters values_in(const ProgramSpace& space, const Program& program) {
  Parameters values;
  const Json* base_layers = find_layers(space.base().document);
  const Json* layers = find_layers(program.document);
  const bool alike = base_layers != nullptr && layers != nullptr &&
                     std::equal(base_layers->begin(), base_layers->end(), layers->begin(),
                                layers->end(), [](const Json& a, const Json& b) {
                                  const Json *one = member(a, "class_name"),
                                             *other = member(b, "class_name");
                                  return one != nullptr && other != nullptr && *one == *other;
                                });
  for (const Key& key : space.keys()) {
    std::string path = key.paths.front();
    if (const auto split = split_layer_path(space.base().document, path)) {
      if (!alike) continue;
      path = layers_path(program.document) + "/" + std::to_string(split->layer) + split->rest;
    }
    const auto raw = read_value(program.document, key.kind, path);
    if (const auto text = raw ? spell(key, *raw) : std::nullopt) values[key.name] = *text;
  }
  return values;
}

}  // namespace neutra::program
