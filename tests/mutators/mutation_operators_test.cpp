#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>

#include "base/error.h"
#include "mutators/mutants.h"
#include "mutators/registry.h"

namespace neutra::mutators {
namespace {

program::Program read_program(const std::string& name) {
  return {read_json(std::filesystem::path(NEUTRA_TEST_DATA) / (name + ".json"))};
}
program::Program classifier() { return read_program("classifier"); }
program::Program regressor() { return read_program("regressor"); }

program::DataInfo images() { return {{6, 6, 1}, {3}, 1000, true, 0, 1}; }

/// What the mutation changes in the document, as a JSON patch.
Json patch(const program::Program& program, const std::string& mutation,
           const program::DataInfo* data = nullptr) {
  const Mutant mutant = apply_all(program, {parse_application(mutation, 7)}, data);
  return Json::diff(program.document, mutant.program.document);
}
Json json(const char* text) { return Json::parse(text); }

/// The message of the refusal.
std::string refusal(const program::Program& program, const std::string& mutation,
                    const program::DataInfo* data = nullptr) {
  try {
    apply_all(program, {parse_application(mutation, 0)}, data);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput);
    return error.what();
  }
  return "accepted";
}

std::vector<Json> values(const program::Program& program, const char* op, Site site = kWholeProgram,
                         const std::string& subject = "") {
  std::vector<Json> list;
  for (const Candidate& candidate :
       candidates(find_mutation_operator(op), make_target(program, nullptr, subject), site)) {
    if (!candidate.refusal) list.push_back(candidate.value);
  }
  return list;
}
using Values = std::vector<Json>;

std::vector<Site> sites(const program::Program& program, const char* op) {
  return find_sites(find_mutation_operator(op), make_target(program)).sites;
}
std::string nowhere(const program::Program& program, const char* op) {
  return find_sites(find_mutation_operator(op), make_target(program)).reason;
}
using Layers = std::vector<Site>;

ValueRange range(const program::Program& program, const char* op, const std::string& subject = "") {
  return search_range(find_mutation_operator(op), make_target(program, nullptr, subject));
}

TEST(TrainingDataOperators, AppendStepsOfTheirOwn) {
  for (const char* op : {"change_label", "delete_training_data", "unbalance_train_data",
                         "make_output_classes_overlap"}) {
    const std::string mutation = std::string(op) + "=25";
    const Json step = {{"op", op}, {"percentage", 25.0}, {"seed", 7}};
    EXPECT_EQ(patch(classifier(), mutation),
              Json::array({{{"op", "add"}, {"path", "/data/mutations"}, {"value", {step}}}}));
    Json scale = step;
    scale["targets"] = "values";
    EXPECT_EQ(patch(regressor(), mutation),
              Json::array({{{"op", "add"}, {"path", "/data/mutations"}, {"value", {scale}}}}));
  }
  int percentages = 0;
  for (const MutationOperator* op : mutation_operators()) {
    if (op->edit != add_percentage_step || !op->random) continue;
    ++percentages;
    const Json step = {{"op", op->id}, {"percentage", 0.5}, {"seed", 7}};
    EXPECT_EQ(patch(classifier(), std::string(op->id) + "=0.5"),
              Json::array({{{"op", "add"}, {"path", "/data/mutations"}, {"value", {step}}}}));
  }
  EXPECT_GE(percentages, 11);
}

/// The one step of data.mutations that a mutation makes.
Json step_of(const program::Program& program, const std::string& mutation) {
  const Json added = patch(program, mutation);
  EXPECT_EQ(added.size(), 1u);
  return added.at(0).at("value").at(0);
}

TEST(TrainingDataOperators, StepsWithFieldsOfTheirOwn) {
  EXPECT_EQ(step_of(classifier(), "class_imbalance=10"),
            json(R"({"op": "class_imbalance", "ratio": 10.0, "seed": 7})"));
  EXPECT_EQ(step_of(regressor(), "class_imbalance=10"),
            json(R"({"op": "class_imbalance", "ratio": 10.0, "seed": 7, "targets": "values"})"));
  EXPECT_EQ(range(classifier(), "class_imbalance"), (ValueRange{1, 100, 1, 1}));
  EXPECT_NE(refusal(classifier(), "class_imbalance=1").find("the ratio 1, which changes nothing"),
            std::string::npos);
  EXPECT_NE(refusal(classifier(), "class_imbalance=0.5").find("a number from 1 to 1"),
            std::string::npos);
  EXPECT_EQ(step_of(classifier(), "missing_values_nan=5"),
            json(R"({"op": "missing_values", "percentage": 5.0, "seed": 7, "fill": "nan"})"));
  EXPECT_EQ(step_of(classifier(), "missing_values_sentinel=5"),
            json(R"({"op": "missing_values", "percentage": 5.0, "seed": 7, "fill": -999})"));
  // Those that draw no random numbers have no seed.
  EXPECT_EQ(step_of(classifier(), "covariate_drift=50"),
            json(R"({"op": "covariate_drift", "percentage": 50.0})"));
  EXPECT_EQ(step_of(classifier(), "concept_drift=50"),
            json(R"({"op": "concept_drift", "percentage": 50.0})"));
  EXPECT_EQ(step_of(regressor(), "concept_drift=50"),
            json(R"({"op": "concept_drift", "percentage": 50.0, "targets": "values"})"));
  EXPECT_EQ(step_of(classifier(), "clip_features=50"),
            json(R"({"op": "clip_features", "percentage": 50.0})"));
  EXPECT_EQ(step_of(regressor(), "zero_sample_weights"), json(R"({"op": "zero_sample_weights"})"));
  EXPECT_EQ(step_of(classifier(), "cast_features=uint8"),
            json(R"({"op": "cast_features", "percentage": 100, "type": "uint8"})"));
  EXPECT_EQ(values(regressor(), "cast_features"), (Values{"float16", "int32", "int8", "uint8"}));
  EXPECT_EQ(
      refusal(classifier(), "cast_features=uint16"),
      "cast_features=uint16: found the type \"uint16\"; allowed: float16, int32, int8, uint8");
}

TEST(ChangeLayout, WhatImagesCanHold) {
  EXPECT_EQ(values(classifier(), "change_layout"), (Values{"transposed"}));
  EXPECT_EQ(step_of(classifier(), "change_layout=transposed"),
            json(R"({"op": "change_layout", "percentage": 100, "layout": "transposed"})"));
  EXPECT_EQ(refusal(classifier(), "change_layout=reversed_channels"),
            "change_layout=reversed_channels: found the layout \"reversed_channels\"; allowed: "
            "transposed");
  program::Program coloured = classifier();
  Json& shape = coloured.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"];
  shape = {nullptr, 6, 8, 3};
  EXPECT_EQ(values(coloured, "change_layout"), (Values{"reversed_channels", "channels_first"}));
  EXPECT_EQ(nowhere(regressor(), "change_layout"), "does not apply: features of the shape (2)");
}

TEST(TrainingDataOperators, RangeEnds) {
  for (const char* op : {"TCL", "TUD", "TAN", "TCO", "DR", "LE", "DF", "NP", "CCN", "TCD", "TVD",
                         "TCN", "OOD", "TMV", "TMN", "TMS", "TCR", "TSF"}) {
    EXPECT_EQ(range(classifier(), op), (ValueRange{0, 100, 5, 2})) << op;
    EXPECT_EQ(refusal(classifier(), std::string(op) + "=100"), "accepted") << op;
    EXPECT_NE(refusal(classifier(), std::string(op) + "=100.5").find("from 0 to 100"),
              std::string::npos);
    EXPECT_NE(refusal(classifier(), std::string(op) + "=0").find("changes nothing"),
              std::string::npos);
  }
  for (const char* op : {"TRD", "DM"}) {
    EXPECT_EQ(range(classifier(), op), (ValueRange{0, 99, 5, 2})) << op;
    EXPECT_NE(refusal(classifier(), std::string(op) + "=100").find("from 0 to 99"),
              std::string::npos);
  }
}

TEST(ZeroSampleWeights, NotWhereTargetsAreClasses) {
  program::Program program = classifier();
  EXPECT_EQ(refusal(program, "zero_sample_weights"), "accepted");
  program.document["compile"]["loss"] = "sparse_categorical_crossentropy";
  EXPECT_NE(refusal(program, "zero_sample_weights").find("sparse_categorical_crossentropy"),
            std::string::npos);
}

TEST(TrainingDataOperators, WantClasses) {
  for (const char* op : {"label_error=50", "class_conditional_noise=50"}) {
    EXPECT_NE(refusal(regressor(), op).find("a regression"), std::string::npos) << op;
  }
  program::Program program = classifier();
  program.document["compile"]["loss"] = "sparse_categorical_crossentropy";
  program::DataInfo one_class{{6, 6, 1}, {}, 1000, true, 2, 2};
  for (const char* op : {"TCL=50", "TCO=50", "LE=50", "CCN=50", "TCD=50", "TCI=50", "TCN=50"}) {
    EXPECT_NE(refusal(program, op, &one_class).find("one class"), std::string::npos) << op;
  }
}

TEST(TrainingDataOperators, UnbalanceWantsASmallClass) {
  Target target = make_target(classifier());
  const auto messages = [&](std::vector<Application> applications) -> std::string {
    try {
      apply_all(target, applications);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  const Application unbalance = parse_application("TUD=50", 0);
  EXPECT_EQ(messages({unbalance}), "accepted");
  target.even_classes = true;
  EXPECT_EQ(messages({unbalance}),
            "unbalance_train_data=50: found training rows of classes of equal size; allowed: a "
            "program that unbalance_train_data applies to");
  EXPECT_NE(messages({parse_application("HNE=3", 0), unbalance}), "accepted");
  // Other rows may have other classes.
  EXPECT_EQ(messages({parse_application("TCL=50", 0), unbalance}), "accepted");
}

TEST(ChangeBatchSize, QuarterHalfDoubleFourfold) {
  EXPECT_EQ(values(classifier(), "HBS"), (Values{16, 32, 128, 256}));
  EXPECT_EQ(values(classifier(), "HBS", kWholeProgram, "mnist"), (Values{32, 256, 512}));
  program::Program tiny = classifier();
  tiny.document["fit"]["batch_size"] = 1;
  EXPECT_EQ(values(tiny, "HBS"), (Values{2, 4}));
  EXPECT_EQ(patch(classifier(), "HBS=32"),
            json(R"([{"op":"replace","path":"/fit/batch_size","value":32}])"));
  EXPECT_NE(refusal(classifier(), "HBS=0").find("a whole number in [1"), std::string::npos);
  EXPECT_NE(refusal(classifier(), "HBS=1.5").find("a whole number"), std::string::npos);
}

TEST(ChangeLearningRate, DownToATenth) {
  EXPECT_EQ(range(classifier(), "HLR"), (ValueRange{0.001, 0.0001, 1e-5, 5}));
  EXPECT_EQ(range(regressor(), "HLR"), (ValueRange{0.01, 0.001, 1e-4, 4}));
  EXPECT_EQ(range(classifier(), "HLR", "mnist"), (ValueRange{1.0, 0.001, 0.01, 3}));
  // The older name of the field goes.
  const Mutant mutant = apply_all(classifier(), {parse_application("HLR=0.0001", 0)});
  EXPECT_EQ(mutant.program.document["compile"]["optimizer"]["config"],
            json(R"({"clipnorm": 1.0, "learning_rate": 0.0001})"));
  EXPECT_EQ(patch(regressor(), "HLR=0.5"), json(R"([{"op":"replace","path":"/compile/optimizer",
      "value":{"class_name":"sgd","config":{"learning_rate":0.5}}}])"));
  program::Program still = classifier();
  still.document["compile"]["optimizer"]["config"]["lr"] = 0;
  EXPECT_EQ(nowhere(still, "HLR"), "does not apply: the learning rate 0");
}

TEST(ChangeEpochs, DownToOne) {
  EXPECT_EQ(range(classifier(), "HNE"), (ValueRange{12, 1, 1, 0}));
  program::Program longer = classifier();
  longer.document["fit"]["epochs"] = 50;
  EXPECT_EQ(range(longer, "HNE"), (ValueRange{50, 1, 5, 0}));
  EXPECT_EQ(patch(classifier(), "HNE=1"),
            json(R"([{"op":"replace","path":"/fit/epochs","value":1}])"));
  EXPECT_EQ(nowhere(regressor(), "HNE"), "does not apply: one epoch");
}

TEST(DisableBatching, NeedsTheData) {
  const program::DataInfo data = images();
  EXPECT_EQ(patch(classifier(), "HDB", &data),
            json(R"([{"op":"replace","path":"/fit/batch_size","value":1000}])"));
  EXPECT_NE(refusal(classifier(), "HDB").find("data are not at hand"), std::string::npos);
  program::Program whole = classifier();
  whole.document["fit"]["batch_size"] = 1000;
  EXPECT_NE(refusal(whole, "HDB", &data).find("one batch of all rows"), std::string::npos);
  // A fifth of the rows is watched: 900 hold the other 800.
  whole.document["fit"]["batch_size"] = 900;
  EXPECT_NE(refusal(whole, "HDB", &data).find("one batch of all rows"), std::string::npos);
  whole.document["fit"]["batch_size"] = 700;
  EXPECT_EQ(refusal(whole, "HDB", &data), "accepted");
}

TEST(ActivationOperators, Change) {
  EXPECT_EQ(sites(classifier(), "ACH"), (Layers{0, 4, 5, 6}));
  EXPECT_EQ(sites(regressor(), "ACH"), (Layers{1, 2, 4}));
  EXPECT_EQ(values(classifier(), "ACH", 0),
            (Values{"elu", "softmax", "selu", "softplus", "softsign", "tanh", "sigmoid",
                    "hard_sigmoid", "exponential", "linear"}));
  EXPECT_EQ(
      patch(classifier(), "ACH@4=elu"),
      json(
          R"([{"op":"replace","path":"/model/config/layers/4/config/activation","value":"elu"}])"));
  EXPECT_EQ(
      refusal(classifier(), "ACH@3=elu"),
      "change_activation_function@3=elu: found layer 3, flat (Flatten), which has no activation; "
      "allowed: layer 0, 4, 5, 6");
  EXPECT_NE(refusal(classifier(), "ACH@4=tanh").find("changes nothing"), std::string::npos);
  EXPECT_NE(refusal(classifier(), "ACH@4=rilu").find("did you mean"), std::string::npos);
  EXPECT_NE(refusal(classifier(), "ACH@7=elu").find("found layer 7; allowed: layers 0 to 6"),
            std::string::npos);
  EXPECT_NE(refusal(classifier(), "ACH=elu").find("found no layer"), std::string::npos);
}

TEST(ActivationOperators, RemoveAndAdd) {
  EXPECT_EQ(sites(classifier(), "ARM"), (Layers{0, 4, 6}));
  EXPECT_EQ(sites(classifier(), "AFRs"), (Layers{0, 4}));
  EXPECT_EQ(sites(classifier(), "AAL"), (Layers{5}));
  EXPECT_EQ(
      patch(classifier(), "ARM@6"),
      json(
          R"([{"op":"replace","path":"/model/config/layers/6/config/activation","value":"linear"}])"));
  EXPECT_EQ(
      patch(classifier(), "AFRs@0"),
      json(
          R"([{"op":"replace","path":"/model/config/layers/0/config/activation","value":"linear"}])"));
  EXPECT_EQ(
      patch(classifier(), "AAL@5=relu"),
      json(R"([{"op":"add","path":"/model/config/layers/5/config/activation","value":"relu"}])"));
  EXPECT_EQ(values(classifier(), "AAL", 5).size(), 10u);
  EXPECT_NE(refusal(classifier(), "ARM@5").find("which is linear"), std::string::npos);
  EXPECT_NE(refusal(classifier(), "AFRs@6").find("output layer"), std::string::npos);
  EXPECT_NE(refusal(classifier(), "AAL@4=relu").find("has the activation tanh"), std::string::npos);
}

TEST(RegularisationOperators, Weights) {
  EXPECT_EQ(sites(classifier(), "RAW"), (Layers{0, 5, 6}));
  EXPECT_EQ(values(classifier(), "RAW", 0), (Values{"l1", "l2", "l1_l2"}));
  EXPECT_EQ(
      patch(classifier(), "RAW@0=l1_l2"),
      json(
          R"([{"op":"add","path":"/model/config/layers/0/config/kernel_regularizer","value":"l1_l2"}])"));
  EXPECT_EQ(sites(classifier(), "RCW"), (Layers{4}));
  EXPECT_EQ(values(classifier(), "RCW", 4), (Values{"l1", "l1_l2"}));
  EXPECT_EQ(
      patch(classifier(), "RCW@4=l1"),
      json(
          R"([{"op":"replace","path":"/model/config/layers/4/config/kernel_regularizer","value":"l1"}])"));
  EXPECT_EQ(sites(classifier(), "RRW"), (Layers{4}));
  EXPECT_EQ(
      patch(classifier(), "RRW@4"),
      json(
          R"([{"op":"replace","path":"/model/config/layers/4/config/kernel_regularizer","value":null}])"));
  EXPECT_NE(nowhere(regressor(), "RRW").find("applies to no layer"), std::string::npos);
}

TEST(RegularisationOperators, DropoutAndPatience) {
  EXPECT_EQ(sites(classifier(), "RCD"), (Layers{2}));
  EXPECT_EQ(values(classifier(), "RCD", 2), (Values{0.125, 0.25, 0.75}));
  EXPECT_NE(refusal(classifier(), "RCD@2=1").find("allowed: a number in [0, 1)"),
            std::string::npos);
  EXPECT_EQ(patch(classifier(), "RCD@2=0.75"),
            json(R"([{"op":"replace","path":"/model/config/layers/2/config/rate","value":0.75}])"));
  EXPECT_EQ(range(classifier(), "RCP"), (ValueRange{10, 1, 1, 0}));
  EXPECT_EQ(patch(classifier(), "RCP=1"),
            json(R"([{"op":"replace","path":"/fit/callbacks/0/config/patience","value":1}])"));
  EXPECT_EQ(nowhere(regressor(), "RCP"), "does not apply: no EarlyStopping callback");
}

TEST(WeightsOperators, Initialisers) {
  EXPECT_EQ(sites(classifier(), "WCI"), (Layers{0, 4, 5, 6}));
  // constant is zeros, and identity is for matrices.
  const Values convolution = values(classifier(), "WCI", 0), dense = values(classifier(), "WCI", 5);
  EXPECT_EQ(convolution.size(), 12u);
  EXPECT_EQ(dense.size(), 13u);
  EXPECT_NE(refusal(classifier(), "WCI@0=identity").find("weights of two extents"),
            std::string::npos);
  EXPECT_EQ(
      patch(classifier(), "WCI@6=zeros"),
      json(
          R"([{"op":"add","path":"/model/config/layers/6/config/kernel_initializer","value":"zeros"}])"));
  EXPECT_NE(refusal(classifier(), "WCI@6=glorot_uniform").find("changes nothing"),
            std::string::npos);
}

TEST(WeightsOperators, BiasInitialisers) {
  EXPECT_EQ(sites(classifier(), "change_bias_initialisation"), (Layers{0, 5, 6}));
  EXPECT_EQ(
      patch(classifier(), "BCI@5=ones"),
      json(
          R"([{"op":"add","path":"/model/config/layers/5/config/bias_initializer","value":"ones"}])"));
  // zeros and constant are what there is.
  const Values tried = values(classifier(), "BCI", 0);
  EXPECT_EQ(tried.size(), 4u);
  EXPECT_NE(refusal(classifier(), "BCI@4=ones").find("has no bias"), std::string::npos);
}

TEST(WeightsOperators, Bias) {
  EXPECT_EQ(sites(classifier(), "WAB"), (Layers{4}));
  EXPECT_EQ(sites(classifier(), "WRB"), (Layers{0, 5, 6}));
  EXPECT_EQ(
      patch(classifier(), "WAB@4"),
      json(R"([{"op":"replace","path":"/model/config/layers/4/config/use_bias","value":true}])"));
  EXPECT_EQ(
      patch(classifier(), "WRB@0"),
      json(R"([{"op":"add","path":"/model/config/layers/0/config/use_bias","value":false}])"));
}

TEST(ChangeLossFunction, SkipsItsOwn) {
  EXPECT_EQ(values(classifier(), "LCH").size(), 12u);
  EXPECT_EQ(patch(classifier(), "LCH=hinge"),
            json(R"([{"op":"replace","path":"/compile/loss","value":"hinge"}])"));
  EXPECT_NE(refusal(regressor(), "LCH=mean_squared_error").find("changes nothing"),
            std::string::npos);
}

TEST(OptimisationOperators, ChangeTakesDefaults) {
  EXPECT_EQ(values(classifier(), "OCH"),
            (Values{"sgd", "rmsprop", "adagrad", "adadelta", "adamax", "nadam"}));
  EXPECT_EQ(
      patch(regressor(), "OCH=adadelta"),
      json(R"([{"op":"replace","path":"/compile/optimizer","value":{"class_name":"Adadelta"}}])"));
  const Mutant mutant = apply_all(classifier(), {parse_application("OCH=sgd", 0)});
  EXPECT_EQ(to_string(mutant.faults), "HLR, OCH");  // SGD's default rate is 0.01
  EXPECT_NE(refusal(classifier(), "OCH=adem").find("did you mean"), std::string::npos);
}

TEST(OptimisationOperators, Clip) {
  EXPECT_EQ(values(classifier(), "OCG"), (Values{0.5}));
  EXPECT_EQ(patch(classifier(), "OCG=0.5"),
            json(R"([{"op":"replace","path":"/compile/optimizer/config/clipnorm","value":0.5}])"));
  EXPECT_EQ(nowhere(regressor(), "OCG"), "does not apply: an optimiser that clips no gradients");
  EXPECT_NE(refusal(classifier(), "OCG=-1").find("a number >= 0"), std::string::npos);
}

TEST(RemoveValidationSet, TakesBoth) {
  program::Program program = classifier();
  program.document["data"]["validation"] = "test";
  EXPECT_EQ(patch(program, "VRM"), json(R"([{"op":"remove","path":"/fit/validation_split"},
                                            {"op":"remove","path":"/data/validation"}])"));
  EXPECT_EQ(nowhere(regressor(), "VRM"), "does not apply: no validation rows");
}

TEST(LayerOperators, RemoveAndDuplicate) {
  EXPECT_EQ(sites(classifier(), "remove_layer"), (Layers{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(sites(regressor(), "remove_layer"), (Layers{1, 2, 3, 4}));
  const Mutant without = apply_all(classifier(), {parse_application("LRM@2", 0)});
  Json layers = classifier().document["model"]["config"]["layers"];
  layers.erase(2);
  EXPECT_EQ(without.program.document["model"]["config"]["layers"], layers);
  const program::DataInfo data = images();
  const Mutant first = apply_all(classifier(), {parse_application("LRM@0", 0)}, &data);
  EXPECT_EQ(first.program.document["model"]["config"]["layers"][0]["config"]["batch_input_shape"],
            json("[null, 6, 6, 1]"));
  EXPECT_EQ(to_string(first.faults), "LRM(0)");
  EXPECT_NE(refusal(classifier(), "LRM@3", &data).find("Flatten layer is missing"),
            std::string::npos);
  const Mutant copy = apply_all(classifier(), {parse_application("LAD@5", 0)});
  EXPECT_EQ(copy.program.document["model"]["config"]["layers"][6]["config"],
            json(R"({"name": "square_copy", "units": 16})"));
  EXPECT_NE(refusal(regressor(), "LAD@0").find("declares the input"), std::string::npos);
}

TEST(LayerOperators, FilterSize) {
  EXPECT_EQ(sites(classifier(), "LCF"), (Layers{0}));
  EXPECT_EQ(values(classifier(), "LCF", 0), (Values{1, 2, 5}));  // 7 is wider than the image
  EXPECT_EQ(
      patch(classifier(), "LCF@0=5"),
      json(R"([{"op":"replace","path":"/model/config/layers/0/config/kernel_size/0","value":5},
                     {"op":"replace","path":"/model/config/layers/0/config/kernel_size/1","value":5}])"));
}

TEST(LayerOperators, DeepMutations) {
  EXPECT_EQ(sites(classifier(), "LR"), (Layers{4, 5}));  // 4: Flatten makes 2 x 2 x 4 = 16
  EXPECT_EQ(sites(regressor(), "LR"), (Layers{3}));
  EXPECT_NE(refusal(classifier(), "LR@6").find("output layer"), std::string::npos);
  EXPECT_EQ(sites(classifier(), "LAs"), (Layers{0, 1, 2, 3, 4, 5}));
  const Mutant mutant = apply_all(classifier(), {parse_application("LAs@0=BatchNormalization", 0)});
  EXPECT_EQ(mutant.program.document["model"]["config"]["layers"][1],
            json(R"({"class_name": "BatchNormalization", "config": {}})"));
  EXPECT_EQ(to_string(mutant.faults), "LAD(1)");
}

/// What the mutation makes of the classifier's loop.
Json loop_of(const std::string& mutation) {
  const Mutant mutant = apply_all(classifier(), {parse_application(mutation, 0)});
  Json document = mutant.program.document;
  const Json loop = document["fit"]["loop"];
  document["fit"].erase("loop");
  EXPECT_EQ(document, classifier().document);
  return loop;
}
program::Program with_loop(program::Program program, const char* loop) {
  program.document["fit"]["loop"] = json(loop);
  return program;
}
program::DataInfo pairs_of_numbers(std::int64_t rows) { return {{2}, {1}, rows, false, -1, 1}; }
program::Program with_batch(program::Program program, int rows) {
  program.document["fit"]["batch_size"] = rows;
  return program;
}

TEST(LoopOperators, GradientsThatAddUp) {
  EXPECT_EQ(loop_of("missing_zero_grad=never"), json(R"({"zero_grad": "never"})"));
  EXPECT_EQ(loop_of("GMZ=each_epoch"), json(R"({"zero_grad": "each_epoch"})"));
  EXPECT_EQ(loop_of("misplaced_zero_grad"), json(R"({"zero_grad": "before_step"})"));
  EXPECT_EQ(values(classifier(), "GMZ"), (Values{"never", "each_epoch"}));
  for (const char* op : {"GMZ", "GBZ"}) {
    EXPECT_EQ(nowhere(with_loop(classifier(), R"({"zero_grad": "never"})"), op),
              "does not apply: a loop that doesn't zero gradients at each step");
    EXPECT_EQ(nowhere(with_loop(classifier(), R"({"step": false})"), op),
              "does not apply: a loop without an update");
  }
  EXPECT_NE(refusal(classifier(), "GMZ=often").find("each_epoch"), std::string::npos);
  // Within an epoch of one step nothing adds up.
  const program::DataInfo rows = pairs_of_numbers(50);
  program::Program whole = with_batch(regressor(), 50);
  EXPECT_NE(refusal(whole, "GMZ=never", &rows).find("a single step"), std::string::npos);
  whole.document["fit"]["epochs"] = 2;
  EXPECT_EQ(refusal(whole, "GMZ=never", &rows), "accepted");
  EXPECT_NE(refusal(whole, "GMZ=each_epoch", &rows).find("changes nothing"), std::string::npos);
  // Rows that a mutation made more are more steps.
  EXPECT_EQ(
      apply_all(whole, {parse_application("DR=50", 0), parse_application("GMZ=each_epoch", 0)},
                &rows)
          .faults.items.size(),
      2u);
}

TEST(LoopOperators, Updates) {
  EXPECT_EQ(loop_of("missing_step"), json(R"({"step": false})"));
  EXPECT_EQ(nowhere(with_loop(classifier(), R"({"step": false})"), "GMS"),
            "does not apply: a loop without an update");
  const program::Program untrained = with_loop(regressor(), R"({"left_out": [1, 3, 4]})");
  for (const char* op : {"GMS", "GMZ", "GBZ", "GSR"}) {
    EXPECT_EQ(nowhere(untrained, op), "does not apply: no layer that is trained") << op;
  }
  EXPECT_EQ(loop_of("sum_reduction"), json(R"({"reduction": "sum"})"));
  EXPECT_EQ(nowhere(with_batch(regressor(), 1), "GSR"), "does not apply: batches of one row");
  EXPECT_EQ(nowhere(with_loop(classifier(), R"({"reduction": "sum"})"), "GSR"),
            "does not apply: a loss that is summed");
}

TEST(LoopOperators, MissingEvalMode) {
  EXPECT_EQ(loop_of("missing_eval_mode"), json(R"({"eval_mode": false})"));
  EXPECT_EQ(refusal(regressor(), "GME"), "accepted");  // batch normalisation
  program::Program plain = classifier();
  plain.document["model"]["config"]["layers"][2]["config"]["rate"] = 0;
  EXPECT_EQ(nowhere(plain, "GME"), "does not apply: no layer that does something else in training");
  program::Program frozen = regressor();
  frozen.document["model"]["config"][3]["config"]["trainable"] = false;
  EXPECT_NE(nowhere(frozen, "GME"), "");
  EXPECT_EQ(nowhere(with_loop(classifier(), R"({"eval_mode": false})"), "GME"),
            "does not apply: a loop that evaluates in training mode");
}

TEST(LoopOperators, LayersWithoutUpdateOrGradient) {
  EXPECT_EQ(loop_of("parameters_left_out@4"), json(R"({"left_out": [4]})"));
  EXPECT_EQ(loop_of("detached_layer@4"), json(R"({"detached": 4})"));
  EXPECT_EQ(
      patch(classifier(), "freeze_layer@4"),
      json(R"([{"op":"add","path":"/model/config/layers/4/config/trainable","value":false}])"));
  for (const char* op : {"GLO", "LFZ"}) {
    EXPECT_EQ(sites(classifier(), op), (Layers{0, 4, 5, 6})) << op;
    EXPECT_EQ(sites(regressor(), op), (Layers{1, 3, 4})) << op;
    EXPECT_NE(refusal(classifier(), op + std::string("@2")).find("(Dropout), which is not trained"),
              std::string::npos);
  }
  EXPECT_EQ(sites(classifier(), "GDT"), (Layers{0, 4, 5}));
  EXPECT_NE(refusal(classifier(), "GDT@6").find("is the last one that is trained"),
            std::string::npos);
  // A second one comes to the first; the last trained layer stays.
  const program::Program left_out = with_loop(regressor(), R"({"left_out": [4]})");
  EXPECT_EQ(sites(left_out, "GLO"), (Layers{1, 3}));
  EXPECT_EQ(patch(left_out, "GLO@1"),
            json(R"([{"op":"add","path":"/fit/loop/left_out/-","value":1}])"));
  const program::Program one = with_loop(regressor(), R"({"left_out": [3, 4]})");
  for (const char* op : {"GLO", "LFZ", "GDT"}) {
    EXPECT_NE(nowhere(one, op).find("applies to no layer"), std::string::npos) << op;
    EXPECT_NE(refusal(one, op + std::string("@1")).find("is the only one that is trained"),
              std::string::npos)
        << op;
  }
  EXPECT_NE(nowhere(with_loop(classifier(), R"({"detached": 0})"), "GDT").find("cut already"),
            std::string::npos);
  // Shapes aren't needed.
  program::Program unknown = classifier();
  unknown.document["model"]["config"]["layers"][0]["config"].erase("batch_input_shape");
  EXPECT_EQ(sites(unknown, "GLO"), (Layers{0, 4, 5, 6}));
}

TEST(LoopOperators, LayersOfTheLoopMoveWithTheModel) {
  const auto loop_after = [](const char* loop, const std::string& mutation) {
    return apply_all(with_loop(classifier(), loop), {parse_application(mutation, 0)})
        .program.document["fit"]["loop"];
  };
  const char* loop = R"({"left_out": [4, 6], "detached": 5})";
  EXPECT_EQ(loop_after(loop, "LRM@2"), json(R"({"left_out": [3, 5], "detached": 4})"));
  EXPECT_EQ(loop_after(loop, "LRM@5"), json(R"({"left_out": [4, 5], "detached": 4})"));
  EXPECT_EQ(loop_after(loop, "LRM@4"), json(R"({"left_out": [5], "detached": 4})"));
  EXPECT_EQ(loop_after(loop, "LAs@4=ReLU"), json(R"({"left_out": [4, 7], "detached": 6})"));
  EXPECT_EQ(loop_after(loop, "LAs@5=ReLU"), json(R"({"left_out": [4, 7], "detached": 5})"));
  EXPECT_EQ(loop_after(loop, "LAD@4"), json(R"({"left_out": [4, 7], "detached": 6})"));
  EXPECT_EQ(loop_after(R"({"left_out": 0, "detached": 0})", "LRM@0"),
            json(R"({"left_out": [], "detached": null})"));
}

TEST(LoopOperators, OutputsThatTheLossDoesNotExpect) {
  const Mutant twice =
      apply_all(classifier(), {parse_application("softmax_before_cross_entropy", 0)});
  Json layers = classifier().document["model"]["config"]["layers"];
  layers.push_back(json(R"({"class_name": "Activation", "config": {"activation": "softmax"}})"));
  EXPECT_EQ(twice.program.document["model"]["config"]["layers"], layers);
  EXPECT_EQ(to_string(twice.faults), "ACH(7)");
  EXPECT_EQ(nowhere(regressor(), "ADS"), "does not apply: the loss mean_squared_error");
  program::Program linear = classifier();
  linear.document["model"]["config"]["layers"][6]["config"]["activation"] = "relu";
  EXPECT_EQ(nowhere(linear, "ADS"), "does not apply: layer 6, out (Dense), which makes no softmax");
  // Softmax may be a layer, with some behind it that do nothing.
  for (const char* last :
       {R"({"class_name": "Softmax", "config": {}})",
        R"({"class_name": "Activation", "config": {"activation": "softmax"}})"}) {
    program::Program own = linear;
    Json& all = own.document["model"]["config"]["layers"];
    all.push_back(json(last));
    all.push_back(json(R"({"class_name": "Activation", "config": {"activation": null}})"));
    own.document["compile"]["loss"] = "sparse_categorical_crossentropy";
    EXPECT_EQ(refusal(own, "ADS"), "accepted") << last;
  }

  EXPECT_EQ(patch(regressor(), "sigmoid_on_regression_output"),
            json(R"([{"op":"add","path":"/model/config/4/config/activation","value":"sigmoid"}])"));
  EXPECT_EQ(nowhere(classifier(), "ASR"), "does not apply: a classification");
  program::Program positive = regressor();
  positive.document["model"]["config"][4]["config"]["activation"] = "relu";
  EXPECT_EQ(nowhere(positive, "ASR"),
            "does not apply: layer 4, dense_1 (Dense), which has the activation relu");
  positive.document["model"]["config"].push_back(json(R"({"class_name": "ReLU"})"));
  EXPECT_EQ(nowhere(positive, "ASR"),
            "does not apply: layer 5, re_lu (ReLU), which has no activation");
}

TEST(LoopOperators, ShuffleAndSchedule) {
  EXPECT_EQ(patch(classifier(), "disable_shuffle"),
            json(R"([{"op":"add","path":"/fit/shuffle","value":false}])"));
  const program::DataInfo rows = pairs_of_numbers(50);
  EXPECT_NE(refusal(with_batch(regressor(), 50), "HSF", &rows).find("one batch of all rows"),
            std::string::npos);
  program::Program still = classifier();
  still.document["fit"]["shuffle"] = false;
  EXPECT_EQ(nowhere(still, "HSF"), "does not apply: rows that are not shuffled");

  program::Program slowing = with_batch(regressor(), 25);
  slowing.document["fit"]["schedule"] = json(R"({"decay_rate": 0.9})");
  EXPECT_EQ(patch(slowing, "scheduler_per_batch"),
            json(R"([{"op":"add","path":"/fit/schedule/every","value":"batch"}])"));
  EXPECT_EQ(refusal(slowing, "HRS", &rows), "accepted");
  EXPECT_NE(refusal(with_batch(slowing, 50), "HRS", &rows).find("epochs of one step"),
            std::string::npos);
  EXPECT_EQ(nowhere(classifier(), "HRS"), "does not apply: no learning rate schedule");
  slowing.document["fit"]["schedule"]["every"] = "batch";
  EXPECT_EQ(nowhere(slowing, "HRS"), "does not apply: a schedule for every batch");
  slowing.document["fit"]["schedule"] = json(R"({"decay_rate": 1})");
  EXPECT_EQ(nowhere(slowing, "HRS"), "does not apply: a schedule that leaves the rate as it is");
}

TEST(TrainedModelOperators, AppendStepsOfTheirOwn) {
  int percentages = 0;
  for (const MutationOperator* trained : mutation_operators()) {
    if (trained->edit != add_trained_percentage_step) continue;
    ++percentages;
    const std::string op(trained->id);
    const Json step = {{"op", op}, {"percentage", 0.5}, {"seed", 7}};
    EXPECT_EQ(
        patch(classifier(), op + "=0.5"),
        Json::array({{{"op", "add"}, {"path", "/trained"}, {"value", {{"mutations", {step}}}}}}));
    EXPECT_EQ(range(classifier(), op.c_str()), (ValueRange{0, 100, 5, 2})) << op;
    EXPECT_NE(refusal(classifier(), op + "=0").find("changes nothing"), std::string::npos);
    EXPECT_NE(refusal(classifier(), op + "=101").find("from 0 to 100"), std::string::npos);
  }
  EXPECT_GE(percentages, 5);
  // Behind those that are there.
  const Mutant both =
      apply_all(classifier(), {parse_application("GF=5", 1), parse_application("AFRm@4", 0)});
  EXPECT_EQ(both.program.document["trained"]["mutations"],
            json(R"([{"op": "gaussian_fuzz", "percentage": 5.0, "seed": 1},
                     {"op": "activation_removal", "layer": 4}])"));
  EXPECT_EQ(to_string(both.faults), "AFRm(4), GF");
}

TEST(TrainedModelOperators, Layers) {
  EXPECT_EQ(sites(classifier(), "LD"), (Layers{4, 5}));  // 4: Flatten makes 2 x 2 x 4 = 16
  EXPECT_EQ(sites(classifier(), "LAm"), (Layers{4, 5}));
  EXPECT_EQ(sites(classifier(), "AFRm"), (Layers{0, 4}));
  EXPECT_EQ(patch(classifier(), "LAm@5"), json(R"([{"op": "add", "path": "/trained",
                      "value": {"mutations": [{"op": "layer_copy", "layer": 5}]}}])"));
  EXPECT_NE(refusal(classifier(), "LD@6").find("which is the output layer"), std::string::npos);
  EXPECT_NE(refusal(classifier(), "LD@3").find("which is neither Dense nor Conv2D"),
            std::string::npos);
  EXPECT_NE(refusal(classifier(), "LAm@0").find("which makes "), std::string::npos);
  EXPECT_NE(refusal(classifier(), "AFRm@5").find("which is linear"), std::string::npos);
  EXPECT_NE(refusal(classifier(), "AFRm@6").find("which is the output layer"), std::string::npos);
  // A layer can leave once.
  EXPECT_NE(refusal(apply_all(classifier(), {parse_application("LD@5", 0)}).program, "LD@5")
                .find("behind a step that left it out"),
            std::string::npos);
}

TEST(TrainedModelOperators, WantKernels) {
  program::Program program = regressor();
  Json& model = program.document["model"]["config"];
  const Json input = {{"batch_input_shape", {nullptr, 1}}};
  Json one = Json::array({{{"class_name", "Dense"}, {"config", input}}});
  one[0]["config"]["units"] = 1;
  (model.is_array() ? model : model["layers"]) = one;
  EXPECT_EQ(nowhere(program, "NS"), "does not apply: no layer with two inputs");
  EXPECT_EQ(nowhere(program, "WS"), "does not apply: no layer with two inputs");
  EXPECT_EQ(nowhere(program, "NAI"), "");
  one[0] = {{"class_name", "BatchNormalization"}, {"config", input}};
  (model.is_array() ? model : model["layers"]) = one;
  for (const char* op : {"GF", "WS", "NEB", "NAI", "NS"}) {
    EXPECT_EQ(nowhere(program, op), "does not apply: no Dense or Conv2D layer");
  }
}

TEST(RemovePreprocessing, ScalingStepsOnly) {
  EXPECT_EQ(values(classifier(), "CPP"), (Values{1}));
  const program::DataInfo data = images();
  const Mutant mutant = apply_all(classifier(), {parse_application("CPP=1", 0)}, &data);
  EXPECT_EQ(mutant.program.document["data"]["preprocess"].size(), 2u);
  EXPECT_EQ(to_string(mutant.faults), "CPP");
  EXPECT_NE(refusal(classifier(), "CPP=0").find("the step 0; allowed: 1"), std::string::npos);
  EXPECT_EQ(nowhere(regressor(), "CPP"), "does not apply: no step that scales the data");
}

TEST(SkewPreprocessing, LastScalingStepOfATable) {
  EXPECT_EQ(values(classifier(), "skew_preprocessing"), (Values{1}));
  EXPECT_EQ(patch(classifier(), "skew_preprocessing=1"),
            json(R"([{"op":"add","path":"/data/preprocess/1/part","value":"test"}])"));
  EXPECT_EQ(to_string(apply_all(classifier(), {parse_application("SPP=1", 0)}).faults), "CPP");
  program::Program program = classifier();
  Json& steps = program.document["data"]["preprocess"];
  steps = json(R"([{"op": "scale", "by": 255}, {"op": "standardize"}, {"op": "flatten"},
                   {"op": "scale", "on": "y", "by": 2}, {"op": "shuffle", "seed": 1}])");
  EXPECT_EQ(values(program, "skew_preprocessing"), (Values{1, 3}));
  steps[1]["part"] = "train";
  steps.push_back(json(R"({"op": "one_hot", "on": "y", "classes": 3})"));
  EXPECT_EQ(nowhere(program, "skew_preprocessing"),
            "does not apply: no step that scales the data and is the last to change it");
  EXPECT_NE(nowhere(regressor(), "SPP"), "");
}

TEST(ValueRange, EndsInOrder) {
  const MutationOperator& label = find_mutation_operator("TCL");
  const ValueRange percent{0, 100, 5, 2};
  EXPECT_EQ(with_ends(label, percent, 10, 60), (ValueRange{10, 60, 5, 2}));
  EXPECT_THROW(with_ends(label, percent, 60, 10), Error);
  EXPECT_THROW(with_ends(label, percent, 10, 10), Error);
  EXPECT_THROW(with_ends(label, percent, 10, 101), Error);
  const MutationOperator& epochs = find_mutation_operator("HNE");
  const ValueRange down{12, 1, 1, 0};
  EXPECT_EQ(with_ends(epochs, down, 8, 2), (ValueRange{8, 2, 1, 0}));
  EXPECT_THROW(with_ends(epochs, down, 2, 8), Error);
  EXPECT_THROW(with_ends(epochs, down, 7.5, 2), Error);
}

TEST(Subjects, HaveBounds) {
  EXPECT_EQ(operator_subjects(),
            (std::vector<std::string>{"audio", "lenet", "mnist", "movie_recomm", "udacity"}));
  EXPECT_EQ(range(classifier(), "HNE", "audio"), (ValueRange{50, 1, 5, 0}));
  EXPECT_EQ(range(classifier(), "RCP", "audio"), (ValueRange{10, 1, 1, 0}));
  EXPECT_EQ(range(classifier(), "HLR", "udacity"), (ValueRange{1e-4, 1e-5, 1e-5, 5}));
  EXPECT_THROW(make_target(classifier(), nullptr, "mnits"), Error);
}

TEST(Subjects, HaveBoundsForProgramsThatBeginThere) {
  const auto reason = [](const program::Program& program, const char* op, const char* subject) {
    return find_sites(find_mutation_operator(op), make_target(program, nullptr, subject)).reason;
  };
  // The severe end would be the program itself.
  EXPECT_EQ(reason(classifier(), "HLR", "mnist"),
            "does not apply: the learning_rate 0.001, where the bounds mnist begin at 1");
  EXPECT_EQ(reason(classifier(), "HLR", "audio"), "");
  EXPECT_EQ(reason(classifier(), "HNE", "mnist"), "");
  EXPECT_NE(reason(classifier(), "HNE", "audio"), "");
  EXPECT_EQ(reason(classifier(), "RCP", "audio"), "");
  // DeepCrime has no batch sizes for these.
  for (const char* subject : {"audio", "udacity"}) {
    EXPECT_EQ(
        reason(classifier(), "HBS", subject),
        "does not apply: the bounds " + std::string(subject) + ", which have no values for it");
  }
  EXPECT_EQ(reason(classifier(), "HBS", "lenet"), "");
}

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

TEST(LoopOperators, MissingEvalModeLooksIntoWrappers) {
  program::Program program{regressor().document};
  Json& model = program.document["model"]["config"];
  Json layers = Json::parse(R"([
      {"class_name": "Bidirectional", "config": {"batch_input_shape": [null, 6, 2], "layer":
        {"class_name": "LSTM", "config": {"units": 4}}, "backward_layer":
        {"class_name": "LSTM", "config": {"units": 4, "go_backwards": true}}}},
      {"class_name": "Dense", "config": {"units": 3}}])");
  (model.is_array() ? model : model["layers"]) = layers;
  EXPECT_EQ(nowhere(program, "GME"),
            "does not apply: no layer that does something else in training");
  layers[0]["config"]["backward_layer"]["config"]["dropout"] = 0.25;
  (model.is_array() ? model : model["layers"]) = layers;
  EXPECT_EQ(refusal(program, "GME"), "accepted");
}

}  // namespace
}  // namespace neutra::mutators
