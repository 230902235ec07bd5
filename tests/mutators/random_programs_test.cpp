#include <random>
#include <set>

#include "operator_cases.h"

namespace neutra::mutators {
namespace {

using tests::classifier;
using tests::images;
using tests::refusal;
using tests::regressor;
using tests::sites;

/// A random program of up to six layers that Keras accepts.
class RandomPrograms {
 public:
  explicit RandomPrograms(unsigned seed) : random_(seed) {}

  program::Program next() {
    while (true) {
      program::Program program{make()};
      if (program::validate(program.document).empty()) return program;
    }
  }

 private:
  bool maybe() { return random_() % 2 == 0; }
  Json one_of(std::initializer_list<Json> list) {
    return *(list.begin() + random_() % list.size());
  }

  Json dense(int units) {
    Json config = {{"units", units}};
    if (maybe()) config["activation"] = one_of({"relu", "tanh", "linear", nullptr, "softmax"});
    if (maybe()) config["use_bias"] = maybe();
    if (maybe()) config["kernel_regularizer"] = one_of({"l1", "l2", nullptr});
    if (maybe()) config["kernel_initializer"] = one_of({"zeros", "he_normal", "RandomNormal"});
    return {{"class_name", "Dense"}, {"config", config}};
  }

  Json make() {
    Json document = maybe() ? classifier().document : regressor().document;
    Json& model = document["model"]["config"];
    Json layers = Json::array();
    const unsigned input = random_() % 4;
    const bool images = input == 1, sequences = input == 2;
    if (images) {
      Json config = {{"kernel_size", one_of({2, 3, Json::array({3, 1})})},
                     {"padding", one_of({"same", "valid"})}};
      const Json kind = one_of({"Conv2D", "DepthwiseConv2D", "SeparableConv2D"});
      if (kind != "DepthwiseConv2D") config["filters"] = 3;
      layers.push_back({{"class_name", kind}, {"config", config}});
      layers.push_back({{"class_name", "Flatten"}});
    } else if (sequences) {
      layers.push_back({{"class_name", "Conv1D"},
                        {"config",
                         {{"filters", 3},
                          {"kernel_size", one_of({2, Json::array({3})})},
                          {"padding", one_of({"same", "valid", "causal"})}}}});
      layers.push_back({{"class_name", one_of({"LSTM", "GRU", "SimpleRNN"})},
                        {"config", {{"units", 4}, {"dropout", one_of({0, 0.5})}}}});
    }
    for (unsigned i = random_() % 3; i > 0; --i) {
      layers.push_back(dense(maybe() ? 8 : 5));
      const unsigned kind = random_() % 6;
      if (kind == 0) layers.push_back({{"class_name", "Dropout"}, {"config", {{"rate", 0.25}}}});
      if (kind == 1) {
        layers.push_back({{"class_name", "Activation"}, {"config", {{"activation", "elu"}}}});
      }
      if (kind == 2) layers.push_back({{"class_name", "BatchNormalization"}});
      if (kind == 3) layers.push_back({{"class_name", "LayerNormalization"}});
      if (kind == 4) {
        layers.push_back({{"class_name", "GaussianNoise"}, {"config", {{"stddev", 0.25}}}});
      }
    }
    layers.push_back(dense(3));
    layers[0]["config"]["batch_input_shape"] = images      ? Json::array({nullptr, 6, 6, 1})
                                               : sequences ? Json::array({nullptr, 6, 2})
                                                           : Json::array({nullptr, 4});
    if (model.is_array()) {
      model = layers;
    } else {
      model["layers"] = layers;
    }
    document["fit"]["epochs"] = static_cast<int>(random_() % 20) + 1;
    document["fit"]["batch_size"] = 1 << random_() % 8;
    if (maybe()) document["fit"]["schedule"] = {{"decay_rate", 0.9}};
    return document;
  }

  std::mt19937 random_;
};

std::set<std::string> types(const program::FaultSet& faults) {
  std::set<std::string> result;
  for (const auto& choice : faults.items) result.insert(choice.front().type);
  return result;
}

// What apply does, diff names: for each operator, at each site, with each value.
void check_mutants(const program::Program& program, std::set<std::string_view>& seen) {
  const program::DataInfo rows{program::resolve(program).input_shape, {3}, 500, false, -1, 1};
  const program::DataInfo* data =
      program::validate(program.document, &rows).empty() ? &rows : nullptr;
  const Target target = make_target(program, data);
  for (const MutationOperator* op : mutation_operators()) {
    for (const Site site : find_sites(*op, target).sites) {
      for (const Candidate& candidate : candidates(*op, target, site)) {
        auto result = apply(*op, target, site, candidate.value, 3);
        const program::Program* mutant = std::get_if<program::Program>(&result);
        ASSERT_EQ(mutant == nullptr, candidate.refusal.has_value());
        if (mutant == nullptr) continue;
        SCOPED_TRACE(to_string(Application{std::string(op->id), site, candidate.value, 3}) +
                     " on " + program.document.dump());
        seen.insert(op->id);
        EXPECT_NE(program::program_hash(*mutant), program::program_hash(program));
        EXPECT_TRUE(program::validate(mutant->document).empty());
        EXPECT_EQ(target.program.document, program.document);
        const program::Program again =
            std::get<program::Program>(apply(*op, target, site, candidate.value, 3));
        EXPECT_EQ(again.document, mutant->document);
        std::set<std::string> found = types(program::diff(*mutant, program));
        if (op->id == "change_optimisation_function") found.erase("HLR");
        ASSERT_EQ(found.size(), 1u);
        EXPECT_NE(("|" + std::string(op->fault_type) + "|").find("|" + *found.begin() + "|"),
                  std::string::npos)
            << *found.begin();
        // Validation rows that only the buggy program has are no fault.
        EXPECT_EQ(program::diff(program, *mutant).items.empty(), op->id == "remove_validation_set");
      }
    }
  }
}

TEST(MutationOperators, DiffNamesWhatApplyDid) {
  RandomPrograms programs(20);
  std::set<std::string_view> seen;
  for (int i = 0; i < 40; ++i) check_mutants(programs.next(), seen);
  EXPECT_EQ(seen.size(), mutation_operators().size());
}

TEST(MutationOperators, TakeWrappersForLayers) {
  program::Program program{regressor().document};
  Json& model = program.document["model"]["config"];
  const Json layers = Json::parse(R"([
      {"class_name": "TimeDistributed", "config": {"batch_input_shape": [null, 6, 2], "layer":
        {"class_name": "Dense", "config": {"units": 4, "activation": "relu"}}}},
      {"class_name": "SpatialDropout1D", "config": {"rate": 0.25}},
      {"class_name": "Masking", "config": {}},
      {"class_name": "Bidirectional", "config": {"layer":
        {"class_name": "LSTM", "config": {"units": 4, "dropout": 0.25}}}},
      {"class_name": "GaussianDropout", "config": {"rate": 0.25}},
      {"class_name": "Dense", "config": {"units": 3}}])");
  (model.is_array() ? model : model["layers"]) = layers;
  ASSERT_TRUE(program::validate(program.document).empty());
  std::set<std::string_view> seen;
  check_mutants(program, seen);
  for (const char* op :
       {"change_dropout_rate", "duplicate_layer", "freeze_layer", "remove_layer"}) {
    EXPECT_TRUE(seen.contains(op)) << op;
  }
}

}  // namespace
}  // namespace neutra::mutators
