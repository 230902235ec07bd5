#include "program/faults.h"

#include <algorithm>

#include "support.h"

namespace neutra::program {
namespace {

using tests::at;
using tests::error_of;
using tests::sample;

TEST(FaultSet, NotationReadsBack) {
  for (const auto& [text, normal] : std::vector<std::pair<std::string, std::string>>{
           {"ACH(0,1), LCH, HLR", "ACH(0,1), HLR, LCH"},
           {"HLR;LCH", "HLR, LCH"},
           {"LRM|LAD|ACH(0)", "ACH(0)|LAD|LRM"},
           {"LRM/LAD/ACH(0), HNE", "ACH(0)|LAD|LRM, HNE"},
           {" ACH( 3 , 1 ) ", "ACH(1,3)"},
           {"HLR, HLR", "HLR"},
           {"-", "-"},
           {"N/A", "N/A"}}) {
    const FaultSet set = parse_fault_set(text, "f");
    EXPECT_EQ(to_string(set), normal);
    EXPECT_EQ(parse_fault_set(normal, "f"), set);
  }
  EXPECT_FALSE(parse_fault_set("N/A", "f").applicable);
  EXPECT_TRUE(parse_fault_set("-", "f").applicable);
}

TEST(FaultSet, ErrorsNameTheColumn) {
  for (const auto& [text, column, words] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"", "column 1", "nothing"},
           {"ACH(0), ACG", "column 9", "did you mean ACH"},
           {"ACH(0", "column 6", "')' after the layers"},
           {"ACH()", "column 5", "a layer's index"},
           {"ACH(x)", "column 5", "a layer's index"},
           {"ACH(-1)", "column 5", "a layer's index"},
           {"ACH(99999999999)", "column 5", "a layer's index"},
           {"ACH,", "column 5", "a fault type"},
           {"ACH LCH", "column 5", "between fault types"},
           {"ach", "column 1", "did you mean ACH?"}}) {
    const std::string message = error_of([&, t = text] { parse_fault_set(t, "f.csv"); });
    EXPECT_EQ(message.find("f.csv: " + column + ":"), 0U) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
}

TEST(FaultTypes, HoldThePapersAndAreSorted) {
  const auto& types = fault_types();
  EXPECT_TRUE(std::is_sorted(types.begin(), types.end()));
  for (const char* name : {"HBS", "HLR", "HNE", "ACH", "RAW", "WCI", "LCH", "OCH", "LRM", "LAD",
                           "LCN", "LCF", "BCI", "CPP", "TCL", "IWS"}) {
    EXPECT_TRUE(std::any_of(types.begin(), types.end(), [&](const auto& type) {
      return type.first == name;
    })) << name;
  }
}

/// diff() between a sample and the sample with `path` set to `value`.
std::string diff_of(const std::string& name, const std::string& path, const Json& buggy,
                    const Json& fixed) {
  Program a = sample(name), b = sample(name);
  at(a, path) = buggy;
  at(b, path) = fixed;
  return to_string(diff(a, b));
}

TEST(Diff, NamesEachHyperparameter) {
  const std::string layer = "/model/config/layers/";
  EXPECT_EQ(to_string(diff(sample("mlp"), sample("mlp"))), "-");
  EXPECT_EQ(diff_of("mlp", "/fit/batch_size", 1, 32), "HBS");
  EXPECT_EQ(diff_of("mlp", "/fit/epochs", 1, 5), "HNE");
  EXPECT_EQ(diff_of("mlp", "/fit/validation_split", 0, 0.2), "VRM");
  EXPECT_EQ(diff_of("mlp", "/data/validation", nullptr, "test"), "VRM");
  EXPECT_EQ(diff_of("mlp", "/data/validation", {{"test_size", 0.2}, {"seed", 0}}, "test"), "-");
  EXPECT_EQ(diff_of("mlp", "/compile/loss", "mse", "mae"), "LCH");
  EXPECT_EQ(diff_of("mlp", "/compile/loss", "mse", "MeanSquaredError"), "-");
  EXPECT_EQ(diff_of("mlp", "/compile/optimizer/config/learning_rate", 1, 0.1), "HLR");
  EXPECT_EQ(diff_of("mlp", "/compile/optimizer/config/beta_1", 0.5, 0.9), "OCH");
  EXPECT_EQ(diff_of("mlp", "/compile/optimizer/config/clipnorm", 1, nullptr), "OCG");
  EXPECT_EQ(diff_of("mlp", "/compile/optimizer", "rmsprop", "adam"), "OCH");
  EXPECT_EQ(diff_of("mlp", "/compile/optimizer", "sgd", "adam"), "HLR, OCH");
  EXPECT_EQ(diff_of("mlp", layer + "0/config/activation", "relu", "tanh"), "ACH(0)");
  EXPECT_EQ(diff_of("mlp", layer + "2/config/activation", nullptr, "softmax"), "ACH(2)");
  EXPECT_EQ(diff_of("mlp", layer + "0/config/kernel_initializer", "zeros", "he_normal"), "WCI(0)");
  EXPECT_EQ(diff_of("mlp", layer + "2/config/bias_initializer", "ones", "zeros"), "BCI(2)");
  EXPECT_EQ(diff_of("mlp", layer + "0/config/units", 1, 2), "LCN(0)");
  EXPECT_EQ(diff_of("cnn", layer + "0/config/filters", 1, 2), "LCN(0)");
  EXPECT_EQ(diff_of("cnn", layer + "0/config/kernel_size", 3, 5), "LCF(0)");
  EXPECT_EQ(diff_of("mlp", layer + "1/config/rate", 0.1, 0.2), "RCD(1)");
  EXPECT_EQ(diff_of("mlp", layer + "0/config/kernel_regularizer", "l1", nullptr), "RAW(0)");
  EXPECT_EQ(diff_of("mlp", layer + "0/config/kernel_regularizer", "l1", "l2"), "RAW(0)");
  EXPECT_EQ(diff_of("mlp", layer + "0/config/kernel_regularizer", nullptr, "l2"), "RRW(0)");
  EXPECT_EQ(diff_of("mlp", layer + "0/config/use_bias", true, false), "WAB(0)");
  EXPECT_EQ(diff_of("mlp", layer + "0/config/use_bias", false, true), "WRB(0)");
  EXPECT_EQ(diff_of("sequence", layer + "3/config/recurrent_initializer", "zeros", "orthogonal"),
            "WCI(3)");
  EXPECT_EQ(diff_of("sequence", layer + "0/config/embeddings_initializer", "zeros", "uniform"),
            "WCI(0)");
  EXPECT_EQ(diff_of("sequence", layer + "3/config/recurrent_regularizer", "l1", nullptr), "RAW(3)");
  EXPECT_EQ(diff_of("sequence", layer + "3/config/dropout", 0.1, 0), "RCD(3)");
  EXPECT_EQ(diff_of("sequence", layer + "3/config/activation", "relu", "tanh"), "ACH(3)");
  EXPECT_EQ(diff_of("sequence", layer + "3/config/units", 1, 2), "LCN(3)");
  EXPECT_EQ(diff_of("sequence", layer + "1/config/kernel_size", 2, Json::array({3})), "LCF(1)");
  // In wrappers, too.
  const auto wrapped = [&](const Json& units, const Json& activation) {
    return Json{
        {"class_name", "Bidirectional"},
        {"config",
         {{"layer",
           {{"class_name", "LSTM"}, {"config", {{"units", units}, {"activation", activation}}}}}}}};
  };
  EXPECT_EQ(diff_of("sequence", layer + "3", wrapped(1, "tanh"), wrapped(2, "tanh")), "LCN(3)");
  EXPECT_EQ(diff_of("sequence", layer + "3", wrapped(2, "relu"), wrapped(2, "tanh")), "ACH(3)");
  const auto stopping = [](int patience) {
    return Json::array({{{"class_name", "EarlyStopping"}, {"config", {{"patience", patience}}}}});
  };
  EXPECT_EQ(diff_of("mlp", "/fit/callbacks", stopping(1), stopping(10)), "RCP");
  const Json scale = Json::array({{{"op", "scale"}, {"by", 255}}});
  EXPECT_EQ(diff_of("mlp", "/data/preprocess", Json::array(), scale), "CPP");
  EXPECT_EQ(
      diff_of("mlp", "/data/preprocess", Json::array({{{"by", 255.0}, {"op", "scale"}}}), scale),
      "-");
}

TEST(Diff, NamesFaultsOfTheLoop) {
  const auto of = [](const Json& buggy, const Json& fixed) {
    return diff_of("mlp", "/fit/loop", buggy, fixed);
  };
  const Json usual = Json::object();
  for (const auto& [loop, type] : {std::pair{R"({"zero_grad": "never"})", "GMZ"},
                                   {R"({"zero_grad": "each_epoch"})", "GMZ"},
                                   {R"({"zero_grad": "before_step"})", "GBZ"},
                                   {R"({"step": false})", "GMS"},
                                   {R"({"eval_mode": false})", "GME"},
                                   {R"({"reduction": "sum"})", "GSR"},
                                   {R"({"left_out": [1]})", "GLO(1)"},
                                   {R"({"left_out": 0, "detached": 1})", "GDT(1), GLO(0)"},
                                   {R"({"detached": 0})", "GDT(0)"}}) {
    EXPECT_EQ(of(Json::parse(loop), usual), type);
    EXPECT_EQ(of(usual, Json::parse(loop)), type);
    EXPECT_EQ(of(Json::parse(loop), Json::parse(loop)), "-");
  }
  EXPECT_EQ(of({{"zero_grad", "never"}}, {{"zero_grad", "each_epoch"}}), "GMZ");
  EXPECT_EQ(of({{"left_out", {0, 1}}}, {{"left_out", {1}}}), "GLO(0)");
  EXPECT_EQ(of({{"detached", 1}}, {{"detached", 0}}), "GDT(1)");
  const Json slowing = {{"decay_rate", 0.9}};
  EXPECT_EQ(diff_of("mlp", "/fit/schedule", {{"decay_rate", 0.9}, {"every", "batch"}}, slowing),
            "HRS");
  EXPECT_EQ(diff_of("mlp", "/fit/schedule", nullptr, slowing), "HRS");
  EXPECT_EQ(diff_of("mlp", "/fit/shuffle", false, true), "HSF");
  EXPECT_EQ(diff_of("mlp", "/model/config/layers/1/config/trainable", false, true), "LFZ(1)");
}

TEST(Diff, NamesLayersThatTakeOtherInputs) {
  const auto graph = [](const char* sum, const char* last) {
    Program program = sample("mlp");
    at(program, "/model/config/layers") = Json::parse(std::string(R"([
      {"class_name": "InputLayer", "config": {"name": "in", "batch_input_shape": [null, 4]}},
      {"class_name": "Dense", "config": {"name": "a", "units": 4, "activation": "tanh"}},
      {"class_name": "Dense", "config": {"name": "b", "units": 4, "activation": "relu"}},
      {"class_name": "Add", "config": {"name": "sum"}, "inputs": )") +
                                                      sum + R"(},
      {"class_name": "Dense", "config": {"units": 3}, "inputs": )" +
                                                      last + "}]");
    return program;
  };
  const char* wanted = R"(["b", "a"])";
  const Program fixed = graph(wanted, R"(["sum"])");
  EXPECT_EQ(to_string(diff(fixed, fixed)), "-");
  EXPECT_EQ(to_string(diff(graph(R"(["b", "in"])", R"(["sum"])"), fixed)), "LWI(3)");
  EXPECT_EQ(to_string(diff(graph(R"(["b", "a", "in"])", R"(["sum"])"), fixed)), "LWI(3)");
  // A layer that only one has stands for its input.
  Program longer = fixed;
  Json& layers = at(longer, "/model/config/layers");
  layers.insert(layers.begin() + 3, Json::parse(R"({"class_name": "Dropout",
      "config": {"name": "drop", "rate": 0.5}})"));
  layers[4]["inputs"] = {"drop", "a"};
  EXPECT_EQ(to_string(diff(longer, fixed)), "LAD(3)");
  layers[4]["inputs"] = {"drop", "in"};
  layers[2]["inputs"] = {"a"};
  EXPECT_EQ(to_string(diff(longer, fixed)), "LAD(3), LWI(4)");
}

TEST(Diff, NamesMutationsOfTheData) {
  const auto step = [](const char* op, double percentage) {
    return Json{{"op", op}, {"percentage", percentage}, {"seed", 0}};
  };
  const auto of = [](const Json& buggy, const Json& fixed) {
    return diff_of("mlp", "/data/mutations", buggy, fixed);
  };
  const Json none = Json::array();
  const Json label = step("change_label", 50), noise = step("add_noise", 50);
  EXPECT_EQ(of(Json::array({label}), none), "TCL");
  EXPECT_EQ(of(none, Json::array({label})), "TCL");
  EXPECT_EQ(of(Json::array({label, noise}), Json::array({label})), "TAN");
  EXPECT_EQ(of(Json::array({label}), Json::array({label})), "-");
  EXPECT_EQ(of(Json::array({label}), Json::array({step("change_label", 25)})), "TCL");
  for (const auto& [op, type] : {std::pair{"make_output_classes_overlap", "TCO"},
                                 {"delete_training_data", "TRD"},
                                 {"unbalance_train_data", "TUD"},
                                 {"data_shuffle", "DF"},
                                 {"data_missing", "DM"},
                                 {"data_repetition", "DR"},
                                 {"label_error", "LE"},
                                 {"noise_perturbation", "NP"}}) {
    EXPECT_EQ(of(Json::array({step(op, 1)}), none), type);
  }
  EXPECT_EQ(of(Json::array({5, {{"op", 1}}, {{"op", "unknown"}}}), none), "-");
}

TEST(Diff, NamesMutationsOfTheTrainedModel) {
  const auto of = [](const Json& buggy, const Json& fixed) {
    return diff_of("mlp", "/trained", {{"mutations", buggy}}, {{"mutations", fixed}});
  };
  const Json none = Json::array();
  for (const auto& [op, type] : {std::pair{"gaussian_fuzz", "GF"},
                                 {"weight_shuffle", "WS"},
                                 {"neuron_effect_block", "NEB"},
                                 {"neuron_activation_inverse", "NAI"},
                                 {"neuron_switch", "NS"}}) {
    const Json all = {{"op", op}, {"percentage", 50}};
    Json one = all;
    one["layer"] = 2;
    EXPECT_EQ(of(Json::array({all}), none), type);
    EXPECT_EQ(of(none, Json::array({one})), std::string(type) + "(2)");
    EXPECT_EQ(of(Json::array({one, all}), Json::array({all})), std::string(type) + "(2)");
  }
  for (const auto& [op, type] : {std::pair{"layer_deactivation", "LD(1)"},
                                 {"layer_copy", "LAm(1)"},
                                 {"activation_removal", "AFRm(1)"}}) {
    EXPECT_EQ(of(Json::array({{{"op", op}, {"layer", 1}}}), none), type);
  }
}

Program with_layers(const std::vector<Json>& layers) {
  Program program = sample("mlp");
  at(program, "/model/config/layers") = layers;
  return program;
}

Json dense(int units, const char* activation = "linear") {
  return {{"class_name", "Dense"}, {"config", {{"units", units}, {"activation", activation}}}};
}
Json activation(const char* word) {
  return {{"class_name", "Activation"}, {"config", {{"activation", word}}}};
}
Json dropout() { return {{"class_name", "Dropout"}, {"config", {{"rate", 0.2}}}}; }

TEST(Diff, AlignsLayers) {
  const auto of = [](const std::vector<Json>& buggy, const std::vector<Json>& fixed) {
    return to_string(diff(with_layers(buggy), with_layers(fixed)));
  };
  EXPECT_EQ(of({dense(5), dense(1)}, {dense(5), dropout(), dense(1)}), "LRM(1)");
  EXPECT_EQ(of({dense(5), dropout(), dense(1)}, {dense(5), dense(1)}), "LAD(1)");
  EXPECT_EQ(of({dense(5)}, {dense(5), dropout()}), "LRM(1)");
  EXPECT_EQ(of({dropout(), dense(5)}, {dense(5)}), "LAD(0)");
  // The layer with the more similar configuration is the partner.
  EXPECT_EQ(of({dense(5), dense(7), dense(1)}, {dense(5), dense(1)}), "LAD(1)");
  EXPECT_EQ(of({dense(5), dense(1)}, {dense(5), dense(7), dense(1)}), "LRM(1)");
  EXPECT_EQ(of({}, {dense(1)}), "LRM(0)");
}

TEST(Diff, LayersOfTheLoopAreThePartners) {
  const auto of = [](const std::vector<Json>& buggy, const Json& buggy_loop,
                     const std::vector<Json>& fixed, const Json& fixed_loop) {
    Program a = with_layers(buggy), b = with_layers(fixed);
    at(a, "/fit/loop") = buggy_loop;
    at(b, "/fit/loop") = fixed_loop;
    return to_string(diff(a, b));
  };
  const std::vector<Json> two{dense(5), dense(1)}, more{dense(5), dropout(), dense(1)};
  EXPECT_EQ(
      of(more, {{"left_out", {2}}, {"detached", 0}}, two, {{"left_out", {1}}, {"detached", 0}}),
      "LAD(1)");
  EXPECT_EQ(
      of(two, {{"left_out", {1}}, {"detached", 0}}, more, {{"left_out", {2}}, {"detached", 1}}),
      "LRM(1)");
  EXPECT_EQ(of(two, {{"left_out", {0}}}, more, {{"left_out", {2}}}), "GLO(0,1), LRM(1)");
}

TEST(Diff, ActivationLayersAreActivations) {
  const auto of = [](const std::vector<Json>& buggy, const std::vector<Json>& fixed) {
    return to_string(diff(with_layers(buggy), with_layers(fixed)));
  };
  EXPECT_EQ(of({dense(5), activation("relu"), dense(1)}, {dense(5), activation("tanh"), dense(1)}),
            "ACH(1)");
  EXPECT_EQ(of({dense(5), dense(1)}, {dense(5), activation("tanh"), dense(1)}), "ACH(0)");
  EXPECT_EQ(of({dense(5), activation("relu"), dense(1)}, {dense(5), dense(1)}), "ACH(1)");
  EXPECT_EQ(of({dense(5), activation("relu"), dense(1)}, {dense(5, "relu"), dense(1)}), "-");
}

// The study's D1: Dense, Activation, Dropout, Dense, Activation, Dropout, Dense, Activation.
TEST(Diff, CountsLayersAsTheStudyDoes) {
  const auto program = [](const char* last) {
    return with_layers({dense(50), activation("relu"), dropout(), dense(50), activation("relu"),
                        dropout(), dense(1), activation(last)});
  };
  EXPECT_EQ(to_string(diff(program("softmax"), program("sigmoid"))), "ACH(7)");
}

}  // namespace
}  // namespace neutra::program
