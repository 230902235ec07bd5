#include "program/parameters.h"

#include <random>

#include "support.h"

namespace neutra::program {
namespace {

using tests::at;
using tests::error_of;
using tests::sample;

/// A space like the study's subjects: separate Activation layers, an own spelling, repeats.
ProgramSpace study_space() {
  Program program = sample("mlp");
  const Json normal = {{"class_name", "RandomNormal"}, {"config", {{"stddev", 1.0}}}};
  at(program, "/model/config/layers") = Json::array(
      {{{"class_name", "Dense"},
        {"config",
         {{"name", "first"},
          {"batch_input_shape", {nullptr, 20}},
          {"units", 50},
          {"kernel_initializer", normal}}}},
       {{"class_name", "Activation"}, {"config", {{"activation", "relu"}}}},
       {{"class_name", "Dropout"}, {"config", {{"rate", 0.2}}}},
       {{"class_name", "Dense"}, {"config", {{"name", "second"}, {"units", 30}}}},
       {{"class_name", "Dense"}, {"config", {{"units", 10}, {"activation", nullptr}}}}});
  at(program, "/compile/optimizer") = {{"class_name", "SGD"},
                                       {"config", {{"learning_rate", 3}, {"momentum", 0.5}}}};
  const std::string layer = "/model/config/layers/";
  return ProgramSpace(
      program,
      {{"ki1",
        KeyKind::kKernelInitializer,
        {layer + "0/config/kernel_initializer"},
        {{"RandomNormal", normal}}},
       {"ki2", KeyKind::kKernelInitializer, {layer + "3/config/kernel_initializer"}, {}},
       {"bi2", KeyKind::kBiasInitializer, {layer + "3/config/bias_initializer"}, {}},
       {"act1", KeyKind::kActivation, {layer + "1/config/activation"}, {}},
       {"act2", KeyKind::kActivation, {layer + "3/config/activation"}, {}},
       {"act3", KeyKind::kActivation, {layer + "4/config/activation"}, {{"None", nullptr}}},
       {"layer1", KeyKind::kRepeat, {layer + "0"}, {}},
       {"layer2", KeyKind::kRepeat, {layer + "3"}, {}},
       {"unit2", KeyKind::kUnits, {layer + "3/config/units"}, {}},
       {"dropout1", KeyKind::kDropout, {layer + "2/config/rate"}, {}},
       {"loss", KeyKind::kLoss, {}, {}},
       {"optimizer", KeyKind::kOptimizer, {}, {}},
       {"lr", KeyKind::kLearningRate, {}, {}},
       {"batch_size", KeyKind::kBatchSize, {}, {}},
       {"epochs", KeyKind::kEpochs, {"/fit/epochs"}, {}}},
      "subject.json");
}

Json layer_of(const Program& program, std::size_t index) {
  return program.document.at("model").at("config").at("layers").at(index);
}

TEST(Parameters, TextReadsBack) {
  const std::string text = "act1=relu,batch_size=32,lr=1e-05,optimizer=sgd";
  EXPECT_EQ(to_string(parse_parameters(text, "f")), text);
  EXPECT_EQ(parse_parameters(" lr = 0.1 , act1=relu", "f"),
            (Parameters{{"act1", "relu"}, {"lr", "0.1"}}));
  EXPECT_TRUE(parse_parameters("", "f").empty());
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Parameters parameters;
    for (int i = 0; i < 5; ++i) {
      std::string key(1 + random() % 4, 'a'), value(1 + random() % 4, '0');
      for (char& c : key) c = static_cast<char>('a' + random() % 26);
      for (char& c : value) c = "01.=-+xN"[random() % 8];
      parameters[key] = value;
    }
    EXPECT_EQ(parse_parameters(to_string(parameters), "f"), parameters);
  }
}

TEST(Parameters, ErrorsNameTheColumn) {
  for (const auto& [text, column, words] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"a=1,,b=2", "column 5", "an empty item"},
           {"a=1,", "column 5", "an empty item"},
           {"a=1,b", "column 5", "without '='"},
           {"a=1,a=2", "column 5", "\"a\" a second time"},
           {"=1", "column 1", "without a key"},
           {"a=", "column 1", "no value"}}) {
    const std::string message = error_of([&, t = text] { parse_parameters(t, "row 3"); });
    EXPECT_EQ(message.find("row 3: " + column), 0U) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
}

TEST(KeyKind, WordsReadBack) {
  for (int i = 0; i <= static_cast<int>(KeyKind::kEpochs); ++i) {
    const auto kind = static_cast<KeyKind>(i);
    EXPECT_EQ(parse_key_kind(to_string(kind)), kind);
  }
  EXPECT_EQ(parse_key_kind("other"), std::nullopt);
}

TEST(ProgramSpace, BaseParametersAreSpelledAsInTheRecords) {
  EXPECT_EQ(to_string(study_space().base_parameters()),
            "act1=relu,act2=linear,act3=None,batch_size=32,bi2=zeros,dropout1=0.2,epochs=5,"
            "ki1=RandomNormal,ki2=glorot_uniform,layer1=1,layer2=1,loss=categorical_crossentropy,"
            "lr=3.0,optimizer=sgd,unit2=30");
}

TEST(ProgramSpace, BaseParametersGiveTheBaseDocument) {
  const ProgramSpace space = study_space();
  EXPECT_EQ(space.instantiate(space.base_parameters()).document, space.base().document);
  const Program same = space.instantiate(
      space.with_changes({{"act3", "linear"}, {"batch_size", "32.0"}, {"lr", "3"}}));
  EXPECT_EQ(same.document, space.base().document);
}

TEST(ProgramSpace, WritesValues) {
  const ProgramSpace space = study_space();
  const Program program = space.instantiate(space.with_changes({{"act1", "exponential"},
                                                                {"act2", "softmax"},
                                                                {"ki1", "random_normal"},
                                                                {"ki2", "he_normal"},
                                                                {"bi2", "ones"},
                                                                {"unit2", "60.0"},
                                                                {"dropout1", "0.5"},
                                                                {"loss", "mse"},
                                                                {"lr", "1e-05"},
                                                                {"batch_size", "16"},
                                                                {"epochs", "10"}}));
  EXPECT_EQ(layer_of(program, 0).at("config").at("kernel_initializer"), "random_normal");
  EXPECT_EQ(layer_of(program, 1).at("config").at("activation"), "exponential");
  EXPECT_EQ(layer_of(program, 2).at("config").at("rate"), 0.5);
  EXPECT_EQ(layer_of(program, 3).at("config").at("activation"), "softmax");
  EXPECT_EQ(layer_of(program, 3).at("config").at("kernel_initializer"), "he_normal");
  EXPECT_EQ(layer_of(program, 3).at("config").at("bias_initializer"), "ones");
  EXPECT_EQ(layer_of(program, 3).at("config").at("units"), 60);
  EXPECT_EQ(program.document.at("compile").at("loss"), "mean_squared_error");
  EXPECT_EQ(program.document.at("compile").at("optimizer").at("config").at("learning_rate"), 1e-5);
  EXPECT_EQ(program.document.at("compile").at("optimizer").at("config").at("momentum"), 0.5);
  EXPECT_EQ(program.document.at("fit").at("batch_size"), 16);
  EXPECT_EQ(program.document.at("fit").at("epochs"), 10);
  EXPECT_TRUE(validate(program.document).empty());
}

TEST(ProgramSpace, AnotherOptimiserKeepsTheLearningRateOnly) {
  const ProgramSpace space = study_space();
  EXPECT_EQ(space.instantiate(space.with_changes({{"optimizer", "nadam"}}))
                .document.at("compile")
                .at("optimizer"),
            (Json{{"class_name", "Nadam"}, {"config", {{"learning_rate", 3}}}}));
  EXPECT_EQ(space.instantiate(space.with_changes({{"optimizer", "adamax"}, {"lr", "0.3"}}))
                .document.at("compile")
                .at("optimizer"),
            (Json{{"class_name", "Adamax"}, {"config", {{"learning_rate", 0.3}}}}));
}

TEST(ProgramSpace, ALearningRateFitsAnyWayTheOptimiserIsWritten) {
  for (const Json& written : {Json("adam"), Json({{"class_name", "Adam"}}),
                              Json({{"class_name", "Adam"}, {"config", nullptr}}),
                              Json({{"class_name", "adam"}, {"config", {{"lr", 0.001}}}})}) {
    Program program = sample("mlp");
    at(program, "/compile/optimizer") = written;
    const ProgramSpace space = ProgramSpace::with_default_keys(program);
    EXPECT_EQ(space.base_parameters().at("lr"), "0.001");
    const Program changed = space.instantiate(space.with_changes({{"lr", "0.01"}}));
    EXPECT_EQ(resolve(changed).optimizer.at("config").at("learning_rate"), 0.01) << written;
    EXPECT_TRUE(validate(changed.document).empty()) << written;
  }
}

TEST(ProgramSpace, RepeatsLayers) {
  const ProgramSpace space = study_space();
  const Program twice = space.instantiate(
      space.with_changes({{"layer1", "2"}, {"layer2", "2"}, {"unit2", "7"}, {"act3", "softmax"}}));
  ASSERT_EQ(twice.document.at("model").at("config").at("layers").size(), 7U);
  EXPECT_EQ(layer_of(twice, 1).at("config").at("name"), "first_copy");
  EXPECT_FALSE(layer_of(twice, 1).at("config").contains("batch_input_shape"));
  EXPECT_EQ(layer_of(twice, 4).at("config").at("units"), 7);
  EXPECT_EQ(layer_of(twice, 5).at("config").at("units"), 7);
  EXPECT_EQ(layer_of(twice, 6).at("config").at("activation"), "softmax");
  EXPECT_TRUE(validate(twice.document).empty());

  const Program none = space.instantiate(space.with_changes({{"layer1", "0"}, {"layer2", "0"}}));
  ASSERT_EQ(none.document.at("model").at("config").at("layers").size(), 3U);
  EXPECT_EQ(layer_of(none, 0).at("class_name"), "Activation");
  EXPECT_EQ(resolve(none).input_shape, (Shape{20}));
}

TEST(ProgramSpace, RefusesImpossibleValues) {
  const ProgramSpace space = study_space();
  for (const auto& [change, words] : std::vector<std::pair<std::string, std::string>>{
           {"act1=rely", "did you mean relu?"},
           {"act9=relu", "the unknown key \"act9\""},
           {"ki1=glorot", "did you mean glorot_normal"},
           {"layer1=3", "0, 1, 2"},
           {"layer1=x", "0, 1, 2"},
           {"unit2=0", "a whole number >= 1"},
           {"unit2=1.5", "a whole number >= 1"},
           {"dropout1=1", "[0, 1)"},
           {"lr=-1", "a number >= 0"},
           {"lr=inf", "a number >= 0"},
           {"lr=0.1x", "a number >= 0"},
           {"optimizer=adamw", "adam"},
           {"loss=mean", "mean_squared_error"},
           {"epochs=", "no value"}}) {
    const std::string message =
        error_of([&, c = change] { space.with_changes(parse_parameters(c, "option"), "option"); });
    EXPECT_NE(message.find(words), std::string::npos) << change << ": " << message;
    EXPECT_EQ(message.find("option: "), 0U) << message;
  }
  Parameters missing = space.base_parameters();
  missing.erase("lr");
  EXPECT_EQ(
      error_of([&] { space.instantiate(missing, "row 2"); }).find("row 2: lr: found no value"), 0U);
}

TEST(ProgramSpace, RefusesWrongKeys) {
  const std::string layer = "/model/config/layers/";
  for (const auto& [key, words] : std::vector<std::pair<Key, std::string>>{
           {{"act1", KeyKind::kActivation, {layer + "9/config/activation"}, {}},
            "not in the program"},
           {{"act1", KeyKind::kActivation, {layer + "1/config/activation"}, {}},
            "not in the program"},
           {{"act1", KeyKind::kActivation, {"activation"}, {}}, "not in the program"},
           {{"act1", KeyKind::kActivation, {layer + "0/config/units"}, {}}, "16 at"},
           {{"act1", KeyKind::kActivation, {}, {}}, "no paths"},
           {{"act1", KeyKind::kActivation, {layer + "0/config/activation"}, {{"x", 5}}},
            "the spelling x"},
           {{"act,1", KeyKind::kActivation, {layer + "0/config/activation"}, {}}, "the name"},
           {{"act\n1", KeyKind::kActivation, {layer + "0/config/activation"}, {}}, "the name"},
           {{"act1",
             KeyKind::kActivation,
             {layer + "0/config/activation", layer + "2/config/activation"},
             {}},
            "unlike at its first path"},
           {{"lr", KeyKind::kLearningRate, {"/compile/lr"}, {}},
            "/compile/optimizer/config/learning_rate"},
           {{"layer1", KeyKind::kRepeat, {layer + "0/config"}, {}}, "not in the program"},
           {{"epochs", KeyKind::kEpochs, {}, {}}, "a second time"}}) {
    const std::string message = error_of([&, k = key] {
      ProgramSpace(sample("mlp"), {{"epochs", KeyKind::kEpochs, {}, {}}, k}, "subject.json");
    });
    EXPECT_EQ(message.find(describe("subject.json", "key " + key.name, "", "")), 0U) << message;
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
}

TEST(ProgramSpace, SharedKeysChangeAllTheirLayers) {
  Program program = sample("mlp");
  at(program, "/model/config/layers/2/config/activation") = "relu";
  const std::string layer = "/model/config/layers/";
  const ProgramSpace space(program,
                           {{"act1",
                             KeyKind::kActivation,
                             {layer + "0/config/activation", layer + "2/config/activation"},
                             {}}},
                           "");
  const Program changed = space.instantiate({{"act1", "tanh"}});
  EXPECT_EQ(layer_of(changed, 0).at("config").at("activation"), "tanh");
  EXPECT_EQ(layer_of(changed, 2).at("config").at("activation"), "tanh");
  EXPECT_EQ(space.parameters_of(changed), (Parameters{{"act1", "tanh"}}));
}

TEST(ProgramSpace, DefaultKeys) {
  const auto names = [](const ProgramSpace& space) {
    std::string text;
    for (const Key& key : space.keys()) text += key.name + " ";
    return text;
  };
  const ProgramSpace mlp = ProgramSpace::with_default_keys(sample("mlp"));
  EXPECT_EQ(names(mlp),
            "ki1 ki2 bi1 bi2 act1 act2 layer1 unit1 dropout1 loss batch_size optimizer "
            "lr epochs ");
  EXPECT_EQ(names(ProgramSpace::with_default_keys(sample("cnn"))),
            "ki1 ki2 bi1 bi2 act1 act2 loss batch_size optimizer lr epochs ");
  const ProgramSpace sequence = ProgramSpace::with_default_keys(sample("sequence"));
  EXPECT_EQ(names(sequence),
            "ki1 ki2 ki3 bi1 bi2 bi3 act1 act2 act3 unit2 loss batch_size optimizer lr epochs ");
  EXPECT_EQ(sequence.base_parameters().at("act2"), "tanh");
  // A wrapper has the keys of the layer that it runs.
  Program wrapped = sample("sequence");
  Json& layers = at(wrapped, "/model/config/layers");
  layers[2] = {{"class_name", "SpatialDropout1D"}, {"config", {{"rate", 0.25}}}};
  layers[3] = {{"class_name", "Bidirectional"}, {"config", {{"layer", Json(layers[3])}}}};
  const ProgramSpace both = ProgramSpace::with_default_keys(wrapped);
  EXPECT_EQ(names(both),
            "ki1 ki2 ki3 bi1 bi2 bi3 act1 act2 act3 unit2 dropout1 loss batch_size optimizer lr "
            "epochs ");
  EXPECT_EQ(both.find("unit2")->paths.front(), "/model/config/layers/3/config/layer/config/units");
  EXPECT_EQ(both.base_parameters().at("act2"), "tanh");
  const Parameters changed = both.with_changes({{"unit2", "9"}, {"act2", "relu"}});
  EXPECT_EQ(both.parameters_of(both.instantiate(changed)), changed);
  Program by_channel = sample("cnn");
  at(by_channel, "/model/config/layers/0") = {{"class_name", "SeparableConv2D"},
                                              {"config", {{"filters", 2}, {"kernel_size", 3}}}};
  EXPECT_EQ(ProgramSpace::with_default_keys(by_channel).find("ki1")->paths.front(),
            "/model/config/layers/0/config/depthwise_initializer");
  Program program = study_space().base();
  at(program, "/model/config/layers/3/config/use_bias") = false;
  const ProgramSpace separate = ProgramSpace::with_default_keys(program);
  EXPECT_EQ(separate.find("act1")->paths.front(), "/model/config/layers/1/config/activation");
  EXPECT_EQ(separate.find("act2")->paths.front(), "/model/config/layers/3/config/activation");
  EXPECT_EQ(separate.find("bi2"), nullptr);
  EXPECT_EQ(separate.base_parameters().at("ki1"), "custom");
  EXPECT_EQ(separate.parameters_of(separate.instantiate(separate.with_changes({{"ki1", "zeros"}}))),
            separate.with_changes({{"ki1", "zeros"}}));
}

TEST(ProgramSpace, ParametersOfInvertsInstantiate) {
  const ProgramSpace space = study_space();
  std::mt19937 random(11);
  const std::map<std::string, std::vector<std::string>> values = {
      {"act1", {"relu", "sigmoid", "linear"}},
      {"act2", {"linear", "softmax"}},
      {"act3", {"None", "softmax", "relu"}},
      {"ki1", {"RandomNormal", "random_normal", "constant"}},
      {"ki2", {"glorot_uniform", "he_normal", "zeros"}},
      {"bi2", {"zeros", "random_normal"}},
      {"layer1", {"0", "1", "2"}},
      {"layer2", {"0", "1", "2"}},
      {"unit2", {"30", "15", "60"}},
      {"dropout1", {"0.2", "0.5"}},
      {"loss", {"categorical_crossentropy", "poisson"}},
      {"optimizer", {"sgd", "adam", "nadam"}},
      {"lr", {"3.0", "0.3", "1e-05"}},
      {"batch_size", {"32", "512"}},
      {"epochs", {"5", "10"}}};
  for (int round = 0; round < 100; ++round) {
    Parameters parameters;
    for (const auto& [key, list] : values) parameters[key] = list[random() % list.size()];
    // Values of a removed layer are lost with it.
    if (parameters["layer1"] == "0") parameters["ki1"] = "RandomNormal";
    if (parameters["layer2"] == "0") {
      for (const char* key : {"ki2", "bi2", "act2", "unit2"}) {
        parameters[key] = space.base_parameters().at(key);
      }
    }
    EXPECT_EQ(space.parameters_of(space.instantiate(parameters)), parameters)
        << to_string(parameters);
  }
}

TEST(ProgramSpace, OtherProgramsHaveNoParameters) {
  const ProgramSpace space = study_space();
  EXPECT_EQ(space.parameters_of(sample("mlp")), std::nullopt);
  EXPECT_EQ(space.parameters_of({Json()}), std::nullopt);
  Program program = space.base();
  at(program, "/model/config/layers/4/config/units") = 11;  // belongs to no key
  EXPECT_EQ(space.parameters_of(program), std::nullopt);
  program = space.base();
  at(program, "/compile/optimizer/config/momentum") = 0.9;
  EXPECT_EQ(space.parameters_of(program), std::nullopt);
}

// Equal layers line up in exponentially many ways.
TEST(ProgramSpace, ManyEqualLayersAreMatchedSoon) {
  Program program = sample("mlp");
  Json& layers = at(program, "/model/config/layers");
  const Json first = layers[0];
  layers = Json::array({first});
  for (int i = 0; i < 24; ++i) {
    layers.push_back({{"class_name", "Dense"}, {"config", {{"units", 2}}}});
  }
  layers.push_back({{"class_name", "Dense"}, {"config", {{"units", 1}}}});
  const ProgramSpace space = ProgramSpace::with_default_keys(program);
  Program other = program;
  at(other, "/compile/optimizer/config/momentum") = 0.9;
  EXPECT_EQ(space.parameters_of(other), std::nullopt);
  for (const char* count : {"0", "2"}) {
    const Program changed =
        space.instantiate(space.with_changes({{"layer3", count}, {"unit20", "7"}}));
    const auto found = space.parameters_of(changed);
    ASSERT_TRUE(found) << count;
    EXPECT_EQ(canonical(space.instantiate(*found)), canonical(changed));
  }
}

}  // namespace
}  // namespace neutra::program
