// Operators on programs whose layers are no chain: docs/methods/graphs.md, "Edits".

#include <gtest/gtest.h>

#include <stdexcept>

#include "mutators/model_mutants.h"
#include "mutators/mutation_operator.h"
#include "mutators/registry.h"
#include "program/document.h"

namespace neutra::mutators {
namespace {

/// A row goes through a layer twice, and past it.
program::Program graph() {
  const auto layer = [](const char* class_name, const char* name, Json config = Json::object()) {
    config["name"] = name;
    return Json{{"class_name", class_name}, {"config", std::move(config)}};
  };
  Json layers = {layer("InputLayer", "in", {{"batch_input_shape", {nullptr, 4}}}),
                 layer("Dense", "a", {{"units", 4}, {"activation", "relu"}}),
                 layer("Dense", "again"),
                 layer("Add", "sum"),
                 layer("BatchNormalization", "norm"),
                 layer("Dense", "out", {{"units", 2}, {"activation", "softmax"}})};
  layers[2]["weights_of"] = "a";
  layers[3]["inputs"] = {"again", "in"};
  program::Program p;
  p.document = {
      {"model", {{"class_name", "Functional"}, {"config", {{"layers", layers}}}}},
      {"compile",
       {{"optimizer", "adam"}, {"loss", "categorical_crossentropy"}, {"metrics", {"accuracy"}}}},
      {"data", {{"source", "generator"}, {"arguments", {{"name", "moons"}}}}}};
  return p;
}

/// Every mutant is a program, and none is made of a later call.
TEST(GraphOperators, MakePrograms) {
  const Target target = make_target(graph());
  int mutants = 0;
  for (const MutationOperator* op : mutation_operators()) {
    if (!op->by_layer) continue;
    EXPECT_TRUE(site_refusal(*op, target, 2)) << op->id;
    for (const Site site : find_sites(*op, target).sites) {
      for (const Candidate& candidate : candidates(*op, target, site)) {
        if (candidate.refusal) continue;
        const auto made = apply(*op, target, site, candidate.value, 1);
        ASSERT_TRUE(std::holds_alternative<program::Program>(made)) << op->id << " " << site;
        EXPECT_TRUE(program::validate(std::get<program::Program>(made).document).empty());
        ++mutants;
      }
    }
  }
  EXPECT_GT(mutants, 30);
}

const MutationOperator& operator_of(std::string_view id) {
  for (const MutationOperator* op : mutation_operators()) {
    if (op->id == id) return *op;
  }
  throw std::runtime_error("no such operator");
}

TEST(GraphOperators, Rewire) {
  const Target target = make_target(graph());
  const auto layers_after = [&](std::string_view id, Site site) {
    const auto made = apply(operator_of(id), target, site, Json());
    return program::resolve(std::get<program::Program>(made)).layers;
  };
  const auto removed = layers_after("remove_layer", 1);  // with its second call
  ASSERT_EQ(removed.size(), 4u);
  EXPECT_EQ(removed[1].inputs, (std::vector<std::size_t>{0, 0}));
  const auto doubled = layers_after("duplicate_layer", 1);
  ASSERT_EQ(doubled.size(), 8u);
  EXPECT_EQ(doubled[4].weights_of, std::optional<std::size_t>(2));
  EXPECT_EQ(doubled[5].inputs, (std::vector<std::size_t>{4, 0}));
  for (const char* id : {"remove_layer", "duplicate_layer"}) {
    const auto refusal = site_refusal(operator_of(id), target, 3);
    ASSERT_TRUE(refusal) << id;
    EXPECT_EQ(refusal->found, "layer 3, sum (Add), which takes several inputs");
  }
  EXPECT_EQ(site_refusal(operator_of("remove_layer"), target, 2)->found,
            "layer 2, again (Dense), which is layer 1 once more");
}

/// Mutants of the trained model keep the calls of a layer together, and run from the first layer.
TEST(GraphOperators, MutantsOfModelsHaveAllCalls) {
  const program::Program program = graph();
  int structures = 0;
  for (const ModelMutant& mutant : deepmufl_mutants(program, program::resolve(program), false)) {
    EXPECT_EQ(mutant.first, 0u);
    EXPECT_NE(mutant.layer, 2u);
    if (!mutant.structure) continue;
    ++structures;
    const auto layers = program::find_layers(mutant.structure->program.document)->size();
    EXPECT_EQ(mutant.structure->origin.size(), layers) << mutant.op;
  }
  EXPECT_GT(structures, 10);
}

}  // namespace
}  // namespace neutra::mutators
