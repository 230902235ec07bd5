#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/fl_adapters/neuralint/programs.h"

namespace neutra::fl_adapters::neuralint::tests {
namespace {

/// A rule, a program that breaks it and one that just doesn't.
struct Rule {
  std::string code, said;  ///< "what it is about: message"
  std::set<int> layers;
  program::Program broken, kept;
  ToolVariant variant = kPublished;
};
std::vector<Rule> rules() {
  const Json softmax = dense(2, "softmax"), random = {{"bias_initializer", "random_normal"}};
  const Json bare = dense(4, "linear", no_bias());
  const auto classifier = [&](std::vector<Json> layers) {
    layers.push_back(softmax);
    return mlp(layers);
  };
  const auto reshaped = [&](int size) {
    return classifier({dense(6, "relu"), layer("Reshape", {{"target_shape", {size}}})});
  };
  const auto images = [](std::vector<Json> layers, int side = 28) { return cnn(layers, side); };
  const auto on_maps = [](int dropouts) {
    Json layers = Json::array({conv(8, 3), pool()});
    for (int i = 0; i < dropouts; ++i) layers.push_back(dropout());
    layers.push_back(dense(10, "softmax"));
    return model(std::move(layers), "categorical_crossentropy", {28, 28, 1});
  };
  Json uneven = deep(4), even = deep(4);
  for (Json* layers : {&uneven, &even}) {
    for (int i = 0; i < 2; ++i) {
      layers->insert(layers->begin(), conv(8, 3, "relu", {{"padding", "same"}}));
    }
  }
  uneven[0]["config"]["filters"] = 7;
  const std::string shape_needed =
      "A processing layer that operates on a N-dimensional tensors, should receive a valid input "
      "tensor with exactly N-dimensional shape";
  const std::string probabilities =
      "A last layer activation is required to transform the logits into probabilities for "
      "classification problem";
  const std::string loss =
      "The loss should be correctly defined and connected to the layer in accordance with its "
      "input conditions (i.e.shape and type)";
  const std::string pooling = "Max-pooling is the preferred down-sampling strategy";
  return {
      {"f001",
       "Layer: " + shape_needed + "(Missing reshape).",
       {0},
       images({dropout(), dense(16, "relu")}),
       images({dropout(), flatten(), dense(16, "relu")}),
       kRepaired},
      {"f002",
       "Architecture: " + pooling + "(lack of pooling).",
       {},
       images({conv(8, 3), pool(), conv(8, 3)}),
       images({conv(8, 3), conv(8, 3), pool()})},
      {"f003",
       "Layer: Multiple and redundant connected activations are not allowed.",
       {0},
       classifier({dense(4, "relu"), activation("tanh")}),
       classifier({dense(4, "relu"), dense(4, "tanh")})},
      {"f004",
       "Layer: The initialization of weights should not be constant to break the symmetry between "
       "neurons.",
       {1},
       classifier({dense(4, "relu"), dense(4, "relu", {{"kernel_initializer", "ones"}})}),
       classifier({dense(4, "relu"), dense(4, "relu", {{"kernel_initializer", "identity"}})})},
      {"f005",
       "Layer: A learning layer should no longer include a bias when it is followed by batchnorm.",
       {0},
       classifier({dense(4, "relu"), dropout(), batchnorm()}),
       classifier({dense(4, "relu"), dropout(), dropout(), batchnorm()})},
      {"f006",
       "Layer: Batchnorm layer should be before the dropout.",
       {1},
       classifier({bare, dropout(), activation("relu"), batchnorm()}),
       classifier({bare, dropout(), activation("relu"), activation("relu"), batchnorm()})},
      {"f008",
       "Learner: " + probabilities + "(missing softmax).",
       {1},
       mlp(Json::array({dense(4, "relu"), dense(2, "sigmoid")})),
       mlp(Json::array({dense(4, "relu"), dense(1, "sigmoid")})),
       kRepaired},
      {"f009",
       "Layer: Activations for learning layers (i.e., convolution and fully-connected layer) "
       "should be a non-linear function.",
       {0},
       classifier({dense(4, "linear"), dropout(), dropout(), dropout(), activation("relu")}),
       classifier({dense(4, "linear"), dropout(), dropout(), activation("relu")})},
      {"f011", "Layer: " + shape_needed + "(missing flatten ).", {1}, on_maps(2), on_maps(3)},
      {"f012",
       "Learner: " + probabilities + "(bin missing sigmoid).",
       {1},
       mlp(Json::array({dense(4, "relu"), dense(1, "hard_sigmoid")}), "binary_crossentropy"),
       mlp(Json::array({dense(4, "relu"), dense(1, "sigmoid")}), "binary_crossentropy")},
      {"f013",
       "Layer: A processing layer should receive sufficient-sized feature space to perform its "
       "spatial filtering or pooling.",
       {1},
       images({conv(8, 3), pool()}, 3),
       images({conv(8, 3), pool()}, 4)},
      {"f015",
       "Learner: " + loss + "-pre-activation",
       {},
       mlp(Json::array({dense(4, "relu"), dense(1, "relu")}), "mean_squared_error"),
       mlp(Json::array({dense(4, "relu"), layer("Dense", {{"units", 1}})}), "mean_squared_error")},
      {"f016",
       "Layer: The local window size for spatial filtering should generally increase or stay the "
       "same throughout the convolutional layers.",
       {0},
       images({conv(8, 3), conv(8, 2), pool()}),
       images({conv(8, 3), conv(8, 3), pool()})},
      {"f017",
       "Learner: " + probabilities + "(bin wrong last layer activation).",
       {1},
       mlp(Json::array({dense(4, "relu"), dense(1, "softmax")})),
       mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}))},
      {"f018",
       "Layer: Dropout layer must be placed after the pooling layer to be more effective.",
       {1},
       images({conv(8, 3, "linear"), dropout(), activation("relu"), pool()}),
       images({conv(8, 3, "linear"), dropout(), activation("relu"), activation("relu"), pool()})},
      {"f019",
       "Layer: The area of feature maps and the width of fully-connected units should be "
       "progressively decreasing over the layers.",
       {0},
       classifier({dense(4, "relu"), dense(5, "relu")}),
       classifier({dense(4, "relu"), dense(4, "relu")})},
      {"f020",
       "Learner: " + loss + "-post_activation",
       {},
       mlp(Json::array({dense(4, "relu"), dense(2, "sigmoid")}), "binary_crossentropy"),
       mlp(Json::array({dense(4, "relu"), dense(1, "sigmoid")}), "binary_crossentropy")},
      {"f021",
       "Layer: A reshape layer should preserve the total data elements/ A reshape layer should "
       "never falsify the size of elements (i.e. first dimension).",
       {1},
       reshaped(5),
       reshaped(6),
       kRepaired},
      {"f023",
       "Layer: The number of feature maps should be gradually expanded while the feature map area "
       "is retracted.",
       {0},
       images({conv(8, 3), conv(7, 3), pool()}),
       images({conv(8, 3), conv(8, 3), pool()})},
      {"f024",
       "Layer: The initialization of biases is preferred to be zeros.",
       {0},
       classifier({dense(4, "relu", random)}),
       classifier({dense(4, "relu", {{"bias_initializer", "zeros"}})})},
      {"f025",
       "Layer: Deep CNN should not apply pooling after every convolution.",
       {0, 2, 4, 6},
       cnn(deep(5), 64),
       cnn(nine(), 64)},
      {"f026",
       "Layer: Deep CNN should favor blocks of2,3or even 4 homogeneous convolutional layers with "
       "similar characteristics.",
       {0},
       cnn(uneven, 64),
       cnn(even, 64),
       kRepaired},
      {"f027",
       "Architecture: " + pooling + "(ineffective pooling)",
       {},
       cnn(deep(5, "Average"), 64),
       cnn(nine("Average"), 64)}};
}

/// Those that no Keras program breaks, in either variant.
const std::map<std::string, std::string> kNever{
    {"f007",
     "Learner: The learnable parameters should be totally initialized once at the beginning of the "
     "training(multiple inits)"},
    {"f010",
     "Learner: The learnable parameters should be totally initialized once at the beginning of the "
     "training(missing init)"},
    {"f014",
     "Layer: mismatch shape : A reshape layer should never falsify the size of elements (i.e. "
     "first "
     "dimension)"},
    {"f022",
     "Learner: The loss minimization problem should be solved iteratively with continuous update "
     "of parameters"}};

TEST(Neuralint, EachRule) {
  std::set<std::string> tested;
  for (const Rule& rule : rules()) {
    tested.insert(rule.code);
    std::set<int> layers;
    for (const ToolMessage& message : check_program(rule.broken, rule.variant)) {
      if (message.code != rule.code) continue;
      EXPECT_EQ(message.severity + ": " + message.text, rule.said);
      layers.merge(std::set<int>(message.layers));
    }
    EXPECT_EQ(layers, rule.layers) << rule.code;
    EXPECT_EQ(codes_of(rule.broken, rule.variant).count(rule.code), 1u) << rule.code;
    EXPECT_EQ(codes_of(rule.kept, rule.variant).count(rule.code), 0u) << rule.code;
  }
  for (const auto& [code, text] : kNever) {
    tested.insert(code);
    const MessageKind& kind = message_table().kind(code);
    EXPECT_EQ(kind.severity + ": " + kind.text, text);
  }
  const std::vector<std::string>& codes = message_table().codes();
  EXPECT_EQ(tested, std::set<std::string>(codes.begin(), codes.end()));
}

/// Programs of layers drawn from a list, most of which make no sense; every other one for images.
std::vector<program::Program> drawn_programs(int count) {
  const Json same = {{"padding", "same"}};
  const std::vector<Json> layers{conv(8, 3, "relu", same),
                                 conv(8, 3, "relu", same),
                                 conv(4, 1, "linear", {{"bias_initializer", "ones"}}),
                                 conv(4, 5),
                                 pool(),
                                 pool(),
                                 pool("Average"),
                                 layer("GlobalAveragePooling2D", Json::object()),
                                 layer("ZeroPadding2D", Json::object()),
                                 layer("Reshape", {{"target_shape", {2, 2, 1}}}),
                                 flatten(),
                                 dropout(),
                                 batchnorm(),
                                 activation("relu"),
                                 activation("linear"),
                                 layer("Softmax", Json::object()),
                                 dense(4, "relu", {{"kernel_initializer", "zeros"}}),
                                 dense(8, "linear"),
                                 dense(2, "softmax"),
                                 dense(1, "softmax"),
                                 dense(1, "sigmoid"),
                                 open(dense(1, ""))};
  const std::vector<std::string> losses{
      "hinge",
      "huber_loss",
      "mean_squared_error",
      "mean_absolute_error",
      "binary_crossentropy",
      "categorical_crossentropy",
      "sparse_categorical_crossentropy",
  };
  std::mt19937 numbers(1);
  const auto any = [&](const auto& list) { return list[numbers() % list.size()]; };
  std::vector<program::Program> programs;
  for (int i = 0; i < count; ++i) {
    Json drawn = Json::array();
    for (auto size = 2 + numbers() % 14; size > 0; --size) drawn.push_back(any(layers));
    programs.push_back(
        model(std::move(drawn), any(losses), i % 2 == 0 ? Json{16, 16, 1} : Json{2}));
  }
  for (const Rule& rule : rules()) programs.push_back(rule.broken);
  return programs;
}

TEST(Neuralint, RulesThatNoProgramBreaks) {
  std::set<std::string> published, repaired;
  for (const program::Program& p : drawn_programs(500)) {
    if (unreadable(p, kRepaired)) continue;
    repaired.merge(codes_of(p, kRepaired));
    if (unreadable(p, kPublished)) continue;
    std::set<std::string> said = codes_of(p, kPublished);
    if (said.contains("f013")) {
      // Keras refuses the program, or the tool has passed over a layer.
      const std::string text = p.document.dump();
      EXPECT_TRUE(!program::validate(p.document).empty() ||
                  text.find("Reshape") != std::string::npos ||
                  text.find("ZeroPadding2D") != std::string::npos)
          << text;
    }
    published.merge(said);
  }
  std::set<std::string> expected;
  for (const std::string& code : message_table().codes()) {
    if (!kNever.contains(code)) expected.insert(code);
  }
  EXPECT_EQ(repaired, expected);
  for (const char* code : {"f001", "f008", "f021", "f026"}) expected.erase(code);
  EXPECT_EQ(published, expected);
}

}  // namespace
}  // namespace neutra::fl_adapters::neuralint::tests
