#include "cli/mutate/actions.h"
#include "cli/texts.h"
#include "mutators/registry.h"

namespace neutra::cli {
namespace {

Json describe_parameter(const mutators::MutationOperator& op) {
  const mutators::OperatorParameter& parameter = op.parameter;
  Json entry = {{"name", parameter.name},
                {"type", to_string(parameter.type)},
                {"search", to_string(parameter.search)},
                {"values", parameter.values}};
  if (parameter.least != 0 || parameter.most != 0) {
    entry["minimum"] = parameter.least;
    entry["maximum"] = parameter.most;
  }
  return entry;
}

struct OperatorList {
  std::vector<const mutators::MutationOperator*> operators;
};

Json json_of(const OperatorList& all) {
  Json list = Json::array();
  for (const mutators::MutationOperator* op : all.operators) {
    Json parameters = Json::array();
    if (!op->parameter.name.empty()) parameters.push_back(describe_parameter(*op));
    list.push_back({{"id", op->id},
                    {"abbreviation", op->abbreviation},
                    {"group", to_string(op->group)},
                    {"site", op->by_layer ? "layer" : "program"},
                    {"fault_type", op->fault_type},
                    {"description", op->description},
                    {"parameters", std::move(parameters)},
                    {"random", op->random},
                    {"source", op->source}});
  }
  return list;
}

std::string text_of(const OperatorList& all) {
  TextTable table({"operator", "abbreviation", "group", "site", "parameter", "search", "tried"});
  for (const mutators::MutationOperator* op : all.operators)
    table.add({std::string(op->id), std::string(op->abbreviation),
               std::string(to_string(op->group)), op->by_layer ? "layer" : "program",
               std::string(op->parameter.name), std::string(to_string(op->parameter.search)),
               std::string(op->parameter.values)});
  return table.text();
}

}  // namespace

Result list_operators() { return result_of(OperatorList{mutators::mutation_operators()}); }

}  // namespace neutra::cli
