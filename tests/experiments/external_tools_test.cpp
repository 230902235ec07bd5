#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "experiments/catalog.h"
#include "fl_adapters/external.h"
#include "fl_adapters/tool_answer.h"
#include "program/document.h"
#include "program/formats/keras_script.h"
#include "program/formats/program_for_tools.h"
#include "program/layer.h"
#include "tests/schema.h"
#include "tests/source_file.h"

namespace neutra::experiments {
namespace {

const std::filesystem::path kDocs = source_file("docs");

/// Reads data, trains nothing.
class Reader : public training::LocalTrainer {
 public:
  training::ReplicaResult train(const training::TrainingJob&) override { return {}; }
  training::ReplicaResult train(const training::TrainingJob&, training::Observer*) override {
    return {};
  }
  std::optional<std::string> refusal(const program::Program&) override { return std::nullopt; }
  std::string fingerprint(const program::Program&) override { return "reader"; }
  std::shared_ptr<const training::Dataset> dataset(const program::Program& program) override {
    return training::load_dataset(program.document.at("data"), {resource_directory() / "data"});
  }
};

std::vector<std::string> names(program::Vocabulary vocabulary) {
  std::vector<std::string> names;
  for (const program::Entry& entry : program::entries(vocabulary)) names.push_back(entry.name);
  return names;
}

TEST(ProgramSchema, HoldsForAllFaultsAsToolsGetThem) {
  const Schema schema(kDocs / "schemas/program.schema.json");
  for (const std::string& id : fault_ids()) {
    const Fault fault = load_fault(id);
    for (const program::Program& program : {fault.buggy, *fault.fixed}) {
      const Json document = program::program_for_tools(program, nullptr);
      EXPECT_EQ(schema.problem(document), "") << id;
      EXPECT_EQ(program::program_hash({document}), program::program_hash(program)) << id;
      EXPECT_TRUE(program::validate(document).empty()) << id;
    }
  }
}

TEST(ProgramSchema, HasTheWordsOfTheProgram) {
  const nlohmann::json schema = Schema(kDocs / "schemas/program.schema.json").json();
  const auto words = [&](const char* pointer) {
    return schema.at(nlohmann::json::json_pointer(pointer)).get<std::vector<std::string>>();
  };
  std::vector<std::string> classes;
  for (const program::Layer* layer : program::layers()) {  // tools get chains of layers
    if (layer->kind != program::LayerKind::kMerge) classes.push_back(layer->class_name);
  }
  EXPECT_EQ(words("/definitions/layer/properties/class_name/enum"), classes);
  EXPECT_EQ(words("/definitions/layer/properties/config/properties/activation/enum"),
            names(program::Vocabulary::kActivation));
  EXPECT_EQ(words("/definitions/initializer/properties/class_name/enum"),
            names(program::Vocabulary::kInitializer));
  const std::string compile = "/properties/compile/properties/";
  EXPECT_EQ(words((compile + "loss/anyOf/0/enum").c_str()), names(program::Vocabulary::kLoss));
  EXPECT_EQ(words((compile + "metrics/items/enum").c_str()), names(program::Vocabulary::kMetric));
  EXPECT_EQ(words((compile + "optimizer/properties/class_name/enum").c_str()),
            names(program::Vocabulary::kOptimizer));
  EXPECT_EQ(words("/properties/fit/properties/callbacks/items/properties/class_name/enum"),
            names(program::Vocabulary::kCallback));
  EXPECT_EQ(words("/properties/trained/properties/mutations/items/properties/op/enum"),
            names(program::Vocabulary::kTrainedMutation));
}

/// D6 with steps on the trained model.
program::Program with_steps() {
  program::Program program = load_fault("D6").buggy;
  program.document["trained"]["mutations"] =
      Json::array({{{"op", "gaussian_fuzz"}, {"percentage", 5}, {"seed", 3}},
                   {{"op", "activation_removal"}, {"layer", 0}}});
  return program;
}

TEST(ProgramSchema, HoldsForStepsOnTheTrainedModel) {
  const Json document = program::program_for_tools(with_steps(), nullptr);
  EXPECT_EQ(Schema(kDocs / "schemas/program.schema.json").problem(document), "");
  // What tools get means the same.
  EXPECT_EQ(program::program_hash({document}), program::program_hash(with_steps()));
}

TEST(KerasScript, HasNoStepsOnTheTrainedModel) {
  EXPECT_EQ(program::keras_script_refusal(load_fault("D6").buggy), std::nullopt);
  ASSERT_TRUE(program::keras_script_refusal(with_steps()));
  EXPECT_THROW(program::keras_script(with_steps(), {}), Error);
}

TEST(ProgramSchema, RefusesWhatIsWrong) {
  const Schema schema(kDocs / "schemas/program.schema.json");
  const Json good = program::program_for_tools(load_fault("D6").buggy, nullptr);
  for (
      const char* patch :
      {R"([{"op": "remove", "path": "/model"}])",
       R"([{"op": "replace", "path": "/version", "value": 2}])",
       R"([{"op": "add", "path": "/more", "value": 2}])",
       R"([{"op": "replace", "path": "/compile/loss", "value": "mse"}])",
       R"([{"op": "replace", "path": "/fit/batch_size", "value": 0}])",
       R"([{"op": "replace", "path": "/model/config/layers/0/class_name", "value": "LSTMCell"}])",
       R"([{"op": "remove", "path": "/model/config/layers/0/config/activation"}])",
       R"([{"op": "replace", "path": "/model/config/layers/1/config/units", "value": "2"}])",
       R"([{"op": "replace", "path": "/compile/optimizer/config/learning_rate", "value": null}])"}) {
    EXPECT_NE(schema.problem(good.patch(Json::parse(patch))), "") << patch;
  }
}

TEST(ToolSchema, AgreesWithTheReader) {
  const Schema schema(kDocs / "schemas/tool.schema.json");
  const TemporaryFolder folder("neutra-test");
  const Json good = read_json(kDocs / "examples/rate.json");
  ASSERT_EQ(schema.problem(good), "");
  for (const char* patch :
       {R"({})", R"({"needs": []})", R"({"time_limit": 0.5, "memory_limit": 1})",
        R"({"version": 2})", R"({"format": "x"})", R"({"name": "a b"})", R"({"name": ".a"})",
        R"({"command": []})", R"({"command": "x"})", R"({"command": [1]})", R"({"needs": ["gpu"]})",
        R"({"time_limit": 0})", R"({"memory_limit": 0})", R"({"memory_limit": 1.5})",
        R"({"output_limit": 2000000000})", R"({"source": null})", R"({"tool_version": 1})",
        R"({"more": 1})"}) {
    Json json = good;
    json.merge_patch(Json::parse(patch));
    const auto file = folder.path() / "tool.json";
    std::ofstream(file) << json;
    bool accepted = true;
    try {
      fl_adapters::read_tool_description(file);
    } catch (const Error&) {
      accepted = false;
    }
    EXPECT_EQ(schema.problem(json).empty(), accepted) << patch << schema.problem(json);
  }
}

TEST(AnswerSchema, AgreesWithTheReader) {
  const Schema schema(kDocs / "schemas/answer.schema.json");
  std::vector<std::string> types;
  for (const auto& [type, meaning] : program::fault_types()) types.push_back(type);
  EXPECT_EQ(schema.json().at("definitions").at("fault_type").at("enum"), types);
  const program::Program program = load_fault("D6").buggy;
  const auto agree = [&](const std::string& text) {
    const Json json = Json::parse("{\"format\": \"neutra-answer\", \"version\": 1" + text + "}");
    bool accepted = true;
    try {
      fl_adapters::read_tool_answer(json, "", program);
    } catch (const Error&) {
      accepted = false;
    }
    EXPECT_EQ(schema.problem(json).empty(), accepted) << text << "\n" << schema.problem(json);
    return accepted;
  };
  for (const char* good :
       {R"~(, "faults": "ACH(0,1), LCH; HLR")~", R"~(, "faults": "LRM|LAD/ACH(0)")~",
        R"(, "faults": "-")", R"(, "faults": "N/A", "reason": "why")",
        R"(, "ranking": [{"layer": 1, "neuron": 1, "type": "ACH", "suspiciousness": 0}])",
        R"(, "ranking": [{"type": "ACH", "suspiciousness": -1.5}])", R"(, "ranking": [])",
        R"(, "messages": [{"text": "x", "epochs": [0], "layers": [0], "faults": "ACH"}])"}) {
    EXPECT_TRUE(agree(good)) << good;
  }
  for (const char* bad :
       {"", R"(, "faults": "")", R"(, "faults": "ach")", R"(, "faults": 1)", R"(, "fault": "-")",
        R"(, "ranking": [{"suspiciousness": 1}])", R"(, "ranking": [{"layer": 0}])",
        R"(, "ranking": [{"layer": -1, "suspiciousness": 1}])",
        R"(, "ranking": [{"type": "ACH", "neuron": 1, "suspiciousness": 1}])",
        R"(, "ranking": [{"layer": 0, "type": "X", "suspiciousness": 1}])",
        R"(, "ranking": [{"layer": 0, "suspiciousness": "1"}])", R"(, "messages": [{}])",
        R"(, "messages": [{"text": ""}])", R"(, "messages": [{"text": "x", "epochs": [-1]}])",
        R"(, "messages": [{"text": "x", "actionability": "y"}])"}) {
    EXPECT_FALSE(agree(bad)) << bad;
  }
}

TEST(KerasScript, OfAllFaultsIsPython) {
  const TemporaryFolder folder("neutra-test");
  for (const std::string& id : fault_ids()) {
    const program::Program program = load_fault(id).buggy;
    const std::string script = program::keras_script(program, {});
    std::size_t count = 0;
    for (std::size_t at = 0; (at = script.find("model.add(", at)) != std::string::npos; ++at) {
      ++count;
    }
    EXPECT_EQ(count, program::find_layers(program.document)->size()) << id;
    std::ofstream(folder.path() / (id + ".py")) << script;
  }
  ProcessCall call;
  call.command = {"python3", "-c",
                  "import ast, glob\nfor f in glob.glob('*.py'): ast.parse(open(f).read(), f)"};
  call.folder = folder.path();
  const ProcessResult result = run_process(call);
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST(KerasScript, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(program::keras_script(load_fault("D6").buggy, {std::nullopt, false, 5}),
            R"(import random
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential
try:  # TensorFlow 2.11 to 2.15
    from tensorflow.keras.optimizers.legacy import Adam
except ImportError:
    from tensorflow.keras.optimizers import Adam

random.seed(5)
np.random.seed(5)
tf.random.set_seed(5)

x_train = np.load("x_train.npy")
y_train = np.load("y_train.npy")
x_test = np.load("x_test.npy")
y_test = np.load("y_test.npy")

model = Sequential()
model.add(Dense(2, activation="sigmoid", input_shape=(2,)))
model.add(Dense(2, activation="softmax"))

model.compile(loss="categorical_crossentropy", optimizer=Adam(learning_rate=0.001), metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=32, epochs=5)
)");
}

/// Every layer over sequences, and the further ones over images.
std::vector<Json> further_layers() {
  const auto layer = [](const char* class_name, Json config) {
    return Json{{"class_name", class_name}, {"config", std::move(config)}};
  };
  return {
      Json::array({layer("Embedding", {{"input_dim", 9}, {"output_dim", 4}}),
                   layer("Conv1D", {{"filters", 6}, {"kernel_size", 3}, {"padding", "causal"}}),
                   layer("MaxPooling1D", {{"pool_size", 2}}),
                   layer("LayerNormalization", Json::object()),
                   layer("LSTM", {{"units", 5}, {"return_sequences", true}}),
                   layer("GRU", {{"units", 4},
                                 {"return_sequences", true},
                                 {"reset_after", false},
                                 {"recurrent_initializer", "glorot_uniform"}}),
                   layer("SimpleRNN", {{"units", 3}, {"dropout", 0.25}}),
                   layer("Dense", {{"units", 2}, {"activation", "softmax"}})}),
      Json::array(
          {layer("DepthwiseConv2D", {{"kernel_size", 3}, {"depthwise_regularizer", "l2"}}),
           layer("SeparableConv2D", {{"filters", 4}, {"kernel_size", {3, 2}}}),
           layer("GaussianNoise", {{"stddev", 0.5}}), layer("Reshape", {{"target_shape", {-1, 4}}}),
           layer("AveragePooling1D", Json::object()), layer("GlobalMaxPooling1D", Json::object()),
           layer("Dense", {{"units", 2}, {"activation", "softmax"}})})};
}
program::Program with_layers(Json layers, const program::Shape& input) {
  program::Program program = load_fault("D6").buggy;
  Json& shape = layers[0]["config"]["batch_input_shape"];
  shape = Json::array({nullptr});
  for (const std::int64_t extent : input) shape.push_back(extent);
  program.document["model"]["config"]["layers"] = std::move(layers);
  program::require_valid(program.document, "case");
  return program;
}

TEST(KerasScript, NamesFurtherLayers) {
  const std::vector<Json> layers = further_layers();
  const auto lines = [](const program::Program& program) {
    const std::string script = program::keras_script(program, {});
    const std::size_t begin = script.find("model.add");
    return script.substr(begin, script.find("\n\nmodel.compile") - begin);
  };
  EXPECT_EQ(lines(with_layers(layers[0], {8})), R"(model.add(Embedding(9, 4, input_shape=(8,)))
model.add(Conv1D(6, (3,), padding="causal"))
model.add(MaxPooling1D())
model.add(LayerNormalization())
model.add(LSTM(5, return_sequences=True))
model.add(GRU(4, recurrent_initializer="glorot_uniform", return_sequences=True, reset_after=False))
model.add(SimpleRNN(3, dropout=0.25))
model.add(Dense(2, activation="softmax")))");
  EXPECT_EQ(
      lines(with_layers(layers[1], {9, 8, 3})),
      R"(model.add(DepthwiseConv2D((3, 3), depthwise_regularizer=L1L2(l2=0.01), input_shape=(9, 8, 3)))
model.add(SeparableConv2D(4, (3, 2)))
model.add(GaussianNoise(0.5))
model.add(Reshape((-1, 4)))
model.add(AveragePooling1D())
model.add(GlobalMaxPooling1D())
model.add(Dense(2, activation="softmax")))");
}

TEST(ProgramSchema, HoldsForFurtherLayers) {
  const Schema schema(kDocs / "schemas/program.schema.json");
  const std::vector<Json> layers = further_layers();
  for (const program::Program& program :
       {with_layers(layers[0], {8}), with_layers(layers[1], {9, 8, 3})}) {
    const Json document = program::program_for_tools(program, nullptr);
    EXPECT_EQ(schema.problem(document), "");
    EXPECT_EQ(program::program_hash({document}), program::program_hash(program));
    EXPECT_TRUE(program::validate(document).empty());
  }
}

TEST(KerasScript, TakesASeedAndPrintsTheMetric) {
  program::Program program = load_fault("D6").buggy;
  const auto has = [&](const std::string& text) {
    const std::string script = program::keras_script(program, {std::nullopt, false, 5, true});
    return script.find(text) != std::string::npos ? "" : "not in " + script;
  };
  const std::string evaluation = "model.evaluate(x_test, y_test, verbose=0)";
  EXPECT_EQ(has("import random\nimport sys\n"), "");
  EXPECT_EQ(has("\n\nseed = int(sys.argv[1]) if len(sys.argv) > 1 else 5\nrandom.seed(seed)\n"
                "np.random.seed(seed)\ntf.random.set_seed(seed)\n\n"),
            "");
  EXPECT_EQ(has("epochs=5)\n\nprint(\"accuracy:\", " + evaluation + "[1])\n"), "");
  program.document["metric"] = {{"name", "loss"}};
  EXPECT_EQ(has(")\n\nprint(\"loss:\", " + evaluation + "[0])\n"), "");
  // A metric that is measured, not watched, is compiled after the training.
  program.document["metric"] = {{"name", "mae"}};
  EXPECT_EQ(has("epochs=5)\n\nmodel.compile(loss=\"categorical_crossentropy\", "
                "metrics=[\"mae\"])\nprint(\"mae:\", " +
                evaluation + "[1])\n"),
            "");
  program.document["compile"]["metrics"] = {"accuracy", "mean_absolute_error"};
  EXPECT_EQ(has(")\n\nprint(\"mae:\", " + evaluation + "[2])\n"), "");
  program.document["compile"].erase("metrics");
  program.document.erase("metric");
  EXPECT_EQ(has(")\n\nprint(\"loss:\", " + evaluation + ")\n"), "");
}

TEST(KerasScript, KeepsTheMetricsThatCallbacksName) {
  program::Program program = load_fault("D6").buggy;
  program.document["compile"]["metrics"] = {{"acc"}};
  program.document["fit"]["validation_split"] = 0.5;
  program.document["fit"]["callbacks"] = {
      {{"class_name", "EarlyStopping"}, {"config", {{"monitor", "val_acc"}}}}};
  const std::string script = program::keras_script(program, {});
  EXPECT_NE(script.find("metrics=[\"acc\"]"), std::string::npos) << script;
  EXPECT_NE(script.find("EarlyStopping(monitor=\"val_acc\")"), std::string::npos) << script;
}

TEST(KerasScript, DoesWhatKerasCanOfALoop) {
  program::Program program = load_fault("D6").buggy;
  Json& fit = program.document["fit"];
  const auto line = [&](const std::string& word) {
    const std::string script = program::keras_script(program, {});
    const auto at = script.find(word);
    if (at == std::string::npos) return "no " + word + " in " + script;
    const auto begin = script.rfind('\n', at) + 1;
    return script.substr(begin, script.find('\n', at) - begin);
  };
  fit["schedule"] = {{"decay_rate", 0.9}};
  EXPECT_EQ(line("model.fit"),
            "model.fit(x_train, y_train, batch_size=32, epochs=5, callbacks=["
            "LearningRateScheduler(lambda epoch: 0.001 * 0.9 ** epoch)])");
  EXPECT_EQ(line("callbacks import"),
            "from tensorflow.keras.callbacks import LearningRateScheduler");
  fit["schedule"]["every"] = "batch";
  fit["schedule"]["decay_rate"] = 1;
  EXPECT_EQ(line("model.fit"),
            "model.fit(x_train, y_train, batch_size=32, epochs=5, callbacks=["
            "LambdaCallback(on_batch_begin=lambda batch, logs: tf.keras.backend.set_value("
            "model.optimizer.learning_rate, 0.001 * 1.0 ** int(model.optimizer.iterations)))])");
  fit["loop"] = {{"reduction", "sum"}, {"left_out", {1}}};
  EXPECT_EQ(line("losses import"), "from tensorflow.keras.losses import CategoricalCrossentropy");
  EXPECT_EQ(line("model.compile"),
            "model.compile(loss=CategoricalCrossentropy(reduction=\"sum\"), "
            "optimizer=Adam(learning_rate=0.001), metrics=[\"accuracy\"])");
  EXPECT_EQ(line("softmax"), "model.add(Dense(2, activation=\"softmax\", trainable=False))");

  for (const auto& [field, value] : std::vector<std::pair<std::string, Json>>{
           {"zero_grad", "never"}, {"step", false}, {"eval_mode", false}, {"detached", 0}}) {
    fit["loop"] = {{field, value}};
    try {
      program::keras_script(program, {});
      ADD_FAILURE() << field;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      EXPECT_NE(std::string(error.what()).find("/fit/loop/" + field), std::string::npos)
          << error.what();
    }
  }
  Json& layers = program.document["model"]["config"]["layers"];
  layers.insert(layers.begin() + 1, Json{{"class_name", "BatchNormalization"}});
  fit["loop"] = {{"left_out", {1}}};
  EXPECT_THROW(program::keras_script(program, {}), Error);
}

class ExampleTool : public testing::TestWithParam<const char*> {};

TEST_P(ExampleTool, Conforms) {
  const auto file = kDocs / "examples" / (std::string(GetParam()) + ".json");
  EXPECT_EQ(Schema(kDocs / "schemas/tool.schema.json").problem(read_json(file)), "");
  Reader reader;
  fl_adapters::LocaliseContext context;
  context.trainer = &reader;
  const Fault fault = load_fault("D6");
  const auto checks = fl_adapters::check_tool(file, {fault.id, fault.buggy}, context);
  for (const fl_adapters::ToolCheck& check : checks) {
    EXPECT_EQ(check.verdict, fl_adapters::ToolCheck::Verdict::kOk)
        << check.what << ": " << check.detail;
  }
  EXPECT_EQ(checks.size(), 7u);
}

TEST_P(ExampleTool, FindsAWrongLearningRate) {
  const auto file = kDocs / "examples" / (std::string(GetParam()) + ".json");
  Reader reader;
  fl_adapters::LocaliseContext context;
  context.trainer = &reader;
  program::Program program = load_fault("D6").buggy;
  EXPECT_EQ(to_string(fl_adapters::load_tool(file)->localise({"D6", program}, context).faults),
            "-");
  program.document["compile"]["optimizer"]["config"]["learning_rate"] = 3.0;
  EXPECT_EQ(to_string(fl_adapters::load_tool(file)->localise({"D6", program}, context).faults),
            "HLR");
}

INSTANTIATE_TEST_SUITE_P(Docs, ExampleTool, testing::Values("rate", "simple_checks"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ToolCheck, SaysWhatIsWrong) {
  const TemporaryFolder folder("neutra-test");
  const Fault fault = load_fault("D6");
  const auto last = [&](const Json& patch) {
    Json json = read_json(kDocs / "examples/rate.json");
    json.merge_patch(patch);
    const auto file = folder.path() / "tool.json";
    std::ofstream(file) << json;
    const auto checks = fl_adapters::check_tool(file, {fault.id, fault.buggy}, {});
    EXPECT_EQ(checks.back().verdict, fl_adapters::ToolCheck::Verdict::kFailed);
    return checks.back().what + ": " + checks.back().detail;
  };
  EXPECT_NE(last({{"name", "a b"}}).find("description: "), std::string::npos);
  EXPECT_NE(last({{"command", {"nothing-like-it"}}}).find("start: "), std::string::npos);
  EXPECT_EQ(last({{"command", {"sh", "-c", "exit 2"}}}), "end: exit code 2");
  EXPECT_NE(last({{"command", {"sh", "-c", "echo hello"}}}).find("answer: "), std::string::npos);
  EXPECT_NE(last({{"command", {"sh", "-c", "sleep 100"}}, {"time_limit", 0.1}}).find("end: ran"),
            std::string::npos);
}

}  // namespace
}  // namespace neutra::experiments
