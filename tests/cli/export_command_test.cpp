#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

/// What Python's own library says of files in the folder; "" if it agrees.
std::string python(const Folder& folder, const std::string& code) {
  folder.write("check.py", code);
  const std::string command = "cd '" + folder.path().string() + "' && python3 check.py > said 2>&1";
  const int status = std::system(command.c_str());
  return status == 0 ? "" : folder.read("said");
}

const std::vector<std::string> kArrays{"x_test.npy", "x_train.npy", "y_test.npy", "y_train.npy"};

TEST(Export, ScriptsForToolsAreOfTheProgramThatTheToolsRanOn) {
  const Folder folder;
  folder.write("f.json", R"({"format": "neutra-fault", "version": 1, "subject": "d6",
    "tools": {"parameters": {"lr": 0.375}, "reason": "another rate"}})");
  for (const auto& [format, for_tool] : {std::pair{"umlaut", true},
                                         {"deepdiagnosis", true},
                                         {"deeplocalize", true},
                                         {"neuralint", true},
                                         {"keras", false},
                                         {"pytorch", false}}) {
    const Called script = call({"export", "f.json", "--format", format}, folder.path());
    EXPECT_EQ(script.exit, 0) << script.err;
    EXPECT_EQ(contains(script.out, "0.375"), for_tool) << format;
  }
}

TEST(Export, WritesEveryFormat) {
  const Folder folder;
  const std::vector<std::pair<std::string, std::vector<std::string>>> folders{
      {"keras", {"requirements.txt", "train.py"}},
      {"keras3", {"requirements.txt", "train.py"}},
      {"keras23", {"requirements.txt", "train.py"}},
      {"pytorch", {"requirements.txt", "train.py"}},
      {"libtorch", {"CMakeLists.txt", "train.cpp"}},
      {"umlaut", {"requirements.txt", "train.py"}},
      {"deepdiagnosis", {"requirements.txt", "train.py"}},
      {"deeplocalize", {"requirements.txt", "train.py"}},
      {"autotrainer", {"config.pkl", "model.h5", "neutradata.py"}},
      {"deepfd", {"config.pkl", "dataset.pkl", "model.h5", "origin.py"}},
      {"neuralint", {"train.py"}}};
  for (const auto& [format, files] : folders) {
    SCOPED_TRACE(format);
    const Called called = call({"export", "D6", "--format", format, "-o", format}, folder.path());
    ASSERT_EQ(called.exit, 0) << called.err;
    std::vector<std::string> expected = files, found;
    if (format != "deepfd" && format != "neuralint") {
      expected.insert(expected.end(), kArrays.begin(), kArrays.end());
    }
    std::sort(expected.begin(), expected.end());
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / format))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
  for (const char* format : {"h5", "keras-file", "torchscript"}) {
    const std::string file = std::string(format) + ".model";
    const Called called = call({"export", "D6", "--format", format, "-o", file}, folder.path());
    ASSERT_EQ(called.exit, 0) << called.err;
    EXPECT_GT(folder.read(file).size(), 1000u) << format;
    const Json sidecar = parse_json(folder.read(std::string(format) + ".neutra.json"), "sidecar");
    EXPECT_EQ(sidecar["format"], "neutra-sidecar");
    EXPECT_EQ(sidecar["fit"]["epochs"], 5);
    EXPECT_FALSE(sidecar.contains("model"));
    EXPECT_TRUE(std::any_of(sidecar["keys"].begin(), sidecar["keys"].end(), [](const Json& key) {
      return key["name"] == "lr" && key["kind"] == "learning_rate";
    }));
  }
  EXPECT_EQ(python(folder, R"(import ast, glob
for file in glob.glob("*/*.py"): ast.parse(open(file).read(), file)
)"),
            "");
  EXPECT_EQ(python(folder, R"(import pickle
class Numpy:
    def __init__(self, *a): self.a = a
    def __setstate__(self, s): self.s = s
class Reader(pickle.Unpickler):
    def find_class(self, module, name):
        return Numpy if name in ("dtype", "ndarray") else (lambda t, shape, kind: Numpy())
config = pickle.load(open("deepfd/config.pkl", "rb"))
assert config == {"optimizer": "Adam", "opt_kwargs": {"lr": 0.001}, "loss": "categorical_crossentropy",
                  "dataset": "customized", "batchsize": 32, "epoch": 5, "callbacks": []}, config
rows = Reader(open("deepfd/dataset.pkl", "rb")).load()
assert sorted(rows) == ["x", "x_val", "y", "y_val"]
version, shape, kind, order, data = rows["x"].s
assert version == 1 and order is False and kind.a[0] == "f4" and kind.s[:2] == (3, "<")
assert len(data) == 4 * shape[0] * shape[1] and shape[1] == 2, shape
assert open("deepfd/model.h5", "rb").read(4) == b"\x89HDF"
import zipfile
assert zipfile.ZipFile("keras-file.model").namelist() == ["metadata.json", "config.json", "model.weights.h5"]
assert zipfile.ZipFile("keras-file.model").testzip() is None
)"),
            "");
}

TEST(Export, PrintsAScriptAndWritesItAlone) {
  const Folder folder;
  const Called printed = call({"export", "iris", "--format", "pytorch"}, folder.path());
  ASSERT_EQ(printed.exit, 0) << printed.err;
  EXPECT_TRUE(has(printed.out, {"rows(\"validation\")"}));
  ASSERT_EQ(call({"export", "iris", "--format", "pytorch", "-o", "iris.py"}, folder.path()).exit,
            0);
  EXPECT_EQ(folder.read("iris.py"), printed.out);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"iris.py"});
  const Called fixed = call({"export", "D7", "--version", "fixed", "--seed", "5"}, folder.path());
  EXPECT_TRUE(has(fixed.out, {"learning_rate=0.1)", "default=5)"}));
}

TEST(Export, WritesTheWeightsOfATraining) {
  const Folder folder;
  const std::vector<std::string> export_model{"export", "D6", "--format", "h5"};
  const auto exported = [&](std::vector<std::string> more) {
    std::vector<std::string> words = export_model;
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"-o", "m.h5"});
    const Called called = call(words, folder.path());
    EXPECT_EQ(called.exit, 0) << called.err;
    return std::pair(folder.read("m.h5"), called.err);
  };
  const auto [initial, nothing] = exported({});
  EXPECT_EQ(nothing, "");
  EXPECT_EQ(exported({}).first, initial);
  EXPECT_NE(exported({"--seed", "1"}).first, initial);
  const auto [trained, said] = exported({"--replica", "2"});
  EXPECT_NE(trained, initial);
  const Json train =
      parse_json(call({"train", "D6", "-n", "3", "--json", "--quiet"}, folder.path()).out, "out");
  EXPECT_EQ(said,
            "replica 2: accuracy " + shortest(train["replicas"][2]["metric"].get<double>()) + "\n");
}

TEST(Export, RefusesWhatAFormatCannotHold) {
  const Folder folder;
  Json program = parse_json(call({"show", "D6", "--json"}, folder.path()).out, "out")["program"];
  program["fit"]["loop"] = {{"zero_grad", "never"}};
  folder.write("p.json", program.dump());
  const Called keras = call({"export", "p.json", "--format", "keras", "-o", "out"}, folder.path());
  EXPECT_TRUE(refused(keras, 3, {"keras", "/fit/loop/zero_grad", "\"never\""}));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"p.json"});
  EXPECT_EQ(call({"export", "p.json", "--format", "pytorch"}, folder.path()).exit, 0);
  const Called deepfd =
      call({"export", "p.json", "--format", "deepfd", "-o", "out"}, folder.path());
  EXPECT_TRUE(refused(deepfd, 3, {"/fit/loop"}));
}

TEST(Export, AsksForWhereTo) {
  const Folder folder;
  const Called none = call({"export", "D6", "--format", "h5"}, folder.path());
  EXPECT_TRUE(refused(none, 2, {"--output"}));
  std::filesystem::create_directories(folder.path() / "used");
  folder.write("used/file", "x");
  const Called used = call({"export", "D6", "--format", "keras", "-o", "used"}, folder.path());
  EXPECT_TRUE(refused(used, 3, {"used", "an empty folder"}));
  EXPECT_EQ(call({"export", "D6", "--format", "onnx"}, folder.path()).exit, 2);
}

TEST(Export, ReplacesModelsAlone) {
  const Folder folder;
  const auto refuses = [&](const std::vector<std::string>& words,
                           const std::vector<std::string>& named) {
    EXPECT_TRUE(refused(call(words, folder.path()), 2, named));
  };
  ASSERT_EQ(
      call({"search", "D7", "--store", "s.h5", "--budget-evaluations", "2", "-q"}, folder.path())
          .exit,
      0);
  const std::string store = folder.read("s.h5");
  refuses({"export", "D7", "--format", "h5", "-o", "s.h5"}, {"s.h5", "no model"});
  EXPECT_EQ(folder.read("s.h5"), store);
  folder.write("mine.h5", "hello");
  refuses({"export", "D7", "--format", "h5", "-o", "mine.h5"}, {"mine.h5", "no model"});
  folder.write("m.neutra.json", R"({"my": "notes"})");
  refuses({"export", "D7", "--format", "h5", "-o", "m.h5"}, {"m.neutra.json", "no sidecar"});
  EXPECT_EQ(folder.read("m.neutra.json"), R"({"my": "notes"})");
  EXPECT_EQ(call({"export", "iris", "--format", "h5", "-o", "iris.h5"}, folder.path()).exit, 3);
  ASSERT_EQ(call({"export", "D7", "--format", "h5", "-o", "a.h5"}, folder.path()).exit, 0);
  EXPECT_EQ(call({"export", "D7", "--format", "h5", "-o", "a.h5"}, folder.path()).exit, 0);
  refuses({"export", "D6", "--format", "keras-file", "-o", "a.keras"}, {"sidecar of a.h5"});
  refuses({"import", "a.h5", "-o", "a.neutra.json"}, {"--output", "a.neutra.json"});
  ASSERT_EQ(call({"evaluate", "D7", "--weights", "a.h5", "--predict", "y.npy"}, folder.path()).exit,
            0);
  refuses({"evaluate", "D7", "--weights", "a.h5", "--predict", "a.h5"}, {"--predict", "a.h5"});
}

TEST(Export, DoesWithoutDataThatAreNotHere) {
  const Folder folder;
  Json program = parse_json(call({"show", "D6", "--json"}, folder.path()).out, "out")["program"];
  program["data"]["arguments"]["file"] = "nowhere.h5";
  folder.write("p.json", program.dump());
  const Called script = call({"export", "p.json", "--format", "keras", "-o", "out"}, folder.path());
  EXPECT_EQ(script.exit, 0) << script.err;
  EXPECT_TRUE(has(script.err, {"nowhere.h5"}));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out/x_train.npy"));
  EXPECT_EQ(call({"export", "p.json", "--format", "h5", "-o", "m.h5"}, folder.path()).exit, 0);
  EXPECT_EQ(call({"export", "p.json", "--format", "deepfd", "-o", "d"}, folder.path()).exit, 3);
  EXPECT_EQ(
      call({"export", "p.json", "--format", "h5", "--replica", "0", "-o", "n.h5"}, folder.path())
          .exit,
      3);
}

}  // namespace
}  // namespace neutra::cli
