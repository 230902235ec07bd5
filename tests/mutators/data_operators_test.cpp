#include "operator_cases.h"

namespace neutra::mutators {
namespace {

using tests::classifier;
using tests::images;
using tests::json;
using tests::Layers;
using tests::nowhere;
using tests::patch;
using tests::range;
using tests::refusal;
using tests::regressor;
using tests::sites;
using tests::Values;
using tests::values;

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

}  // namespace
}  // namespace neutra::mutators
