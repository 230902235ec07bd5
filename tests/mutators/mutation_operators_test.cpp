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

}  // namespace
}  // namespace neutra::mutators
