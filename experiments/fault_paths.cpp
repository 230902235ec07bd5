#include "experiments/fault_paths.h"

#include <algorithm>

#include "experiments/catalog.h"
#include "program/document.h"

namespace neutra::experiments {
namespace {

/// A list of fault_paths.json: "paths", pointers into the program, or "layer_fields", names of a
/// layer's config, none of them for the layer as a whole; null where it hasn't the type.
Json list_of(const char* list, const std::string& type) {
  static const Json all = read_json(resource_directory() / "fault_paths.json");
  return all.at(list).value(type, Json());
}

/// Pointers of the fields that a layer has; of a wrapper also those of the layer inside.
std::vector<std::string> fields_of(const Json& layer, const std::string& path,
                                   const std::vector<std::string>& fields) {
  std::vector<std::string> found;
  const Json* config = member(layer, "config");
  if (config == nullptr) return found;
  const std::string place = path + "/config/";
  for (const std::string& field : fields) {
    if (config->contains(field)) found.push_back(place + field);
  }
  for (const char* inner : {"layer", "backward_layer"}) {
    const Json* wrapped = member(*config, inner);
    if (wrapped == nullptr || !wrapped->is_object()) continue;
    for (std::string& one : fields_of(*wrapped, place + inner, fields)) {
      found.push_back(std::move(one));
    }
  }
  return found;
}

}  // namespace

std::vector<std::string> paths_of(const program::FaultEntry& fault,
                                  const program::Program& program) {
  std::vector<std::string> found;
  for (const Json& path : list_of("paths", fault.type)) found.push_back(path);
  const Json names = list_of("layer_fields", fault.type);
  const Json* layers = program::find_layers(program.document);
  if (names.is_null() || layers == nullptr || layers->empty()) return found;
  const auto wanted = names.get<std::vector<std::string>>();
  const std::string root = program::layers_path(program.document) + "/";
  if (fault.layers.empty()) {
    for (std::size_t i = 0; i < layers->size(); ++i) {
      for (std::string& path : fields_of((*layers)[i], root + std::to_string(i), wanted)) {
        found.push_back(std::move(path));
      }
    }
    return found;
  }
  for (const int layer : fault.layers) {
    const std::size_t i = std::min(static_cast<std::size_t>(layer), layers->size() - 1);
    const std::string path = root + std::to_string(i);
    const std::vector<std::string> fields = fields_of((*layers)[i], path, wanted);
    if (fields.empty()) found.push_back(path);
    found.insert(found.end(), fields.begin(), fields.end());
  }
  return found;
}

}  // namespace neutra::experiments
