#include "program/formats/keras_model.h"

#include <hdf5.h>
#include <zip.h>

#include <fstream>
#include <numeric>
#include <tuple>

#include "base/hdf5_file.h"
#include "keras_models.h"

namespace neutra::program {
namespace {

using tests::error_of;
using tests::import_of;
using tests::kDense;
using tests::layer_of;
using tests::model_of;
using tests::sequential;
using tests::test_data;
using tests::TestFolder;

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

}  // namespace
}  // namespace neutra::program
