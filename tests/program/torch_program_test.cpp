#include "program/formats/torch_program.h"
#include "format_cases.h"
#include "program/formats/keras_script.h"
#include "program/formats/libtorch_program.h"
#include "program/formats/pytorch_script.h"
#include "program/formats/tool_scripts.h"
#include "program/layer.h"
#include "support.h"

namespace neutra::program {
namespace {

using tests::error_of;
using tests::has;
using tests::sample;
using tests::script;
using tests::with_options;
using tests::with_sample_weights;
using tests::wrapped_program;

TEST(TorchProgram, RunsWrappedLayersOnAllSteps) {
  Program program = sample("sequence");
  tests::at(program, "/model/config/layers") = Json::parse(R"([
      {"class_name": "TimeDistributed", "config": {"batch_input_shape": [null, 4, 3], "layer":
        {"class_name": "Dense", "config": {"units": 2, "activation": "tanh",
         "kernel_regularizer": "l2"}}}},
      {"class_name": "SpatialDropout1D", "config": {"rate": 0.25}},
      {"class_name": "Permute", "config": {"dims": [2, 1]}},
      {"class_name": "GaussianDropout", "config": {"rate": 0.25}},
      {"class_name": "Flatten", "config": {}},
      {"class_name": "RepeatVector", "config": {"n": 2}},
      {"class_name": "Flatten", "config": {}},
      {"class_name": "Dense", "config": {"units": 10, "activation": "softmax"}}])");
  const ResolvedProgram resolved = resolve(program);
  std::string calls;
  const TorchProgram torch = torch_program(resolved);
  for (const TorchStep& step : torch.forward) calls += step.call.function + " ";
  EXPECT_EQ(calls,
            "regrouped dense tanh regrouped spatial_dropout permute gaussian_dropout reshape "
            "repeat_vector reshape dense ");
  EXPECT_EQ(torch.variables.front().name, "time_distributed_kernel");
  EXPECT_EQ(torch.variables.front().l2, 0.01);
  for (const char* part :
       {"regrouped", "spatial_dropout", "permute", "gaussian_dropout", "repeat_vector"}) {
    EXPECT_TRUE(has(pytorch_script(resolved, {}), std::string("def ") + part + "(")) << part;
    EXPECT_TRUE(has(libtorch_program(resolved, {}), std::string(" ") + part + "(")) << part;
  }
  EXPECT_TRUE(has(error_of([&] { torch_program(resolve(wrapped_program())); }), "Embedding"));
}

TEST(TorchProgram, KeepsWhatLaterLayersOfAGraphTake) {
  Program program = sample("mlp");
  tests::at(program, "/model/config/layers") = Json::parse(R"([
      {"class_name": "InputLayer", "config": {"name": "in", "batch_input_shape": [null, 4]}},
      {"class_name": "Dense", "config": {"name": "a", "units": 4, "activation": "tanh"}},
      {"class_name": "Dense", "config": {"name": "again"}, "weights_of": "a"},
      {"class_name": "Add", "config": {"name": "sum"}, "inputs": ["again", "in"]},
      {"class_name": "Dropout", "config": {"name": "drop", "rate": 0.5}, "inputs": ["a"]},
      {"class_name": "Concatenate", "config": {"name": "all"}, "inputs": ["sum", "drop"]},
      {"class_name": "Dense", "config": {"units": 3, "activation": "softmax"}}])");
  const ResolvedProgram resolved = resolve(program);
  EXPECT_EQ(torch_program(resolved).variables.size(), 4U);  // `again` has none of its own
  const std::string script = pytorch_script(resolved, {}), cpp = libtorch_program(resolved, {});
  EXPECT_TRUE(has(script, R"(        x0 = x
        x = dense(x, self.dense_kernel, self.dense_bias)
        x = tanh(x)
        x1 = x
        x = dense(x, self.dense_kernel, self.dense_bias)
        x = tanh(x)
        x2 = x
        x = merged([x2, x0], "add")
        x3 = x
        x = x1
        x = dropout(x, 0.5, self.training)
        x4 = x
        x = concatenated([x3, x4], 1)
)")) << script;
  EXPECT_TRUE(has(cpp, R"(    const Tensor x2 = x;
    x = keras::merged({x2, x0}, "add");
    const Tensor x3 = x;
    x = x1;
)")) << cpp;
}

TEST(TorchProgram, HasConstraintsAndOptionsOfLosses) {
  const TorchProgram torch = torch_program(resolve(with_options()));
  EXPECT_EQ(torch.loss, "categorical_crossentropy_of_logits");
  EXPECT_FALSE(torch.loss_of_logits);  // the outputs are the logits
  ASSERT_TRUE(torch.smoothed);
  EXPECT_EQ(torch.variables.front().constraint->function, "bounded_norm");
  EXPECT_EQ(torch.variables.back().constraint->function, "non_neg");
  const std::string text = pytorch_script(resolve(with_options()), {});
  EXPECT_TRUE(has(text, "class_weights(y_train[batch], torch.tensor([1.0, 2.5]).float())")) << text;
  EXPECT_TRUE(has(text, "bounded_norm(model.dense_kernel, 0.0, 3.0, 1.0, [0])")) << text;
}

TEST(TorchProgram, HasSampleWeights) {
  Program program = with_sample_weights();
  std::string text = pytorch_script(resolve(program), {});
  EXPECT_TRUE(has(text, "loss_of(model, z, y_train[batch], weights_train[batch])")) << text;
  EXPECT_TRUE(has(text, "np.load(\"sample_weight_train.npy\")")) << text;
  tests::at(program, "/fit")["class_weight"] = {{"0", 1}, {"1", 2.5}};
  tests::at(program, "/fit")["callbacks"] = Json::parse(
      R"([{"class_name": "EarlyStopping", "config": {"monitor": "val_loss", "patience": 2}}])");
  tests::at(program, "/fit")["validation_split"] = 0.25;
  text = pytorch_script(resolve(program), {});
  EXPECT_TRUE(has(text, ".float()) * weights_train[batch])")) << text;
  EXPECT_TRUE(has(text, "weights_validation = weights_train[used:]")) << text;
  EXPECT_TRUE(has(text, "], weights_validation)\n")) << text;
  text = libtorch_program(resolve(program), {});
  EXPECT_TRUE(has(text, " * weights_train.index_select(0, batch))")) << text;
  EXPECT_TRUE(has(text, "weights_validation = weights_train.slice(0, used);")) << text;
  EXPECT_TRUE(has(text, "}, weights_validation);\n")) << text;
  tests::at(program, "/fit")["validation_split"] = 0;
  EXPECT_FALSE(has(pytorch_script(resolve(program), {true, 0}), "weights_validation"));
  text = pytorch_script(resolve(program), {true, 0, true});
  EXPECT_TRUE(has(text, "np.load(\"sample_weight_validation.npy\")")) << text;
  EXPECT_FALSE(has(pytorch_script(resolve(sample("mlp")), {}), "weights"));
}

TEST(TorchProgram, TakesTheLossFromTheInputOfTheFittingActivation) {
  Program program = sample("mlp");
  TorchProgram torch = torch_program(resolve(program));
  EXPECT_EQ(torch.loss, "categorical_crossentropy_of_logits");
  ASSERT_TRUE(torch.output);
  EXPECT_EQ(torch.output->function, "softmax");
  EXPECT_EQ(torch.forward.size(), 4u);  // dense, relu, dropout, dense
  EXPECT_EQ(torch.variables.back().name, "dense_1_bias");
  tests::at(program, "/model/config/layers/2/config/activation") = "sigmoid";
  torch = torch_program(resolve(program));
  EXPECT_EQ(torch.loss, "categorical_crossentropy");
}

/// Every optimiser, loss, activation, initialiser and loop has its parts in both languages.
TEST(TorchProgram, HasPartsForEveryWord) {
  const auto expect_parts = [](const Program& program) {
    const ResolvedProgram resolved = resolve(program);
    for (const std::string& text :
         {pytorch_script(resolved, {true, 3}), libtorch_program(resolved, {true, 3})}) {
      const TorchProgram torch = torch_program(resolved);
      const bool cpp = has(text, "#include");
      for (const std::string& name :
           {torch.optimizer.function, torch.loss, torch.variables.front().initializer.function,
            torch.forward[1].call.function}) {
        const bool defined =
            has(text, cpp ? " " + name + "(" : "def " + name + "(") || has(text, "class " + name);
        EXPECT_TRUE(defined) << name << "\n" << text;
      }
    }
  };
  for (const Entry& entry : entries(Vocabulary::kOptimizer)) {
    Program program = sample("mlp");
    tests::at(program, "/compile/optimizer") = entry.name;
    expect_parts(program);
  }
  for (const Entry& entry : entries(Vocabulary::kLoss)) {
    Program program = sample("mlp");
    tests::at(program, "/compile/loss") = entry.name;
    expect_parts(program);
  }
  for (const Entry& entry : entries(Vocabulary::kActivation)) {
    if (entry.name == "linear") continue;
    Program program = sample("mlp");
    tests::at(program, "/model/config/layers/0/config/activation") = entry.name;
    expect_parts(program);
  }
  for (const Entry& entry : entries(Vocabulary::kInitializer)) {
    Program program = sample("mlp");
    tests::at(program, "/model/config/layers/0/config")["kernel_initializer"] = entry.word;
    expect_parts(program);
  }
}

TEST(TorchProgram, WritesTheLoopsThatKerasHasNot) {
  Program program = sample("mlp");
  const auto script = [&] { return pytorch_script(resolve(program), {}); };
  const std::string usual = script();
  EXPECT_TRUE(has(usual, "        model.zero_grad(set_to_none=True)\n        z = model("));
  EXPECT_TRUE(has(usual, "        optimizer.step()\n"));
  EXPECT_TRUE(has(usual, "    model.eval()\n"));
  Json& fit = tests::at(program, "/fit");
  fit["loop"] = {{"zero_grad", "never"}, {"step", false}, {"eval_mode", false},
                 {"reduction", "sum"},   {"detached", 1}, {"left_out", {0}}};
  const std::string other = script();
  EXPECT_FALSE(has(other, "zero_grad"));
  EXPECT_FALSE(has(other, "optimizer.step()"));
  EXPECT_FALSE(has(other, "model.eval()"));
  EXPECT_TRUE(has(other, ".mean() * len(y)\n"));
  EXPECT_TRUE(has(other, "        x = detach(x)\n"));
  EXPECT_TRUE(has(other, "Adam([model.dense_1_kernel, model.dense_1_bias], "));
}

TEST(TorchProgram, RefusesByName) {
  Program program = sample("mlp");
  tests::at(program, "/model/config/layers/2/config")["activity_regularizer"] = "l2";
  EXPECT_TRUE(has(error_of([&] { torch_program(resolve(program)); }),
                  "/model/config/layers/2: found Dense"));
}

/// Every metric is a function that the scripts bring along, or one of their libraries.
TEST(Scripts, TakeEveryMetric) {
  for (const Entry& entry : entries(Vocabulary::kMetric)) {
    if (entry.name == "loss") continue;
    Program program = sample("mlp");
    tests::at(program, "/compile/metrics") =
        Json::array({entry.aliases.empty() ? entry.name : entry.aliases[0]});
    tests::at(program, "/metric") = {{"name", entry.name}};
    if (entry.facts.contains("k")) tests::at(program, "/metric/k") = 3;
    const std::string call = "metric_" + entry.name + "(";
    const std::string torch = pytorch_script(resolve(program), {});
    KerasScriptOptions options;
    options.standalone = true;
    const std::string keras = keras_script(program, options);
    const bool streamed = entry.name == "accuracy" || entry.name == "mae" || entry.name == "mse";
    for (const std::string& script : {torch, keras}) {
      EXPECT_EQ(has(script, "def " + call), !streamed) << entry.name;
      EXPECT_EQ(has(script, ", 3)"), entry.facts.contains("k")) << entry.name;
      EXPECT_TRUE(has(script, "print(\"" + resolve(program).metric + ":\", ")) << entry.name;
    }
    if (!streamed) {
      EXPECT_TRUE(has(keras, call + "y_test, model.predict(x_test, verbose=0)")) << entry.name;
      EXPECT_TRUE(has(error_of([&] { libtorch_program(resolve(program), {}); }), "/metric/name"));
    }
    // Keras hears of what it knows only.
    EXPECT_EQ(has(keras, ", metrics=["), entry.facts.value("keras", Json("")) != nullptr)
        << entry.name;
    for (const Json& own : entry.facts.value("own", Json::array())) {
      EXPECT_FALSE(has(keras, "metrics=[" + own.dump())) << entry.name;
    }
  }
  Program program = sample("mlp");
  tests::at(program, "/compile/metrics") = {"r2"};
  tests::at(program, "/fit/callbacks") = {
      {{"class_name", "EarlyStopping"}, {"config", {{"monitor", "val_r2"}}}}};
  EXPECT_TRUE(has(error_of([&] { keras_script(program, {}); }), "monitor val_r2"));
  EXPECT_TRUE(has(pytorch_script(resolve(program), {}), "\"r2\": lambda y, o: metric_r2(y, o)"));
  tests::at(program, "/fit/callbacks") = Json::array();
  tests::at(program, "/metric") = {{"name", "mae"}, {"scale", "original"}};
  EXPECT_TRUE(
      has(pytorch_script(resolve(program), {}), "print(\"mae (on the scale of y_test.npy):\""));
}

TEST(Parts, BringWhatTheyNeed) {
  const std::string_view parts =
      "head\n# part: a\ndef a(): return b()\n\n# part: b\ndef b(): return x.c()\n\n# part: c\ndef "
      "c(): return torch.a\n";
  EXPECT_EQ(parts_for(parts, "a()"), "def a(): return b()\n\ndef b(): return x.c()\n");
  EXPECT_EQ(parts_for(parts, "c"), "def c(): return torch.a\n");
  EXPECT_EQ(parts_for(parts, "ab torch.a o.b"), "");
}

}  // namespace
}  // namespace neutra::program
