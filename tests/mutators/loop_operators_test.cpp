#include "operator_cases.h"

namespace neutra::mutators {
namespace {

using tests::classifier;
using tests::json;
using tests::Layers;
using tests::nowhere;
using tests::patch;
using tests::refusal;
using tests::regressor;
using tests::sites;
using tests::Values;
using tests::values;

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
