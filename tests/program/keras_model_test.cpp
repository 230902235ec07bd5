#include "program/formats/keras_model.h"

#include <hdf5.h>
#include <zip.h>

#include <fstream>
#include <numeric>
#include <tuple>

#include "base/hdf5_file.h"
#include "program/document.h"
#include "program/formats/keras_import.h"
#include "support.h"

namespace neutra::program {
namespace {

using tests::error_of;
using tests::test_data;
using tests::TestFolder;

// The files of tests/program/data/keras are written by scripts/keras_models.py with TensorFlow
// 2.15.1 and Keras 3.15.1, the .keras files packed afterwards.

KerasModel model_of(const std::string& model, const std::string& training = "null",
                    const std::string& version = "2.4.0") {
  return {"model.h5", version, "tensorflow", parse_json(model, "test"),
          parse_json(training, "test")};
}

KerasImport import_of(const KerasModel& model, Json training = Json(),
                      const DataInfo* info = nullptr) {
  ImportSources sources;
  sources.name = "model";
  sources.training = std::move(training);
  sources.training_file = "training.json";
  sources.info = info;
  return import_keras(model, sources);
}

/// A Sequential with these layers behind an InputLayer of two features.
KerasModel sequential(const std::string& layers, const std::string& training = "null",
                      const std::string& version = "2.4.0") {
  return model_of(
      R"({"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "InputLayer",
          "config": {"batch_input_shape": [null, 2], "dtype": "float32", "sparse": false,
                     "name": "in"}},)" +
          layers + "]}}",
      training, version);
}

const std::string kDense =
    R"({"class_name": "Dense", "config": {"name": "d", "units": 3, "activation": "softmax"}})";

const Json& layer_of(const KerasImport& import, std::size_t index) {
  return import.document["model"]["config"]["layers"][index];
}

bool assumes(const KerasImport& import, const std::string& field, const std::string& value) {
  for (const Assumption& each : import.assumptions) {
    if (each.field == field && each.value == value && !each.reason.empty()) return true;
  }
  return false;
}

TEST(KerasModelFile, ReadsWhatKerasWrites) {
  const KerasModelFile dense(test_data("keras/keras2_dense.h5"));
  EXPECT_EQ(dense.model().version, "2.15.0");
  EXPECT_EQ(dense.model().backend, "tensorflow");
  EXPECT_EQ(dense.model().major_version(), 2);
  EXPECT_EQ(dense.model().training["loss"], "categorical_crossentropy");
  const KerasImport import = import_of(dense.model());
  EXPECT_EQ(layer_of(import, 1)["config"]["kernel_regularizer"],
            (Json{{"class_name", "L2"}, {"config", {{"l2", 0.01}}}}));
  EXPECT_EQ(import.document["compile"]["metrics"], Json::array({"accuracy"}));
  const Json adam = import.document["compile"]["optimizer"];
  EXPECT_EQ(adam["class_name"], "Adam");
  EXPECT_EQ(adam["config"]["learning_rate"].get<double>(), 0.01);
  const ModelWeights weights = dense.weights(resolve({import.document}));
  ASSERT_EQ(weights.size(), 4U);
  EXPECT_EQ(weights[1][0].size(), 20U);
  EXPECT_EQ(weights[3][1].size(), 3U);
  EXPECT_TRUE(weights[0].empty());
}

TEST(KerasModelFile, ReadsKerasFiles) {
  const KerasModelFile functional(test_data("keras/keras2_functional.keras"));
  EXPECT_EQ(functional.model().version, "2.15.0");
  const KerasImport import = import_of(functional.model());
  EXPECT_EQ(import.document["compile"]["loss"], "mse");
  EXPECT_EQ(import.document["compile"]["metrics"], Json::array({"mae"}));
  const ModelWeights weights = functional.weights(resolve({import.document}));
  EXPECT_EQ(weights[1][0].size(), 30U);
  EXPECT_EQ(weights[2].size(), 3U);  // gamma and two statistics, no beta
  const KerasModelFile images(test_data("keras/keras3_images.keras"));
  EXPECT_EQ(images.model().major_version(), 3);
  const KerasImport second = import_of(images.model());
  EXPECT_EQ(layer_of(second, 4)["config"]["alpha"].get<double>(), 0.2);
  EXPECT_EQ(images.weights(resolve({second.document})).size(), 10U);
}

TEST(KerasModelFile, WeightsOfAModelInAModelAreTheTrainedOnesFirst) {
  const KerasModelFile nested(test_data("keras/keras3_nested.h5"));
  const Program program{import_of(nested.model()).document};
  const ResolvedProgram resolved = resolve(program);
  std::vector<std::string> classes;
  for (const ResolvedLayer& layer : resolved.layers) classes.push_back(layer.class_name);
  EXPECT_EQ(classes, (std::vector<std::string>{"InputLayer", "Conv2D", "BatchNormalization",
                                               "Conv2D", "BatchNormalization", "ReLU",
                                               "GlobalAveragePooling2D", "Dense", "Dense"}));
  EXPECT_FALSE(resolved.layers[1].config["trainable"].get<bool>());
  const ModelWeights weights = nested.weights(resolved);
  const Hdf5File file = Hdf5File::open(test_data("keras/keras3_nested.h5"));
  for (const std::string& name : file.list("/model_weights")) {
    for (const std::string& path :
         file.read_strings_attribute("/model_weights/" + name, "weight_names")) {
      if (path.find("conv2d/kernel") == std::string::npos) continue;
      EXPECT_EQ(weights[1][0], file.read_floats("/model_weights/" + name + "/" + path));
    }
  }
}

/// A weights file as Keras 1 and 2 write it; names of layers and weights in split attributes.
struct StoredWeights {
  std::string layer;
  std::vector<std::pair<std::string, Shape>> arrays;  ///< values count up from 0
};
std::filesystem::path write_weights(const std::filesystem::path& path,
                                    const std::vector<StoredWeights>& layers,
                                    const std::string& version, const std::string& backend) {
  Hdf5File file = Hdf5File::create(path);
  if (!version.empty()) file.write_attribute("/", "keras_version", version);
  file.write_attribute("/", "backend", backend);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string group = "/" + layers[i].layer;
    file.write_attribute("/", "layer_names" + std::to_string(i), layers[i].layer);
    file.write(group + "/some_dataset_beside", std::vector<float>{1});
    for (std::size_t k = 0; k < layers[i].arrays.size(); ++k) {
      const auto& [name, shape] = layers[i].arrays[k];
      std::vector<float> values(static_cast<std::size_t>(
          std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
      std::iota(values.begin(), values.end(), 100.0F * static_cast<float>(k));
      file.write(group + "/" + name, values, {shape.begin(), shape.end()});
      file.write_attribute(group, "weight_names" + std::to_string(k), name);
    }
  }
  file.close();
  return path;
}

Program dense_program(const std::string& layers) {
  return {import_of(sequential(layers)).document};
}

TEST(KerasModelFile, MatchesWeightsByOrderAndShape) {
  const TestFolder folder;
  const ResolvedProgram program = resolve(dense_program(kDense));
  const auto good = write_weights(folder / "good.h5",
                                  {{"dropout", {}}, {"x", {{"x/kernel:0", {2, 3}}, {"b", {3}}}}},
                                  "2.2.4", "tensorflow");
  const ModelWeights weights = KerasModelFile(good).weights(program);
  EXPECT_EQ(weights[1][0], (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(weights[1][1], (std::vector<float>{100, 101, 102}));
  EXPECT_TRUE(KerasModelFile(good).model().model.is_null());
  EXPECT_NE(error_of([&] { import_of(KerasModelFile(good).model()); }).find("weights alone"),
            std::string::npos);

  const auto message = [&](const std::vector<StoredWeights>& layers) {
    const auto file = write_weights(folder / "bad.h5", layers, "2.2.4", "tensorflow");
    return error_of([&] { KerasModelFile(file).weights(program); });
  };
  EXPECT_NE(message({{"x", {{"k", {3, 2}}, {"b", {3}}}}})
                .find("/x/k: found (3, 2); allowed: (2, 3), the kernel of layer 1 (Dense)"),
            std::string::npos);
  EXPECT_NE(message({{"x", {{"k", {2, 3}}}}}).find("1 arrays"), std::string::npos);
  EXPECT_NE(message({{"x", {{"k", {2, 3}}, {"b", {3}}}}, {"y", {{"k", {1}}}}})
                .find("weights of the layer 'y'"),
            std::string::npos);
  EXPECT_NE(message({{"x", {}}}).find("no weights for layer 1 (Dense)"), std::string::npos);
}

/// A model in a model, as to_json() of Keras 3 writes it, and its weights in the layout of .keras.
TEST(KerasModelFile, ReadsTheJsonOfAModelBesideItsWeights) {
  const TestFolder folder;
  std::ofstream(folder / "m.json") << R"({"module": "keras", "class_name": "Sequential", "config":
    {"name": "s", "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 2], "name": "in"}},
      {"class_name": "Sequential", "config": {"name": "inner", "layers": [
        {"class_name": "Dense", "config": {"name": "a", "units": 3}}]}},
      {"class_name": "Dense", "config": {"name": "b", "units": 1}}]},
    "registered_name": null, "build_config": {"input_shape": [null, 2]},
    "compile_config": {"loss": "mse"}})";
  EXPECT_TRUE(is_keras_json(folder / "m.json"));
  EXPECT_FALSE(is_keras_model_file(folder / "m.json"));
  const KerasModelFile file(folder / "m.json");
  EXPECT_EQ(file.model().major_version(), 3);
  const KerasImport import = import_of(file.model());
  EXPECT_EQ(import.document["compile"]["loss"], "mse");
  const ResolvedProgram program = resolve({import.document});
  EXPECT_NE(error_of([&] { file.weights(program); }).find("--weights"), std::string::npos);

  Hdf5File weights = Hdf5File::create(folder / "m.weights.h5");
  const auto write = [&](const std::string& layer, const Shape& kernel, float value) {
    weights.write("/layers/" + layer + "/vars/0",
                  std::vector<float>(static_cast<std::size_t>(kernel[0] * kernel[1]), value),
                  {kernel.begin(), kernel.end()});
    weights.write("/layers/" + layer + "/vars/1",
                  std::vector<float>(static_cast<std::size_t>(kernel[1]), value));
  };
  write("sequential/layers/dense", {2, 3}, 1);
  write("dense", {3, 1}, 2);
  weights.close();
  const KerasModelFile stored(folder / "m.weights.h5");
  const ModelWeights found = stored.weights(program, &file.model());
  EXPECT_EQ(found[1][0], std::vector<float>(6, 1));
  EXPECT_EQ(found[2][0], std::vector<float>(3, 2));
  EXPECT_NE(error_of([&] { stored.weights(program); }).find("a model in the model"),
            std::string::npos);
  std::ofstream(folder / "p.json") << import.document.dump();
  EXPECT_FALSE(is_keras_json(folder / "p.json"));
  EXPECT_FALSE(is_keras_json(folder / "none.json"));
}

TEST(KerasModelFile, TurnsOldKernelsAndGatesIntoTodaysLayout) {
  const TestFolder folder;
  const std::string model =
      R"({"class_name": "Sequential", "config": [{"class_name": "Convolution2D", "config": {"name":
      "c", "batch_input_shape": [null, 3, 3, 1], "nb_filter": 2, "nb_row": 2, "nb_col": 2, "init":
      "glorot_uniform", "activation": "linear", "border_mode": "valid", "subsample": [1, 1],
      "dim_ordering": "tf", "W_regularizer": null, "bias": false}}]})";
  const ResolvedProgram program = resolve({import_of(model_of(model, "null", "")).document});
  const auto theano =
      write_weights(folder / "t.h5", {{"c", {{"c_W", {2, 2, 1, 2}}}}}, "1.2.2", "theano");
  EXPECT_EQ(KerasModelFile(theano).weights(program)[0][0],
            (std::vector<float>{6, 7, 4, 5, 2, 3, 0, 1}));
  const auto tensorflow =
      write_weights(folder / "f.h5", {{"c", {{"c_W", {2, 2, 1, 2}}}}}, "1.2.2", "tensorflow");
  EXPECT_EQ(KerasModelFile(tensorflow).weights(program)[0][0],
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));

  // Layers that this version may not have yet: typed by hand.
  ResolvedProgram lstm;
  lstm.layers.push_back({"LSTM", 0, Json::object(), {}, {}, {}});
  for (const Shape& shape : {Shape{1, 4}, Shape{1, 4}, Shape{4}}) {
    lstm.layers[0].weights.push_back({"w", "i", shape});
  }
  std::vector<std::pair<std::string, Shape>> gates;
  for (const char* gate : {"i", "c", "f", "o"}) {
    gates.push_back({std::string("W_") + gate, {1, 1}});
    gates.push_back({std::string("U_") + gate, {1, 1}});
    gates.push_back({std::string("b_") + gate, {1}});
  }
  const auto old = write_weights(folder / "l.h5", {{"lstm", gates}}, "", "tensorflow");
  const ModelWeights weights = KerasModelFile(old).weights(lstm);
  EXPECT_EQ(weights[0][0], (std::vector<float>{0, 600, 300, 900}));  // i, f, c, o
  EXPECT_EQ(weights[0][2], (std::vector<float>{200, 800, 500, 1100}));

  ResolvedProgram conv;
  conv.layers.push_back({"Conv1D", 0, Json::object(), {}, {}, {}});
  conv.layers[0].weights.push_back({"kernel", "i", {3, 1, 2}});
  const auto twelve =
      write_weights(folder / "c12.h5", {{"c", {{"W", {3, 1, 1, 2}}}}}, "1.2.2", "x");
  EXPECT_EQ(KerasModelFile(twelve).weights(conv)[0][0], (std::vector<float>{0, 1, 2, 3, 4, 5}));
  const auto eleven = write_weights(folder / "c11.h5", {{"c", {{"W", {2, 1, 3, 1}}}}}, "", "x");
  EXPECT_EQ(KerasModelFile(eleven).weights(conv)[0][0], (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(KerasModelFile, RefusesOtherFilesByWhatTheyAre) {
  const TestFolder folder;
  const auto message = [&](const std::string& name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
    return error_of([&] { KerasModelFile{folder / name}; });
  };
  EXPECT_NE(message("a.pkl", "\x80\x04}q").find("a pickle, which is Python code"),
            std::string::npos);
  EXPECT_NE(message("a.h5", "text").find("another kind of file"), std::string::npos);
  EXPECT_NE(message("b.h5", "\x89HDF\r\n\x1a\n rest").find("no readable HDF5 file"),
            std::string::npos);
  EXPECT_NE(message("a.keras", "PK\x03\x04 rest").find("found a zip archive that is cut off"),
            std::string::npos);
  for (const char* name : {"none.json", "empty.h5", "empty.keras"}) {
    EXPECT_NE(message(name, "").find("found an empty file; allowed: a Keras model"),
              std::string::npos);
  }
  EXPECT_NE(message("text.json", "{\"model\": 1}").find("the JSON of to_json()"),
            std::string::npos);
  std::ifstream whole(test_data("keras/keras2_dense.h5"), std::ios::binary);
  std::string bytes(4000, ' ');
  whole.read(bytes.data(), 4000);
  EXPECT_NE(message("cut.h5", bytes).find("it is cut off: it has 4000 of its 17512 bytes"),
            std::string::npos);
  std::filesystem::create_directories(folder / "saved");
  std::ofstream(folder / "saved" / "saved_model.pb") << "x";
  EXPECT_NE(error_of([&] { KerasModelFile{folder / "saved"}; }).find("SavedModel"),
            std::string::npos);
  EXPECT_NE(error_of([&] { KerasModelFile{folder / "none.h5"}; }).find("no such file"),
            std::string::npos);
  Hdf5File other = Hdf5File::create(folder / "other.h5");
  other.write("/x", std::vector<float>{1});
  other.close();
  EXPECT_NE(error_of([&] { KerasModelFile{folder / "other.h5"}; }).find("without model_config"),
            std::string::npos);
}

/// A zip file of these members, packed.
void write_zip(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, std::string>>& members) {
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const auto& [name, content] : members) {
    zip_file_add(zip, name.c_str(), zip_source_buffer(zip, content.data(), content.size(), 0), 0);
  }
  ASSERT_EQ(zip_close(zip), 0);
}

TEST(KerasModelFile, BoundsWhatAFileMakesOfItself) {
  const TestFolder folder;
  write_zip(folder / "bomb.keras", {{"config.json", std::string((64U << 20) + 100, ' ')}});
  EXPECT_LT(std::filesystem::file_size(folder / "bomb.keras"), 100'000U);
  EXPECT_NE(error_of([&] {
              KerasModelFile{folder / "bomb.keras"};
            }).find("config.json: found more than 64 MiB"),
            std::string::npos);
  write_zip(folder / "torch.pt", {{"m/data.pkl", "x"}, {"m/constants.pkl", "x"}});
  EXPECT_NE(error_of([&] { KerasModelFile{folder / "torch.pt"}; }).find("without config.json"),
            std::string::npos);
  EXPECT_FALSE(is_keras_model_file(folder / "torch.pt"));
  EXPECT_TRUE(is_keras_model_file(test_data("keras/keras2_functional.keras")));
  EXPECT_TRUE(is_keras_model_file(test_data("keras/keras2_dense.h5")));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "[";
  write_zip(folder / "deep.keras", {{"config.json", deep}});
  EXPECT_NE(error_of([&] { KerasModelFile{folder / "deep.keras"}; }).find("config.json"),
            std::string::npos);

  // A dataset of 8 GiB that nothing was ever written to.
  const hid_t id = H5Fcreate((folder / "w.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t extents[] = {1, (hsize_t{1} << 31) - 1};
  const hid_t space = H5Screate_simple(2, extents, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_LATE);
  H5Gclose(H5Gcreate2(id, "d", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Dclose(H5Dcreate2(id, "d/k", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Pclose(creation);
  H5Sclose(space);
  const hid_t text = H5Tcopy(H5T_C_S1);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t group = H5Gopen2(id, "d", H5P_DEFAULT);
  for (const auto& [owner, name, value] :
       {std::tuple{id, "layer_names", "d"}, {group, "weight_names", "k"}}) {
    const hid_t attribute = H5Acreate2(owner, name, text, scalar, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, text, value);
    H5Aclose(attribute);
  }
  H5Gclose(group);
  H5Sclose(scalar);
  H5Tclose(text);
  H5Fclose(id);
  ResolvedProgram program;
  program.layers.push_back({"Dense", 0, Json::object(), {}, {}, {}});
  program.layers[0].weights.push_back({"kernel", "i", {1, (std::int64_t{1} << 31) - 1}});
  EXPECT_NE(error_of([&] {
              KerasModelFile(folder / "w.h5").weights(program);
            }).find("without so many values"),
            std::string::npos);
}

TEST(KerasModelFile, StatisticsThatAdaptLeftBecomeArguments) {
  const TestFolder folder;
  const std::string config =
      sequential(R"({"class_name": "Normalization", "config": {"name": "n", "axis": [-1],
                     "mean": null, "variance": null, "invert": false}},)" +
                 kDense)
          .model.dump();
  Hdf5File file = Hdf5File::create(folder / "m.h5");
  file.write_attribute("/", "model_config", config);
  file.write_attribute("/", "keras_version", std::string("2.15.0"));
  const auto write = [&](const std::string& layer, int k, const std::string& name,
                         const std::vector<float>& values, std::vector<std::uint64_t> extents) {
    const std::string group = "/model_weights/" + layer;
    file.write(group + "/" + name, values, std::move(extents));
    file.write_attribute(group, "weight_names" + std::to_string(k), name);
  };
  write("n", 0, "mean:0", {1, 2.5}, {2});
  write("n", 1, "variance:0", {4, 0.25}, {2});
  write("n", 2, "count:0", {7}, {1});
  write("d", 0, "kernel:0", std::vector<float>(6, 3), {2, 3});
  write("d", 1, "bias:0", std::vector<float>(3, 0), {3});
  file.write_attribute("/model_weights", "layer_names0", std::string("n"));
  file.write_attribute("/model_weights", "layer_names1", std::string("d"));
  file.close();
  const KerasModelFile model(folder / "m.h5");
  Program program{import_of(model.model()).document};
  Json& settings = program.document["model"]["config"]["layers"][1]["config"];
  EXPECT_EQ(settings["mean"], Json::array({1.0, 2.5}));
  EXPECT_EQ(settings["variance"], Json::array({4.0, 0.25}));
  ModelWeights weights = model.weights(resolve(program));
  EXPECT_TRUE(weights[1].empty());
  EXPECT_EQ(weights[2][0], std::vector<float>(6, 3));
  // Of a program without them they are variables.
  settings.erase("mean");
  settings.erase("variance");
  weights = model.weights(resolve(program));
  EXPECT_EQ(weights[1], (std::vector<std::vector<float>>{{1, 2.5}, {4, 0.25}}));
}

TEST(KerasModelFile, StatisticsThatNothingAdaptedStayVariables) {
  const TestFolder folder;
  const auto imported = [&](const std::string& name, const std::vector<float>& mean) {
    Hdf5File file = Hdf5File::create(folder / name);
    file.write_attribute("/", "model_config",
                         sequential(R"({"class_name": "Normalization", "config": {"name": "n",
                                        "axis": [], "mean": null, "variance": null}},)" +
                                    kDense)
                             .model.dump());
    const std::vector<std::pair<std::string, std::vector<float>>> arrays{
        {"mean:0", mean}, {"variance:0", {1}}, {"count:0", {0}}};
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      file.write("/model_weights/n/" + arrays[k].first, arrays[k].second, {1});
      file.write_attribute("/model_weights/n", "weight_names" + std::to_string(k), arrays[k].first);
    }
    file.write_attribute("/model_weights", "layer_names0", std::string("n"));
    file.close();
    return layer_of(import_of(KerasModelFile(folder / name).model()), 1)["config"];
  };
  const Json fresh = imported("fresh.h5", {0});
  EXPECT_TRUE(fresh.at("mean").is_null() && fresh.at("variance").is_null());
  EXPECT_TRUE(fresh.at("axis").is_null());  // tf.keras stores []
  EXPECT_EQ(imported("set.h5", {0.5}).at("variance"), Json::array({1.0}));
}

TEST(KerasModelFile, SplitConfigurationsAreJoined) {
  const TestFolder folder;
  Hdf5File file = Hdf5File::create(folder / "m.h5");
  file.write_attribute("/", "model_config0", R"({"class_name": "Sequ)");
  file.write_attribute("/", "model_config1", R"(ential", "config": []})");
  file.close();
  EXPECT_EQ(KerasModelFile(folder / "m.h5").model().model["class_name"], "Sequential");
  EXPECT_EQ(KerasModelFile(folder / "m.h5").model().major_version(), 1);
}

TEST(KerasImport, TakesOldNames) {
  const KerasImport import = import_of(sequential(
      R"({"class_name": "Dense", "config": {"name": "d", "output_dim": 4, "init": "he_normal",
        "activation": "relu", "W_regularizer": {"name": "WeightRegularizer", "l1": 0.0,
        "l2": 0.009999999776482582}, "b_regularizer": null, "activity_regularizer": null,
        "W_constraint": null, "b_constraint": null, "bias": true, "input_dim": 2}},
        {"class_name": "Dropout", "config": {"name": "p", "p": 0.25}},
        {"class_name": "BatchNormalization", "config": {"mode": 0, "axis": -1, "epsilon": 0.001,
        "momentum": 0.99, "beta_init": "zero", "gamma_init": "one", "gamma_regularizer": null}},)" +
          kDense,
      R"({"optimizer_config": {"class_name": "SGD", "config": {"lr": 0.10000000149011612,
        "momentum": 0.0, "decay": 0.0, "nesterov": false}}, "loss": "categorical_crossentropy",
        "metrics": ["acc"], "sample_weight_mode": "", "loss_weights": null})",
      ""));
  const Json& dense = layer_of(import, 1)["config"];
  EXPECT_EQ(dense["units"], 4);
  EXPECT_EQ(dense["kernel_initializer"], "he_normal");
  EXPECT_EQ(dense["kernel_regularizer"]["config"]["l2"].get<double>(), 0.01);
  EXPECT_TRUE(dense["use_bias"].get<bool>());
  EXPECT_FALSE(dense.contains("input_dim"));
  EXPECT_EQ(layer_of(import, 2)["config"]["rate"], 0.25);
  EXPECT_EQ(import.document["compile"]["optimizer"]["config"]["learning_rate"].get<double>(), 0.1);
  EXPECT_TRUE(assumes(import, "model", "Keras 1"));
  EXPECT_TRUE(validate(import.document).empty());
}

TEST(KerasImport, FollowsFunctionalModelsFromInputToOutput) {
  const std::string layers = R"(
    {"class_name": "Dense", "name": "b", "config": {"name": "b", "units": 1},
     "inbound_nodes": [[["a", 0, 0, {}]]]},
    {"class_name": "InputLayer", "name": "in", "config": {"batch_input_shape": [null, 2],
     "name": "in"}, "inbound_nodes": []},
    {"class_name": "Dense", "name": "a", "config": {"name": "a", "units": 5},
     "inbound_nodes": [SOURCE]})";
  const auto model = [&](const std::string& source, const std::string& more = "") {
    std::string text = layers;
    text.replace(text.find("SOURCE"), 6, source);
    return model_of(R"({"class_name": "Model", "config": {"name": "m", "layers": [)" + text + more +
                    R"(], "input_layers": [["in", 0, 0]], "output_layers": [["b", 0, 0]]}})");
  };
  const KerasImport import = import_of(model(R"([["in", 0, 0]])"));
  EXPECT_EQ(layer_of(import, 0)["class_name"], "InputLayer");
  EXPECT_EQ(layer_of(import, 1)["config"]["name"], "a");
  EXPECT_EQ(layer_of(import, 2)["config"]["name"], "b");
  EXPECT_EQ(layer_of(import_of(model(R"({"args": [{"class_name": "__keras_tensor__", "config":
      {"shape": [null, 2], "keras_history": ["in", 0, 0]}}], "kwargs": {"mask": null}})")),
                     1)["config"]["units"],
            5);
  const auto message = [&](const std::string& source, const std::string& more = "") {
    return error_of([&] { import_of(model(source, more)); });
  };
  EXPECT_NE(message(R"([["b", 0, 0]])").find("no way from 'in' to 'b'"), std::string::npos);
  EXPECT_NE(message(R"([["in", 0, 0], ["b", 0, 0]])").find("layer 'a' (Dense)"), std::string::npos);
  EXPECT_NE(message(R"([["in", 0, 0]], [["in", 0, 0]])").find("used 2 times"), std::string::npos);
  EXPECT_NE(message(R"([["x", 0, 0]])").find("an input 'x', which is no layer"), std::string::npos);
  EXPECT_NE(
      message(R"([["in", 0, 0, {"initial_state": 1}]])").find("called with initial_state = 1"),
      std::string::npos);
  EXPECT_NE(message(R"([["in", 0, 0]])", R"(, {"class_name": "Dense", "config": {"name": "c",
      "units": 1}, "inbound_nodes": [[["in", 0, 0, {}]]]})")
                .find("a branch: 'in' goes into 'a' and 'c'"),
            std::string::npos);
  EXPECT_NE(message("5").find("allowed: one input"), std::string::npos);
}

/// A functional model: an input of two, the layer and a Dense.
KerasModel called(const std::string& layer, const std::string& arguments,
                  const std::string& version) {
  std::string node = R"([[["in", 0, 0, )" + arguments + "]]]";
  if (version.starts_with('3')) {
    node = R"([{"args": [{"class_name": "__keras_tensor__", "config": {"shape": [null, 2],
               "keras_history": ["in", 0, 0]}}], "kwargs": )" +
           arguments + "}]";
  }
  return model_of(
      R"({"class_name": "Functional", "config": {"name": "m", "layers": [
          {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "in"},
           "inbound_nodes": []}, )" +
          layer + R"(, "inbound_nodes": )" + node + R"(}, {"class_name": "Dense",
           "config": {"name": "d", "units": 1}, "inbound_nodes": [[["x", 0, 0, {}]]]}],
          "input_layers": [["in", 0, 0]], "output_layers": [["d", 0, 0]]}})",
      "null", version);
}

TEST(KerasImport, TrainingOfACallHoldsInKeras2Alone) {
  const std::string dropout = R"({"class_name": "Dropout", "config": {"name": "x", "rate": 0.4})";
  for (const char* training : {"false", "true"}) {  // Keras 3 runs each layer as the model
    const KerasImport import =
        import_of(called(dropout, std::string(R"({"training": )") + training + "}", "3.15.1"));
    EXPECT_EQ(layer_of(import, 1)["config"]["rate"], 0.4);
  }
  EXPECT_EQ(
      layer_of(import_of(called(dropout, R"({"training": null})", "2.15.0")), 1)["config"]["rate"],
      0.4);
  const KerasImport off = import_of(called(dropout, R"({"training": false})", "2.15.0"));
  EXPECT_EQ(layer_of(off, 1)["config"]["rate"], 0);
  EXPECT_TRUE(assumes(off, "model", "layer 'x' (Dropout): rate = 0 instead of 0.4"));
  const auto refusal = [&](const std::string& layer, const std::string& arguments) {
    return error_of([&] { import_of(called(layer, arguments, "2.15.0")); });
  };
  EXPECT_NE(refusal(dropout, R"({"training": true})").find("so that predictions are random"),
            std::string::npos);
  EXPECT_EQ(refusal(R"({"class_name": "Dense", "config": {"name": "x", "units": 3})",
                    R"({"training": true})"),
            "");
  const std::string norm = R"({"class_name": "BatchNormalization", "config": {"name": "x")";
  EXPECT_NE(refusal(norm + "}", R"({"training": false})").find("its gamma and beta are trained"),
            std::string::npos);
  EXPECT_NE(refusal(norm + "}", R"({"training": true})").find("depends on its batch"),
            std::string::npos);
  EXPECT_EQ(refusal(norm + R"(, "trainable": false})", R"({"training": false})"), "");
}

TEST(KerasImport, TrainingOfAModelsCallHoldsForItsLayers) {
  const KerasImport import = import_of(called(
      R"({"class_name": "Sequential", "config": {"name": "x", "layers": [
         {"class_name": "Dropout", "config": {"name": "p", "rate": 0.5}},
         {"class_name": "GaussianNoise", "config": {"name": "n", "stddev": 0.5}}]})",
      R"({"training": false})", "2.15.0"));
  EXPECT_EQ(layer_of(import, 1)["config"]["rate"], 0);
  EXPECT_EQ(layer_of(import, 2)["config"]["stddev"], 0);
}

TEST(KerasImport, MasksThatKeras3WritesDownAreItsLayers) {
  const auto tensor = [](const std::string& from) {
    return R"({"class_name": "__keras_tensor__", "config": {"keras_history": [")" + from +
           R"(", 0, 0]}})";
  };
  const auto layer = [&](const std::string& class_name, const std::string& config,
                         const std::string& source, const std::string& kwargs,
                         const std::string& other = "") {
    return R"({"class_name": ")" + class_name + R"(", "name": ")" + class_name +
           R"(", "config": {"name": ")" + class_name + "\"" + config +
           R"(}, "inbound_nodes": [{"args": [)" + tensor(source) + other + R"(], "kwargs": )" +
           kwargs + "}]}";
  };
  const auto model = [&](const std::string& shape, const std::string& middle,
                         const std::string& source, const std::string& mask) {
    return import_of(model_of(
        R"({"class_name": "Functional", "config": {"name": "m", "layers": [
            {"class_name": "InputLayer", "config": {"batch_shape": )" +
            shape + R"(, "name": "in"}, "inbound_nodes": []}, )" + middle + "," +
            layer("LSTM", R"(, "units": 3)", source,
                  R"({"training": false, "mask": )" + tensor(mask) + "}") +
            R"(], "input_layers": ["in", 0, 0], "output_layers": ["LSTM", 0, 0]}})",
        "null", "3.15.1"));
  };
  const auto embedding = [&](const std::string& zero, const std::string& other) {
    return model("[null, 5]",
                 layer("Embedding", R"(, "input_dim": 9, "output_dim": 4, "mask_zero": )" + zero,
                       "in", "{}") +
                     "," + layer("NotEqual", "", "in", "{}", other),
                 "Embedding", "NotEqual");
  };
  const auto masking = [&](const std::string& value, const std::string& other,
                           const std::string& axis, const std::string& mask) {
    return model("[null, 5, 3]",
                 layer("Masking", R"(, "mask_value": )" + value, "in", "{}") + "," +
                     layer("NotEqual", "", "in", "{}", other) + "," +
                     layer("Any", R"(, "axis": )" + axis, "NotEqual", "{}"),
                 "Masking", mask);
  };
  EXPECT_EQ(layer_of(embedding("true", ", 0"), 1)["config"]["mask_zero"], true);
  EXPECT_EQ(layer_of(masking("-1", ", -1.0", "-1", "Any"), 1)["config"]["mask_value"], -1);
  const auto refusal = [](auto&& import) {
    const std::string message = error_of(import);
    return message.substr(std::min(message.find("layer 'LSTM'"), message.size()));
  };
  EXPECT_EQ(
      refusal([&] { embedding("false", ", 0"); }),
      "layer 'LSTM' (LSTM): found a mask of its own; allowed: masks that Masking or Embedding "
      "makes");
  // Made by hand, of another value.
  EXPECT_EQ(
      refusal([&] { embedding("true", ", 7"); }),
      "layer 'LSTM' (LSTM): found a mask of its own: NotEqual 7; allowed: the mask that layer "
      "'Embedding' (Embedding) makes, where its input is not 0: call the layer without mask");
  EXPECT_EQ(
      refusal([&] { masking("-1.5", ", 2.5", "-1", "Any"); }),
      "layer 'LSTM' (LSTM): found a mask of its own: Any NotEqual 2.5; allowed: the mask that "
      "layer 'Masking' (Masking) makes, where its input is not -1.5: call the layer without "
      "mask");
  for (const auto& [message, found] : std::vector<std::pair<std::string, std::string>>{
           {refusal([&] { embedding("true", ""); }), "NotEqual null"},
           {refusal([&] { masking("0", ", 0", "-1", "NotEqual"); }), "NotEqual 0"},
           {refusal([&] { masking("0", ", 0", "1", "Any"); }), "Any of axis 1 NotEqual 0"}}) {
    EXPECT_NE(message.find("found a mask of its own: " + found + ";"), std::string::npos)
        << message;
  }
}

TEST(KerasImport, ActivationsThatAreLayersBecomeLayers) {
  const KerasImport import = import_of(sequential(R"(
      {"class_name": "Dense", "config": {"name": "a", "units": 2, "activation":
        {"class_name": "ReLU", "config": {"name": "r", "trainable": true, "dtype": "float32",
         "max_value": 6.0, "negative_slope": 0.0, "threshold": 0.5}}}},
      {"class_name": "Dense", "config": {"name": "b", "units": 2, "activation":
        {"module": "keras.layers", "class_name": "LeakyReLU", "config": {"negative_slope": 0.2},
         "registered_name": null}}},
      {"class_name": "Activation", "config": {"name": "c", "activation": "relu6"}},
      {"class_name": "Dense", "config": {"name": "d", "units": 2, "activation": "leaky_relu"}},
      {"class_name": "ThresholdedReLU", "config": {"name": "e", "theta": 0.7}})",
                                                  "null", "3.15.1"));
  const Json& layers = import.document["model"]["config"]["layers"];
  Json classes = Json::array();
  for (const Json& layer : layers) classes.push_back(layer["class_name"]);
  EXPECT_EQ(classes, (Json{"InputLayer", "Dense", "ReLU", "Dense", "LeakyReLU", "ReLU", "Dense",
                           "LeakyReLU", "ReLU"}));
  EXPECT_FALSE(layers[1]["config"].contains("activation"));
  EXPECT_EQ(layers[2]["config"]["max_value"], 6);
  EXPECT_EQ(layers[2]["config"]["threshold"], 0.5);
  EXPECT_EQ(layers[4]["config"]["alpha"], 0.2);
  EXPECT_EQ(layers[5]["config"]["max_value"], 6);
  EXPECT_EQ(layers[7]["config"]["alpha"], 0.2);
  EXPECT_EQ(layers[8]["config"]["threshold"], 0.7);
  EXPECT_TRUE(assumes(import, "model", "ReLU behind layer 'a' (Dense)"));
  const auto refusal = [&](const std::string& layer) {
    return error_of([&] { import_of(sequential(layer)); });
  };
  EXPECT_NE(refusal(R"({"class_name": "Dense", "config": {"name": "f", "units": 2,
      "activity_regularizer": {"class_name": "L1", "config": {"l1": 0.1}},
      "activation": {"class_name": "ReLU", "config": {}}}})")
                .find("activity_regularizer in front of ReLU"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
      {"class_name": "LSTM", "config": {"name": "g", "units": 2, "activation": "relu6"}})")
                .find("layer 'g' (LSTM): found ReLU as an activation"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"class_name": "Dense", "config": {"name": "h", "units": 2,
      "activation": {"class_name": "ReLU", "config": {"surprise": 1}}}})")
                .find("layer 'h' (Dense): activation: found ReLU"),
            std::string::npos);
}

TEST(KerasImport, PoolingsThatKeepExtentsAreReshaped) {
  const KerasImport import = import_of(sequential(
      R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
         {"class_name": "GlobalMaxPooling1D", "config": {"name": "g", "keepdims": true}},)" +
      kDense));
  EXPECT_EQ(layer_of(import, 3)["config"]["target_shape"], (Json{1, -1}));
}

TEST(KerasImport, SettingsThatAreOffAreNamed) {
  const auto normalised = [](const char* rms) {
    return sequential(
        std::string(R"({"class_name": "LayerNormalization", "config": {"name": "n", "axis": [-1],
                        "rms_scaling": )") +
            rms + "}}",
        "null", "3.15.1");
  };
  EXPECT_FALSE(layer_of(import_of(normalised("false")), 1)["config"].contains("rms_scaling"));
  EXPECT_NE(error_of([&] {
              import_of(normalised("true"));
            }).find("found rms_scaling = true; allowed: rms_scaling = false"),
            std::string::npos);
}

TEST(KerasImport, NamesAllThatItCantRepresent) {
  const std::string message = error_of([&] {
    import_of(sequential(R"({"class_name": "Lambda", "config": {"name": "l", "function": "code"}},
      {"class_name": "ConvLSTM2D", "config": {"name": "r"}},
      {"class_name": "Dense", "registered_name": "My>Dense", "config": {"name": "mine", "units": 1}},
      {"class_name": "Dense", "config": {"name": "q", "units": 3, "surprise": 4}})",
                         R"({"loss": "mse", "optimizer_config": {"class_name": "Adam", "config":
      {"lr": {"class_name": "PiecewiseConstantDecay", "config": {}}}}, "loss_weights": [2.0]})"));
  });
  for (const char* part :
       {"model.h5: layer 'l' (Lambda): found Python code", "layer 'r' (ConvLSTM2D)",
        "layer 'mine' (Dense): found \"My>Dense\"", "layer 'q' (Dense): found surprise = 4",
        "optimizer: learning_rate: found PiecewiseConstantDecay",
        "training_config: loss_weights: found [2.0]"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
  EXPECT_NE(error_of([&] {
              import_of(sequential(
                  R"({"class_name": "Dense", "config": {"units": 1, "activation": "mish"}},
                     {"class_name": "AlphaDropout", "config": {"name": "a", "rate": 0.1}})"));
            }).find("found \"mish\"; allowed: elu, exponential, gelu"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              import_of(sequential(R"({"class_name": "AlphaDropout", "config": {}})"));
            }).find("allowed: those of docs/formats/program.md (did you mean Dropout?)"),
            std::string::npos);
  // What the program's own check refuses has the layer's name, too.
  EXPECT_NE(error_of([&] {
              import_of(sequential(R"({"class_name": "Dense", "config": {"name": "d", "units": 1,
                  "kernel_constraint": {"class_name": "Strange", "config": {}}}})"));
            }).find("layer 'd' (Dense): kernel_constraint/class_name: found"),
            std::string::npos);
  EXPECT_NE(
      error_of([&] {
        import_of(sequential(
            R"({"class_name": "Dense", "config": {"units": 1, "activation": "hard_sigmoid"}})",
            "null", "3.1.0"));
      }).find("hard_sigmoid of Keras 3"),
      std::string::npos);
  EXPECT_NE(error_of([&] {
              import_of(model_of(R"({"class_name": "MyModel", "config": {"name": "m"}})"));
            }).find("a class of your own is Python code"),
            std::string::npos);
}

TEST(KerasImport, WrappersComeAsKerasStoresThem) {
  // As Keras 3 writes them: both layers, of which one is the other turned.
  const std::string lstm = R"({"module": "keras.layers", "class_name": "LSTM", "config": {
      "name": "NAME", "units": 3, "return_sequences": true, "go_backwards": TURNED,
      "zero_output_for_mask": true, "kernel_initializer": {"module": "keras.initializers",
      "class_name": "GlorotUniform", "config": {"seed": null}, "registered_name": null}},
      "registered_name": null})";
  const auto layer = [&](const char* name, const char* turned) {
    std::string text = lstm;
    text.replace(text.find("NAME"), 4, name);
    return text.replace(text.find("TURNED"), 6, turned);
  };
  const auto both = [&](const std::string& backward) {
    return import_of(sequential(
        R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
           {"class_name": "Bidirectional", "config": {"name": "b", "merge_mode": "concat",
            "layer": )" +
            layer("forward_lstm", "false") + R"(, "backward_layer": )" + backward + R"(}},
           {"class_name": "TimeDistributed", "config": {"layer": {"class_name": "Dense",
            "config": {"units": 2, "activation": "softmax"}}}})",
        "null", "3.15.1"));
  };
  const KerasImport import = both(layer("backward_lstm", "true"));
  const Json config = layer_of(import, 2)["config"];
  EXPECT_FALSE(config.contains("backward_layer"));
  EXPECT_EQ(config["layer"]["config"]["units"], 3);
  EXPECT_EQ(config["layer"]["config"]["kernel_initializer"]["class_name"], "GlorotUniform");
  EXPECT_FALSE(config["layer"]["config"].contains("zero_output_for_mask"));
  EXPECT_EQ(import.document["compile"]["loss"], "categorical_crossentropy");
  std::string wider = layer("backward_lstm", "true");
  wider.replace(wider.find("3"), 1, "4");
  EXPECT_EQ(layer_of(both(wider), 2)["config"]["backward_layer"]["config"]["units"], 4);

  const auto refusal = [&](const std::string& layers) {
    return error_of([&] { import_of(sequential(layers)); });
  };
  // A model on each step is each of its layers on each step.
  const KerasImport steps = import_of(sequential(
      R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
         {"class_name": "TimeDistributed", "config": {"name": "t", "trainable": false, "layer":
          {"class_name": "Sequential", "config": {"name": "s", "layers": [
           {"class_name": "InputLayer", "config": {"name": "i", "batch_input_shape": [null, 1]}},
           {"class_name": "Dense", "config": {"name": "d", "units": 3}},
           {"class_name": "Activation", "config": {"name": "a", "activation": "relu"}}]}}}},
         {"class_name": "Flatten", "config": {}}, {"class_name": "Dense", "config": {"units": 1}})"));
  EXPECT_EQ(layer_of(steps, 2)["class_name"], "TimeDistributed");
  EXPECT_EQ(layer_of(steps, 2)["config"]["layer"]["config"]["units"], 3);
  EXPECT_EQ(layer_of(steps, 2)["config"]["trainable"], false);
  EXPECT_EQ(layer_of(steps, 3)["config"]["layer"]["class_name"], "Activation");
  EXPECT_EQ(layer_of(steps, 4)["class_name"], "Flatten");
  EXPECT_NE(refusal(R"({"class_name": "Reshape", "config": {"target_shape": [2, 1]}},
      {"class_name": "Bidirectional", "config": {"name": "b", "merge_mode": null,
       "layer": {"class_name": "GRU", "config": {"units": 2}}}})")
                .find("layer 'b' (Bidirectional): merge_mode: found null; allowed: concat, sum, "
                      "mul, ave"),
            std::string::npos);
}

TEST(KerasImport, SaysWhatItAssumes) {
  const KerasImport softmax = import_of(sequential(kDense));
  EXPECT_EQ(softmax.document["compile"]["loss"], "categorical_crossentropy");
  EXPECT_TRUE(assumes(softmax, "compile.loss", "categorical_crossentropy"));
  EXPECT_TRUE(assumes(softmax, "compile.optimizer", "rmsprop"));
  EXPECT_TRUE(assumes(softmax, "compile.metrics", "accuracy"));
  EXPECT_TRUE(assumes(softmax, "fit.batch_size", "32"));
  EXPECT_TRUE(assumes(softmax, "fit.epochs", "1"));
  EXPECT_TRUE(assumes(softmax, "data", "none"));
  EXPECT_EQ(softmax.document["data"]["source"], "none");
  DataInfo labels;
  labels.x = {2};
  labels.y_is_integer = true;
  labels.y_max = 2;
  labels.training_rows = 10;
  EXPECT_EQ(import_of(sequential(kDense), Json(), &labels).document["compile"]["loss"],
            "sparse_categorical_crossentropy");
  labels.y_max = 3;
  EXPECT_NE(error_of([&] { import_of(sequential(kDense), Json(), &labels); }).find("labels from 0"),
            std::string::npos);
  const KerasImport linear = import_of(
      sequential(R"({"class_name": "Dense", "config": {"units": 1, "activation": null}})"));
  EXPECT_EQ(linear.document["compile"]["loss"], "mean_squared_error");
  EXPECT_TRUE(assumes(linear, "metric", "loss"));
  const KerasImport batches =
      import_of(model_of(R"({"class_name": "Sequential", "config": {"layers": [
      {"class_name": "Dense", "config": {"batch_input_shape": [16, 2], "units": 1}}]}})"));
  EXPECT_EQ(batches.document["fit"]["batch_size"], 16);
  EXPECT_TRUE(assumes(batches, "fit.batch_size", "16"));
}

TEST(KerasImport, OptimisersOfOtherVersions) {
  const auto optimizer = [&](const std::string& config, const std::string& version) {
    return import_of(sequential(
        kDense, R"({"loss": "mse", "metrics": ["mae"], "optimizer_config": )" + config + "}",
        version));
  };
  const KerasImport adagrad = optimizer(
      R"({"class_name": "Adagrad", "config": {"learning_rate": 0.1, "decay": 0.0}})", "2.3.1");
  EXPECT_EQ(adagrad.document["compile"]["optimizer"]["config"]["initial_accumulator_value"], 0);
  EXPECT_TRUE(assumes(adagrad, "compile.optimizer.config.initial_accumulator_value", "0"));
  const KerasImport custom = optimizer(
      R"({"class_name": "Custom>Adam", "config": {"name": "Adam", "weight_decay": null,
          "use_ema": false, "ema_momentum": 0.99, "jit_compile": false,
          "is_legacy_optimizer": false, "learning_rate": 0.009999999776482582}})",
      "2.15.0");
  EXPECT_EQ(custom.document["compile"]["optimizer"],
            (Json{{"class_name", "Adam"}, {"config", {{"learning_rate", 0.01}}}}));
  EXPECT_NE(error_of([&] {
              optimizer(R"({"class_name": "Adam", "config": {"weight_decay": 0.1}})", "3.0.0");
            }).find("weight_decay"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              optimizer(R"({"class_name": "Lion", "config": {}})", "3.0.0");
            }).find("\"Lion\""),
            std::string::npos);
  const KerasImport decay = optimizer(R"({"class_name": "SGD", "config": {"learning_rate":
      {"class_name": "ExponentialDecay", "config": {"initial_learning_rate": 0.1,
       "decay_steps": 2, "decay_rate": 0.25, "staircase": false, "name": null}}}})",
                                      "2.4.0");
  EXPECT_EQ(decay.document["fit"]["schedule"]["decay_rate"], 0.5);
  EXPECT_EQ(decay.document["compile"]["optimizer"]["config"]["learning_rate"], 0.1);
}

TEST(KerasImport, NamesTheWrongSettingsOfASchedule) {
  const auto refusal = [&](const std::string& class_name, const std::string& settings) {
    return error_of([&] {
      import_of(
          sequential(kDense, R"({"loss": "mse", "optimizer_config": {"class_name": "SGD", "config":
                     {"learning_rate": {"class_name": ")" +
                                 class_name + R"(", "config": )" + settings + "}}}}"));
    });
  };
  for (const char* name : {"ExponentialDecay", "InverseTimeDecay"}) {
    for (const char* steps : {"0", "-5", "null"}) {
      const std::string message =
          refusal(name, std::string(R"({"initial_learning_rate": 0.1, "decay_rate": 0.5,
                                        "staircase": false, "decay_steps": )") +
                            steps + "}");
      EXPECT_NE(message.find(std::string("learning_rate: ") + name + ": decay_steps: found " +
                             steps + "; allowed: a number > 0; --training FILE"),
                std::string::npos)
          << message;
    }
  }
  EXPECT_NE(refusal("ExponentialDecay", R"({"initial_learning_rate": 0.1, "decay_rate": 1.5,
                                            "decay_steps": 10})")
                .find("decay_rate: found 1.5; allowed: a number in (0, 1]"),
            std::string::npos);
  EXPECT_NE(refusal("InverseTimeDecay", R"({"initial_learning_rate": 0.1, "decay_rate": 0.5,
                                            "decay_steps": 10, "staircase": true})")
                .find("staircase: found true; allowed: false"),
            std::string::npos);
}

TEST(KerasImport, ClippingAtZeroIsOff) {
  const auto clipped = [&](const std::string& version) {
    return import_of(
        sequential(kDense, R"({"loss": "mse", "optimizer_config": {"class_name": "SGD", "config":
                   {"learning_rate": 0.1, "clipnorm": 0.0, "clipvalue": 0}}})",
                   version));
  };
  for (const char* version : {"2.2.4", "2.15.0", "3.15.1"}) {
    const KerasImport import = clipped(version);
    EXPECT_EQ(import.document["compile"]["optimizer"]["config"], (Json{{"learning_rate", 0.1}}));
    EXPECT_TRUE(assumes(import, "compile.optimizer.config.clipnorm", "null"));
    EXPECT_TRUE(assumes(import, "compile.optimizer.config.clipvalue", "null"));
  }
  EXPECT_NE(error_of([&] { clipped("2.4.0"); }).find("with which Keras 2.4.0 trains no weight"),
            std::string::npos);
}

TEST(KerasImport, SaysThatTheOptimiserIsLost) {
  const KerasImport import =
      import_of(sequential(kDense, R"({"loss": "mse", "metrics": ["mae"]})", "3.15.1"));
  EXPECT_TRUE(assumes(import, "compile.optimizer", "rmsprop"));
  for (const Assumption& each : import.assumptions) {
    if (each.field != "compile.optimizer") continue;
    EXPECT_NE(each.reason.find("its optimiser is lost"), std::string::npos) << each.reason;
    EXPECT_NE(each.reason.find("--training"), std::string::npos) << each.reason;
  }
}

TEST(KerasImport, TrainingOptionsWinOverWhatAProgramCantRepresent) {
  const KerasModel lion =
      sequential(kDense, R"({"loss": {"class_name": "Mine", "config": {}}, "loss_weights": [2.0],
                  "metrics": ["accuracy"],
                  "optimizer_config": {"class_name": "Lion", "config": {}}})");
  const std::string message = error_of([&] { import_of(lion); });
  EXPECT_NE(message.find("loss_weights: found [2.0]; allowed: a model trained without; --training"),
            std::string::npos)
      << message;
  const KerasImport import = import_of(
      lion, parse_json(R"({"optimizer": "adam", "loss": "mse", "compile": {"loss_weights": null}})",
                       "test"));
  EXPECT_EQ(import.document["compile"]["optimizer"]["class_name"], "adam");
  EXPECT_EQ(import.document["compile"]["metrics"], Json::array({"accuracy"}));
}

TEST(KerasImport, Metrics) {
  const auto metrics = [&](const std::string& list) {
    return import_of(
        sequential(kDense, R"({"loss": "categorical_crossentropy", "metrics": )" + list + "}"));
  };
  EXPECT_EQ(metrics(R"([["accuracy"]])").document["compile"]["metrics"], Json::array({"accuracy"}));
  const KerasImport wrapped = metrics(R"([[{"class_name": "MeanMetricWrapper", "config":
      {"name": "categorical_accuracy", "fn": "categorical_accuracy"}}]])");
  EXPECT_EQ(wrapped.document["compile"]["metrics"], Json::array({"categorical_accuracy"}));
  EXPECT_EQ(resolve({wrapped.document}).metric, "categorical_accuracy");
  const KerasImport own = metrics(R"([{"class_name": "F1", "config": {}}, "AUC", "mae"])");
  EXPECT_EQ(own.document["compile"]["metrics"], Json::array({"AUC", "mae"}));
  EXPECT_EQ(resolve({own.document}).metric, "AUC");
  const KerasImport top =
      metrics(R"([{"class_name": "TopKCategoricalAccuracy", "config": {"k": 3}}])");
  EXPECT_EQ(resolve({top.document}).metric, "top_k_categorical_accuracy(k=3)");
}

TEST(KerasImport, MetricsWithOptionsThatNeutraHasNotAreLeftOut) {
  for (const char* metric :
       {R"({"class_name": "AUC", "config": {"name": "prc", "curve": "PR"}})",
        R"({"class_name": "AUC", "config": {"from_logits": true}})",
        R"({"class_name": "Precision", "config": {"thresholds": 0.7, "top_k": null}})",
        R"({"class_name": "Recall", "config": {"thresholds": null, "class_id": 0}})",
        R"({"class_name": "BinaryAccuracy", "config": {"threshold": 0.4}})",
        R"({"class_name": "BinaryCrossentropy", "config": {"label_smoothing": 0.1}})"}) {
    const KerasImport import =
        import_of(sequential(kDense, R"({"loss": "categorical_crossentropy", "metrics": [)" +
                                         std::string(metric) + R"(, "accuracy"]})"));
    EXPECT_EQ(import.document["compile"]["metrics"], Json::array({"accuracy"})) << metric;
    EXPECT_TRUE(
        assumes(import, "compile.metrics", "without " + shown(parse_json(metric, "metric"))));
  }
  const KerasImport usual =
      import_of(sequential(kDense, R"({"loss": "categorical_crossentropy", "metrics": ["accuracy",
        {"class_name": "AUC", "config": {"curve": "ROC", "from_logits": false}},
        {"class_name": "BinaryAccuracy", "config": {"threshold": 0.5}},
        {"class_name": "TopKCategoricalAccuracy", "config": {"k": 2}}]})"));
  EXPECT_EQ(usual.document["compile"]["metrics"],
            (Json{"accuracy", "AUC", "binary_accuracy"}));  // the k is the first metric's alone
}

TEST(KerasImport, TakesTrainingOptions) {
  const KerasImport import = import_of(sequential(kDense), parse_json(R"({
      "optimizer": "SGD", "opt_kwargs": {"lr": 0.2, "momentum": 0.5}, "batchsize": 7, "epoch": 3,
      "loss": "categorical_crossentropy", "dataset": "mnist", "metrics": ["accuracy"],
      "callbacks": []})",
                                                                      "test"));
  EXPECT_EQ(import.document["fit"], (Json{{"batch_size", 7}, {"epochs", 3}}));
  EXPECT_EQ(import.document["compile"]["optimizer"]["config"]["momentum"], 0.5);
  EXPECT_TRUE(assumes(import, "data", "\"mnist\""));
  EXPECT_NE(error_of([&] {
              import_of(sequential(kDense), parse_json(R"({"batchsiz": 7})", "test"));
            }).find("did you mean batchsize"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              import_of(sequential(kDense), parse_json(R"({"batchsize": "many"})", "test"));
            }).find("fit.batch_size: found \"many\""),
            std::string::npos);
}

TEST(KerasImport, HoldsOutAgainstStrangeModels) {
  for (const char* model :
       {"5", "[]", "{}", R"({"class_name": 3})", R"({"class_name": "Sequential"})",
        R"({"class_name": "Sequential", "config": {"layers": 3}})",
        R"({"class_name": "Sequential", "config": [1]})",
        R"({"class_name": "Sequential", "config": [{"class_name": "Dense"}]})",
        R"({"class_name": "Sequential", "config": [{"class_name": "Dense", "config": 4}]})",
        R"({"class_name": "Sequential", "config": [{"class_name": "Sequential", "config": []}]})",
        R"({"class_name": "Model", "config": {"layers": []}})",
        R"({"class_name": "Model", "config": {"layers": [], "input_layers": [["a", 0, 0]],
            "output_layers": [["a", 0, 0]]}})",
        R"({"class_name": "Model", "config": {"layers": [{"class_name": "Dense", "config": {}}],
            "input_layers": [["", 0, 0]], "output_layers": [["", 0, 0]]}})"}) {
    EXPECT_NE(error_of([&] { import_of(model_of(model)); }), "") << model;
  }
  for (const char* training : {"5", R"({"loss": 5})", R"({"optimizer_config": []})",
                               R"({"loss": "mse", "metrics": 7, "optimizer": {"config": 1}})"}) {
    EXPECT_NE(error_of([&] { import_of(sequential(kDense, training)); }), "") << training;
  }
}

}  // namespace
}  // namespace neutra::program
