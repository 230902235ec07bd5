#include <gtest/gtest.h>

#include "base/files.h"
#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

const std::string kModels = source_file("tests/program/data/keras/");

/// Rows for keras2_dense.h5: five features, three classes.
std::string rows() {
  std::string text = "a,b,c,d,e,y\n";
  for (int i = 0; i < 30; ++i) {
    for (int k = 0; k < 5; ++k) text += std::to_string((7 * i + 3 * k) % 11) + ",";
    text += std::to_string(i % 3) + "\n";
  }
  return text;
}

TEST(Import, MakesAProgramThatTrains) {
  const Folder folder;
  folder.write("rows.csv", rows());
  folder.write("training.json",
               R"({"loss": "sparse_categorical_crossentropy", "batch_size": 8, "epochs": 2})");
  const Called imported = call({"import", kModels + "keras2_dense.h5", "-o", "p.json", "--data",
                                "rows.csv", "--training", "training.json", "--json"},
                               folder.path());
  ASSERT_EQ(imported.exit, 0) << imported.err;
  const Json told = parse_json(imported.out, "output");
  EXPECT_EQ(told["keras_version"], "2.15.0");
  EXPECT_EQ(told["program"], "p.json");
  bool split = false;
  for (const Json& each : told["assumptions"]) split = split || each["field"] == "data.split";
  EXPECT_TRUE(split);
  const Called trained = call({"train", "p.json", "-n", "1"}, folder.path());
  EXPECT_EQ(trained.exit, 0) << trained.err;
  const Called evaluated = call({"evaluate", "p.json", "--weights", kModels + "keras2_dense.h5",
                                 "--json", "--predict", "y.npy"},
                                folder.path());
  ASSERT_EQ(evaluated.exit, 0) << evaluated.err;
  const Json json = parse_json(evaluated.out, "output");
  EXPECT_EQ(json["rows"], 6);
  EXPECT_EQ(json["total"], 6);
  EXPECT_EQ(json["metric"], "accuracy");
  EXPECT_GT(json["loss"].get<double>(), 0);
  EXPECT_EQ(folder.read("y.npy").size(), 128U + 6 * 3 * 4);
  const Called itself = call({"evaluate", kModels + "keras2_dense.h5", "--data", "rows.csv",
                              "--training", "training.json", "--json"},
                             folder.path());
  ASSERT_EQ(itself.exit, 0) << itself.err;
  EXPECT_EQ(parse_json(itself.out, "output")["loss"], json["loss"]);
}

TEST(Import, TakesTextLabelsAsTheHowtoHasThem) {
  const Folder folder;
  const std::string text = read_file(source_file("docs/howto/import_a_keras_model.md"), "a page");
  const std::string fence = "```json\n";
  const std::size_t begin = text.find(fence) + fence.size();
  ASSERT_GT(begin, fence.size());
  folder.write("flowers.json", text.substr(begin, text.find("```", begin) - begin));
  std::string rows = "a,b,c,species,d,e\n";
  const char* const kinds[] = {"setosa", "versicolor", "virginica"};
  for (int i = 0; i < 30; ++i) {
    for (int k = 0; k < 6; ++k) {
      rows += (k == 3 ? kinds[i % 3] : std::to_string((7 * i + 3 * k) % 11)) + (k < 5 ? "," : "\n");
    }
  }
  folder.write("flowers.csv", rows);
  folder.write("training.json",
               R"({"loss": "sparse_categorical_crossentropy", "batch_size": 8, "epochs": 2})");
  const auto import = [&](const std::string& data) {
    return call({"import", kModels + "keras2_dense.h5", "-o", "p.json", "--data", data,
                 "--training", "training.json"},
                folder.path());
  };
  const Called plain = import("flowers.csv");
  EXPECT_TRUE(refused(plain, 3, {"data.arguments.labels"}));
  const Called imported = import("flowers.json");
  ASSERT_EQ(imported.exit, 0) << imported.err;
  const Called trained = call({"train", "p.json", "-n", "1", "--json"}, folder.path());
  ASSERT_EQ(trained.exit, 0) << trained.err;
  EXPECT_EQ(parse_json(trained.out, "output")["metric"], "accuracy");
}

TEST(Import, WithoutDataShowsButDoesNotTrain) {
  const Folder folder;
  const Called imported =
      call({"import", kModels + "keras3_images.keras", "-o", "p.json", "--json"}, folder.path());
  ASSERT_EQ(imported.exit, 0) << imported.err;
  bool said = false;
  const Json told = parse_json(imported.out, "output");
  for (const Json& each : told["assumptions"]) said = said || each["field"] == "data";
  EXPECT_TRUE(said) << told;
  const Called shown = call({"show", "p.json", "--json"}, folder.path());
  ASSERT_EQ(shown.exit, 0) << shown.err;
  EXPECT_EQ(parse_json(shown.out, "output")["layers"].size(), told["layers"]);
  const Called trained = call({"train", "p.json"}, folder.path());
  EXPECT_TRUE(refused(trained, 3, {"no data"}));
}

TEST(Import, TakesTheOptionsThatLieBesideTheModel) {
  const Folder folder;
  std::filesystem::copy(kModels + "keras2_dense.h5", folder.path() / "m.h5");
  folder.write("m.neutra.json", R"({"fit": {"epochs": 5}})");
  ASSERT_EQ(call({"import", "m.h5", "-o", "p.json"}, folder.path()).exit, 0);
  EXPECT_EQ(parse_json(folder.read("p.json"), "p.json")["fit"]["epochs"], 5);
}

TEST(Import, RefusesAndLeavesTheOutputAlone) {
  const Folder folder;
  folder.write("out.json", "before");
  folder.write("a.pkl", std::string("\x80\x04") + "}q.");
  folder.write("a.h5", std::string("\x89HDF\r\n\x1a\n") + std::string(500, 'x'));
  folder.write("rows.csv", "a,b\n1,2\n3,4\n");
  const auto refuses = [&](std::vector<std::string> words, const std::vector<std::string>& named) {
    words.insert(words.begin(), "import");
    words.insert(words.end(), {"-o", "out.json"});
    const Called called = call(words, folder.path());
    EXPECT_TRUE(refused(called, 3, named));
    EXPECT_EQ(folder.read("out.json"), "before");
  };
  refuses({"a.pkl"}, {"a.pkl", "pickle"});
  refuses({"a.h5"}, {"a.h5", "HDF5"});
  refuses({"none.keras"}, {"none.keras"});
  refuses({kModels + "keras2_dense.h5", "--training", "a.pkl"}, {"a.pkl", "pickle"});
  refuses({kModels + "keras2_dense.h5", "--data", "rows.csv"}, {"input_1", "InputLayer"});
  refuses({kModels + "keras2_dense.h5", "--data", "a.pkl"}, {"a.pkl", ".csv"});
  const Called without = call({"import", kModels + "keras2_dense.h5"}, folder.path());
  EXPECT_EQ(without.exit, 2);
  const Called onto =
      call({"import", kModels + "keras2_dense.h5", "--data", "rows.csv", "-o", "rows.csv"},
           folder.path());
  EXPECT_EQ(onto.exit, 2);
}

/// scripts/check_import --flips 1000 --cuts 300 does the same with more files.
TEST(Import, DamagedModelFilesAreReadOrRefused) {
  const Folder folder;
  std::uint32_t state = 1;
  const auto next = [&](std::size_t below) {  // a linear congruential generator
    state = state * 1664525U + 1013904223U;
    return (std::uint64_t{state} * below) >> 32;
  };
  for (const std::string name : {"keras2_dense.h5", "keras2_functional.keras"}) {
    const std::string whole = read_file(kModels + name, "a model");
    ASSERT_FALSE(whole.empty());
    for (int i = 0; i < 24; ++i) {
      std::string bytes = whole;
      if (i % 3 == 0) {
        bytes.resize(next(bytes.size()));
      } else {
        bytes[next(bytes.size())] ^= static_cast<char>(1U << next(8));
      }
      folder.write(name, bytes);
      const Called called = call({"import", name, "-o", "p.json"}, folder.path(), 20);
      EXPECT_TRUE(called.exit == 0 || called.exit == 3) << i << ": " << called.exit << called.err;
      EXPECT_EQ(called.exit == 3, called.err.starts_with("neutra: error: ")) << called.err;
    }
  }
}

TEST(Import, EvaluateTakesTheJsonOfAModelWithWeightsBesideIt) {
  const Folder folder;
  folder.write("m.json", read_file(kModels + "keras2_dense.json", "a model"));
  folder.write("rows.csv", rows());
  folder.write("training.json", R"({"loss": "sparse_categorical_crossentropy"})");
  ASSERT_EQ(call({"import", "m.json", "-o", "p.json"}, folder.path()).exit, 0);
  const auto evaluated = [&](const std::string& model, const std::vector<std::string>& more) {
    std::vector<std::string> words{"evaluate",   model,           "--data", "rows.csv",
                                   "--training", "training.json", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return call(words, folder.path());
  };
  const Called beside = evaluated("m.json", {"--weights", kModels + "keras2_dense.h5"});
  ASSERT_EQ(beside.exit, 0) << beside.err;
  const Called whole = evaluated(kModels + "keras2_dense.h5", {});
  ASSERT_EQ(whole.exit, 0) << whole.err;
  EXPECT_EQ(parse_json(beside.out, "out")["loss"], parse_json(whole.out, "out")["loss"]);
  EXPECT_EQ(evaluated("m.json", {}).exit, 2);
  for (const char* verb : {"show", "train"}) {
    const Called called = call({verb, "m.json"}, folder.path());
    EXPECT_TRUE(refused(called, 3, {"neutra import"}));
  }
}

TEST(Import, EvaluateSaysThatALossIsNotFinite) {
  const Folder folder;
  std::string far = rows();
  for (std::size_t at = far.find('\n'); at + 1 < far.size(); at = far.find('\n', at + 1)) {
    far.replace(at + 1, far.find(',', at) - at - 1, "1e300");
  }
  folder.write("rows.csv", far);
  folder.write("training.json", R"({"loss": "sparse_categorical_crossentropy"})");
  std::vector<std::string> words{
      "evaluate", kModels + "keras2_dense.h5", "--data", "rows.csv", "--training", "training.json"};
  const Called text = call(words, folder.path());
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_TRUE(has(text.out, {"\nloss not finite\n"}));
  words.emplace_back("--json");
  const Called json = call(words, folder.path());
  ASSERT_EQ(json.exit, 0) << json.err;
  EXPECT_TRUE(parse_json(json.out, "output").at("loss").is_null()) << json.out;
}

TEST(Import, EvaluateSaysWhatIsMissing) {
  const Folder folder;
  const auto evaluate = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "evaluate");
    return call(words, folder.path());
  };
  const std::string weights = kModels + "keras2_dense.h5";
  EXPECT_TRUE(refused(evaluate({"D7"}), 2, {"--weights"}));
  EXPECT_TRUE(refused(evaluate({weights}), 3, {"keras2_dense.h5", "data"}));
  EXPECT_TRUE(refused(evaluate({"D7", "--weights", weights}), 3, {"keras2_dense.h5"}));
  EXPECT_TRUE(refused(evaluate({"D7", "--weights", weights, "--input", "x.npy"}), 2,
                      {"--input", "--predict"}));
}

}  // namespace
}  // namespace neutra::cli
