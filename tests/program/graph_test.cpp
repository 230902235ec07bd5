#include "program/graph.h"

#include "program/edit.h"
#include "program/formats/keras_graph.h"
#include "program/formats/keras_script.h"
#include "program/layer.h"
#include "program/layer_titles.h"
#include "program/parameters.h"
#include "program/trained_mutations.h"
#include "support.h"

namespace neutra::program {
namespace {

using tests::at;
using tests::error_of;
using tests::sample;

Json layer(const std::string& class_name, const std::string& name, Json config = Json::object(),
           Json inputs = Json()) {
  Json one = {{"class_name", class_name}, {"config", std::move(config)}};
  if (!name.empty()) one["config"]["name"] = name;
  if (!inputs.is_null()) one["inputs"] = std::move(inputs);
  return one;
}

Json dense(const std::string& name, int units, Json inputs = Json()) {
  return layer("Dense", name, {{"units", units}}, std::move(inputs));
}

/// A row of 20 goes two ways, one of them through the same layer twice.
Program two_ways() {
  Program program = sample("mlp");
  Json again = layer("Dense", "d2", Json::object(), {"act"});
  again["weights_of"] = "d";
  at(program, "/model/config/layers") = {
      layer("InputLayer", "in", {{"batch_input_shape", {nullptr, 20}}}),
      dense("d", 20),
      layer("Activation", "act", {{"activation", "relu"}}),
      again,
      dense("side", 20, {"in"}),
      layer("Add", "sum", Json::object(), {"d2", "side"}),
      dense("out", 10)};
  return program;
}

Json& layers(Program& program) { return at(program, "/model/config/layers"); }

testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in:\n" << text;
}

std::string problems_of(const Program& program) {
  std::string text;
  for (const Problem& problem : validate(program.document)) text += to_string(problem) + "\n";
  return text;
}

TEST(Graph, IsRead) {
  const Program program = two_ways();
  EXPECT_EQ(problems_of(program), "");
  const ResolvedProgram resolved = resolve(program);
  ASSERT_EQ(resolved.layers.size(), 7u);
  EXPECT_EQ(resolved.layers[0].inputs, std::vector<std::size_t>{});
  EXPECT_EQ(resolved.layers[2].inputs, std::vector<std::size_t>{1});
  EXPECT_EQ(resolved.layers[4].inputs, std::vector<std::size_t>{0});
  EXPECT_EQ(resolved.layers[5].inputs, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(resolved.layers[3].weights_of, std::optional<std::size_t>(1));
  EXPECT_EQ(resolved.layers[3].config, resolved.layers[1].config);
  EXPECT_EQ(resolved.layers[3].weights.size(), 2u);
  EXPECT_EQ(resolved.layers[5].output_shape, Shape{20});
  EXPECT_FALSE(is_chain(resolved.layers));
  EXPECT_TRUE(is_chain(resolve(sample("mlp")).layers));
  EXPECT_EQ(consumers_of(resolved.layers)[0], (std::vector<std::size_t>{1, 4}));
}

TEST(Graph, MistakesAreNamed) {
  const auto with = [](const std::string& path, Json value) {
    Program program = two_ways();
    at(program, path) = std::move(value);
    return problems_of(program);
  };
  const std::string place = "/model/config/layers/";
  EXPECT_TRUE(has(with(place + "4/inputs", {"int"}),
                  place + "4/inputs/0: found \"int\"; allowed: the name (config.name) of a layer "
                          "before it: "));
  EXPECT_TRUE(
      has(with(place + "4/inputs", {"out"}), "found \"out\", which stands behind it in the list"));
  EXPECT_TRUE(has(with(place + "4/inputs", {"side"}), "found \"side\", the layer itself"));
  EXPECT_TRUE(has(with(place + "4/inputs", {"in", "d"}),
                  "found 2 inputs of a Dense; allowed: one; layers such as Add"));
  EXPECT_TRUE(has(with(place + "4/inputs", 0), "found 0; allowed: an array of names"));
  EXPECT_TRUE(has(with(place + "4/inputs", {0}), "found 0; allowed: the name (config.name)"));
  EXPECT_TRUE(has(with(place + "0/inputs", {"in"}), "allowed: nothing: the first layer takes"));
  EXPECT_TRUE(
      has(with(place + "5/inputs", {"d2"}), "found 1 input of a Add; allowed: two or more"));
  EXPECT_TRUE(has(with(place + "4/config/name", "d"), "found \"d\", the name of the layers 1, 4"));
  EXPECT_TRUE(
      has(with(place + "6/inputs", {"side"}), place + "5: found Add whose output no layer takes"));
  EXPECT_TRUE(has(with(place + "4/config/units", 7),
                  place + "5: found inputs of the shapes (20), (7); allowed: shapes whose"));
  EXPECT_TRUE(has(with(place + "1/config/units", 9),
                  place + "3: found an input (9), for which the kernel would be (9, 9); allowed: "
                          "inputs that fit the kernel of layer 1, (20, 9)"));
  EXPECT_TRUE(has(with(place + "3/config/units", 9),
                  place + "3/config/units: found 9; allowed: no other field than name"));
  EXPECT_TRUE(has(with(place + "3/class_name", "Conv2D"), "allowed: Dense, the class of \"d\""));
  EXPECT_TRUE(has(with(place + "3/weights_of", "in"), "found \"in\", an InputLayer"));
  EXPECT_TRUE(has(with("/fit/loop", {{"left_out", {3}}}),
                  "found layer 3, which is layer 1 once more; allowed: 1"));
  Program headless = two_ways();
  layers(headless)[0] = dense("in", 20);
  EXPECT_TRUE(has(problems_of(headless), place + "0: found Dense; allowed: InputLayer"));
  Program wrapped = sample("mlp");
  layers(wrapped)[0] = layer("Dense", "", {{"units", 3}});
  layers(wrapped)[0]["input"] = {"a"};
  EXPECT_TRUE(has(problems_of(wrapped), "an unknown field"));
}

TEST(Graph, MergesHaveKerasShapes) {
  const auto shape_of = [](const std::string& class_name, const std::vector<Shape>& inputs,
                           Json config = Json::object()) {
    if (class_name == "Concatenate" && !config.contains("axis")) config["axis"] = -1;
    const auto result = find_layer(class_name)
                            ->merged_shape(config, inputs, std::vector<bool>(inputs.size(), false));
    return std::holds_alternative<Shape>(result) ? to_string(std::get<Shape>(result)) : "refused";
  };
  EXPECT_EQ(shape_of("Add", {{4, 3}, {4, 3}}), "(4, 3)");
  EXPECT_EQ(shape_of("Add", {{4, 3}, {3}}), "(4, 3)");
  EXPECT_EQ(shape_of("Multiply", {{1, 3}, {4, 1}}), "(4, 3)");
  EXPECT_EQ(shape_of("Maximum", {{4, 3}, {4}}), "refused");
  EXPECT_EQ(shape_of("Concatenate", {{4, 3}, {4, 2}}), "(4, 5)");
  EXPECT_EQ(shape_of("Concatenate", {{4, 3}, {4, 2}}, {{"axis", 1}}), "refused");
  EXPECT_EQ(shape_of("Concatenate", {{4, 3}, {2, 3}}, {{"axis", 1}}), "(6, 3)");
  EXPECT_EQ(shape_of("Concatenate", {{4, 3}, {3}}), "refused");
  EXPECT_EQ(shape_of("Concatenate", {{4}, {3}}, {{"axis", 0}}), "refused");
  EXPECT_EQ(shape_of("Concatenate", {{4}, {3}}, {{"axis", 2}}), "refused");
}

/// Names say nothing about a program, and neither does what holds anyway.
TEST(Graph, IdentityIsInPositions) {
  const Hash hash = program_hash(two_ways());
  Program renamed = two_ways();
  for (std::size_t i = 0; i < layers(renamed).size(); ++i) {
    Json& one = layers(renamed)[i];
    one["config"]["name"] = "x" + std::to_string(i);
  }
  layers(renamed)[3]["inputs"] = {"x2"};
  layers(renamed)[3]["weights_of"] = "x1";
  layers(renamed)[4]["inputs"] = {"x0"};
  layers(renamed)[5]["inputs"] = {"x3", "x4"};
  layers(renamed)[6]["inputs"] = {"x5"};
  at(renamed, "/model/class_name") = "Functional";
  EXPECT_EQ(problems_of(renamed), "");
  EXPECT_EQ(program_hash(renamed), hash);
  layers(renamed)[5]["inputs"] = {"x4", "x3"};
  EXPECT_NE(program_hash(renamed), hash);

  // A chain is a chain, however it is written.
  Program chain = sample("mlp");
  const Hash before = program_hash(chain);
  layers(chain)[0]["config"]["name"] = "first";
  layers(chain)[1]["inputs"] = {"first"};
  at(chain, "/model/class_name") = "Functional";
  EXPECT_EQ(program_hash(chain), before);
  EXPECT_EQ(canonical(chain), canonical(sample("mlp")));
}

TEST(Graph, EditsRewire) {
  Program program = two_ways();
  EXPECT_EQ(repeat_layer(program.document, 4, 0), (std::vector<std::size_t>{0, 1, 2, 3, 5, 6}));
  EXPECT_EQ(problems_of(program), "");
  EXPECT_EQ(layers(program)[4]["inputs"], (Json{"d2", "in"}));  // what went in comes out

  // A layer goes and is doubled wherever it is called.
  program = two_ways();
  EXPECT_EQ(repeat_layer(program.document, 1, 0), (std::vector<std::size_t>{0, 2, 4, 5, 6}));
  EXPECT_EQ(problems_of(program), "");
  EXPECT_EQ(layers(program)[3]["inputs"], (Json{"act", "side"}));

  program = two_ways();
  EXPECT_EQ(repeat_layer(program.document, 1, 2),
            (std::vector<std::size_t>{0, 1, 1, 2, 3, 3, 4, 5, 6}));
  EXPECT_EQ(problems_of(program), "");
  const ResolvedProgram doubled = resolve(program);
  EXPECT_EQ(doubled.layers[2].inputs, std::vector<std::size_t>{1});
  EXPECT_EQ(doubled.layers[4].weights_of, std::optional<std::size_t>(1));
  EXPECT_EQ(doubled.layers[5].weights_of, std::optional<std::size_t>(2));
  EXPECT_EQ(doubled.layers[7].inputs, (std::vector<std::size_t>{5, 6}));

  // A new layer stands on the way from the one before to all that took its output.
  program = two_ways();
  insert_layer(program.document, 1, layer("Dropout", "", {{"rate", 0.5}}));
  EXPECT_EQ(problems_of(program), "");
  const ResolvedProgram inserted = resolve(program);
  EXPECT_EQ(inserted.layers[2].inputs, std::vector<std::size_t>{1});
  EXPECT_EQ(inserted.layers[5].inputs, std::vector<std::size_t>{1});

  // A merge of one input is none.
  program = two_ways();
  repeat_layer(program.document, 5, 2);
  EXPECT_TRUE(has(problems_of(program), "found 1 input of a Add"));
  // The input goes to two layers: without it there is nothing that both could take.
  program = two_ways();
  repeat_layer(program.document, 0, 0);
  EXPECT_NE(problems_of(program), "");

  program = two_ways();
  set_layer_field(program.document, 3, "activation", "tanh");
  EXPECT_EQ(layers(program)[1]["config"]["activation"], "tanh");
  EXPECT_EQ(problems_of(program), "");
}

TEST(Graph, HasKeys) {
  const ProgramSpace space = ProgramSpace::with_default_keys(two_ways());
  EXPECT_EQ(to_string(space.base_parameters()),
            "act1=relu,act2=linear,act3=linear,batch_size=32,bi1=zeros,bi2=zeros,bi3=zeros,"
            "epochs=5,ki1=glorot_uniform,ki2=glorot_uniform,ki3=glorot_uniform,layer1=1,layer2=1,"
            "loss=categorical_crossentropy,lr=0.001,optimizer=adam,unit1=20,unit2=20");
  // The Activation behind a merge is that of a layer without one before it.
  Program program = two_ways();
  insert_layer(program.document, 6, layer("Activation", "late", {{"activation", "tanh"}}));
  EXPECT_EQ(ProgramSpace::with_default_keys(program).base_parameters().at("act2"), "tanh");
  for (const char* changes :
       {"layer1=2", "layer1=0", "layer2=0,act1=tanh", "layer1=2,layer2=2,act2=tanh,bi3=ones"}) {
    const Parameters wanted = space.with_changes(parse_parameters(changes, ""));
    const Program made = space.instantiate(wanted);
    EXPECT_EQ(problems_of(made), "") << changes;
    const auto found = space.parameters_of(made);
    ASSERT_TRUE(found) << changes;
    EXPECT_EQ(program_hash(space.instantiate(*found)), program_hash(made)) << changes;
  }
}

TEST(Graph, StepsNameLayersOnce) {
  const ResolvedProgram program = resolve(two_ways());
  const LayerTitles titles(two_ways().document);
  EXPECT_EQ(trained_step_refusal("gaussian_fuzz", program.layers, 1, titles), "");
  EXPECT_EQ(trained_step_refusal("gaussian_fuzz", program.layers, 3, titles),
            "layer 3, d2 (Dense), which is layer 1 once more");
  EXPECT_EQ(trained_step_refusal("gaussian_fuzz", program.layers, 5, titles),
            "layer 5, sum (Add), which is neither Dense nor Conv2D");
}

/// The order that tf.keras 2.15 and Keras 3 list the layers of such a model in.
TEST(Graph, HasKerasOrder) {
  Program program = two_ways();
  Json again = layer("Dense", "e", Json::object(), {"c"});
  again["weights_of"] = "zz";
  layers(program) = {layer("InputLayer", "in", {{"batch_input_shape", {nullptr, 4}}}),
                     dense("aa", 4),
                     dense("mm", 3),
                     dense("zz", 4, {"in"}),
                     layer("Add", "c", Json::object(), {"zz", "aa"}),
                     again,
                     layer("Concatenate", "f", Json::object(), {"e", "zz", "mm"}),
                     dense("out", 2)};
  ASSERT_EQ(problems_of(program), "");
  const KerasGraph graph = keras_graph(resolve(program).layers);
  EXPECT_EQ(graph.order, (std::vector<std::size_t>{0, 3, 1, 4, 2, 6, 7}));
  EXPECT_EQ(graph.names, (std::vector<std::string>{"input_layer", "dense_1", "dense_2", "dense",
                                                   "add", "dense", "concatenate", "dense_3"}));
}

TEST(Graph, BecomesAFunctionalScript) {
  const std::string script = keras_script(two_ways(), {});
  EXPECT_TRUE(has(script, "from tensorflow.keras.models import Model\n"));
  EXPECT_TRUE(has(script,
                  "input_layer = Input((20,))\n"
                  "dense_layer = Dense(20)\n"
                  "dense = dense_layer(input_layer)\n"
                  "activation = Activation(\"relu\")(dense)\n"
                  "dense_call_2 = dense_layer(activation)\n"
                  "dense_1 = Dense(20)(input_layer)\n"
                  "add = Add()([dense_call_2, dense_1])\n"
                  "dense_2 = Dense(10)(add)\n"
                  "model = Model(input_layer, dense_2)\n"));
}

}  // namespace
}  // namespace neutra::program
