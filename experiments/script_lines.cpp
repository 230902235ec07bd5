#include "experiments/script_lines.h"

#include <algorithm>
#include <tuple>

#include "experiments/fault_paths.h"
#include "program/document.h"

namespace neutra::experiments {
namespace {

auto order_of(const ScriptPlace& place) {
  return std::make_tuple(
      std::string_view(place.file), place.line, place.extent ? place.extent->column : 0,
      place.extent ? place.extent->end_line : 0, place.extent ? place.extent->end_column : 0);
}

Places sorted(Places places) {
  std::stable_sort(places.begin(), places.end(), [](const ScriptPlace* a, const ScriptPlace* b) {
    return order_of(*a) < order_of(*b);
  });
  places.erase(std::unique(places.begin(), places.end(),
                           [](const ScriptPlace* a, const ScriptPlace* b) {
                             return order_of(*a) == order_of(*b);
                           }),
               places.end());
  return places;
}

void add(Places& places, const Places& more) {
  places.insert(places.end(), more.begin(), more.end());
}

}  // namespace

Places places_of(const Script& script, const program::Program& program,
                 const std::vector<program::FaultEntry>& choice) {
  Places places;
  for (const program::FaultEntry& fault : choice) {
    if (fault.type.empty()) {  // a place of a ranking
      for (const int layer : fault.layers) add(places, places_of_layer(script, program, layer));
      continue;
    }
    for (const std::string& path : paths_of(fault, program)) {
      Places found = script.at(path);
      if (fault.layers.empty() && path.starts_with(program::layers_path(program.document))) {
        std::erase_if(found, [&](const ScriptPlace* place) {
          return place->kind == PlaceKind::kDefault || place->path != path;
        });
      }
      add(places, found);
    }
  }
  return sorted(std::move(places));
}

Places places_of(const Script& script, const program::Program& program,
                 const program::FaultSet& faults) {
  Places places;
  if (!faults.applicable) return places;
  for (const auto& choice : faults.items) add(places, places_of(script, program, choice));
  return sorted(std::move(places));
}

Places places_of_layer(const Script& script, const program::Program& program, int layer) {
  return sorted(script.at(program::layers_path(program.document) + "/" + std::to_string(layer)));
}

Places places_of(const Script& script, const program::Key& key) {
  Places places;
  for (const std::string& path : key.paths) add(places, script.at(path));
  return sorted(std::move(places));
}

Places places_of_change(const Script& script, const program::ProgramSpace& space,
                        const program::Parameters& from, const program::Parameters& to) {
  Places places;
  for (const program::Key& key : space.keys()) {
    const auto before = from.find(key.name), after = to.find(key.name);
    if (before == from.end() || after == to.end() || before->second == after->second) continue;
    add(places, places_of(script, key));
  }
  return sorted(std::move(places));
}

evaluators::CodeLines lines_of(const ScriptPlace& place) {
  return {place.file, place.line, place.extent ? place.extent->end_line : place.line};
}

std::vector<evaluators::CodeLines> lines_of(const Places& places) {
  std::vector<evaluators::CodeLines> lines;
  for (const ScriptPlace* place : places) {
    const evaluators::CodeLines one = lines_of(*place);
    if (std::find(lines.begin(), lines.end(), one) == lines.end()) lines.push_back(one);
  }
  return lines;
}

std::string lines_text(const Places& places) {
  std::string text, last;
  for (const ScriptPlace* place : places) {
    const std::string line = line_text(*place);
    if (line != last) text += (text.empty() ? "" : ", ") + line;
    last = line;
  }
  return text;
}

Json places_json(const Places& places) {
  Json list = Json::array();
  for (const ScriptPlace* place : places) {
    const auto& extent = place->extent;
    const auto number = [&](int Extent::*field) {
      return extent ? Json((*extent).*field) : Json(nullptr);
    };
    list.push_back({{"file", place->file},
                    {"line", place->line},
                    {"column", number(&Extent::column)},
                    {"end_line", number(&Extent::end_line)},
                    {"end_column", number(&Extent::end_column)},
                    {"kind", to_string(place->kind)}});
  }
  return list;
}

}  // namespace neutra::experiments
