#include "training/torch_script.h"

#include <gtest/gtest.h>
#include <torch/script.h>

#include <sstream>

#include "image_programs.h"
#include "program/vocabulary.h"

namespace neutra::training {
namespace {

/// Outputs of the file for the rows of a predictor.
std::vector<float> outputs_of(const std::string& bytes, const DataRows& rows) {
  std::istringstream file(bytes);
  torch::jit::Module module = torch::jit::load(file);
  std::vector<std::int64_t> extents{rows.count};
  extents.insert(extents.end(), rows.row.begin(), rows.row.end());
  const at::Tensor x = at::empty(extents);
  std::copy(rows.features.begin(), rows.features.end(), x.data_ptr<float>());
  const at::Tensor y = module.forward({x}).toTensor().contiguous();
  return {y.data_ptr<float>(), y.data_ptr<float>() + y.numel()};
}

/// What LibTorch makes of the file is what the trained model says.
void expect_same(const program::Program& program) {
  const auto trainer = make_local_trainer({});
  const TrainedModel model = trainer->train_model({&program});
  ASSERT_EQ(model.training.status, RunStatus::kOk) << model.training.message;
  const std::string bytes = torchscript(trainer->resolved(program), model.weights);
  const std::vector<float> found = outputs_of(bytes, trainer->rows(program, DataPart::kHoldout));
  ASSERT_EQ(found.size(), model.outputs.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], model.outputs[i], 2e-5 * std::max(1.0f, std::abs(model.outputs[i])));
  }
}

TEST(TorchScriptWriter, SaysWhatTheTrainedModelSays) {
  expect_same(moons(2));
  expect_same(line(2));
}

TEST(TorchScriptWriter, KnowsEveryLayer) {
  Json images = Json::array(
      {dense(24, "linear"), layer("Reshape", {{"target_shape", {4, 3, 2}}}),
       layer("ZeroPadding2D", {{"padding", {{1, 0}, {0, 2}}}}),
       layer("Conv2D", {{"filters", 4},
                        {"kernel_size", {2, 3}},
                        {"strides", {2, 1}},
                        {"padding", "same"},
                        {"activation", "elu"}}),
       layer("BatchNormalization", {{"momentum", 0.5}}),
       layer("AveragePooling2D", {{"pool_size", {2, 2}}, {"strides", {1, 1}}, {"padding", "same"}}),
       layer("LeakyReLU", {{"alpha", 0.1}}),
       layer("Conv2D",
             {{"filters", 4}, {"kernel_size", {2, 2}}, {"groups", 2}, {"use_bias", false}}),
       layer("MaxPooling2D", {{"pool_size", {2, 2}}, {"strides", {1, 1}}, {"padding", "same"}}),
       layer("ReLU", {{"max_value", 2}, {"negative_slope", 0.1}, {"threshold", 0.05}}),
       layer("Flatten", Json::object()), layer("ELU", {{"alpha", 0.5}}),
       layer("Activation", {{"activation", "swish"}}), layer("Dropout", {{"rate", 0.25}}),
       layer("BatchNormalization", {{"scale", false}, {"center", false}}), dense(2, "linear"),
       layer("Softmax", Json::object())});
  program::Program program = program_of("moons", 2, images, "sparse_categorical_crossentropy",
                                        "accuracy", optimizer("Adam", 0.01), 1);
  expect_same(program);
  Json& layers = program.document["model"]["config"]["layers"];
  for (const char* pooling : {"GlobalMaxPooling2D", "GlobalAveragePooling2D"}) {
    layers =
        Json::array({images[0], images[1], layer(pooling, Json::object()), dense(2, "softmax")});
    expect_same(program);
  }
}

TEST(TorchScriptWriter, KnowsLayersThatScaleAndEnlarge) {
  const Json reshape = layer("Reshape", {{"target_shape", {2, 3, 2}}});
  const Json enlarging = Json::array(
      {layer("Rescaling", {{"scale", {0.5, 2}}, {"offset", 1}}),
       layer("Normalization", {{"mean", {0.5, 1}}, {"variance", 0.25}}), dense(12, "linear"),
       reshape, layer("Normalization", {{"axis", {1, -1}}}),
       layer("PReLU", {{"shared_axes", {1, 2}}, {"alpha_initializer", "random_normal"}}),
       layer("Conv2DTranspose",
             {{"filters", 3}, {"kernel_size", {3, 2}}, {"strides", 2}, {"padding", "same"}}),
       layer("UpSampling2D", {{"interpolation", "bilinear"}, {"size", {1, 3}}}),
       layer("Conv2DTranspose", {{"filters", 2}, {"kernel_size", 2}, {"strides", 3}}),
       layer("UpSampling2D", Json::object()), layer("GlobalAveragePooling2D", Json::object()),
       dense(2, "softmax")});
  expect_same(program_of("moons", 2, enlarging, "sparse_categorical_crossentropy", "accuracy",
                         optimizer("Adam", 0.01), 1));
}

TEST(TorchScriptWriter, KnowsEveryActivation) {
  for (const program::Entry& entry : program::entries(program::Vocabulary::kActivation)) {
    SCOPED_TRACE(entry.name);
    expect_same(program_of("moons", 2, Json::array({dense(5, entry.name), dense(1, "sigmoid")}),
                           "binary_crossentropy", "accuracy", optimizer("SGD", 0.1), 1));
  }
}

}  // namespace
}  // namespace neutra::training
