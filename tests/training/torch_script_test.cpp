#include "training/torch_script.h"

#include <gtest/gtest.h>
#include <torch/script.h>

#include <cmath>
#include <fstream>

#include "base/error.h"

namespace neutra::training {
namespace {

std::filesystem::path module_with(const std::string& name, const std::string& code) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / name;
  torch::jit::Module module("m");
  module.register_parameter("w", torch::full({2}, 3.0), false);
  module.define(code + "\n");
  module.save(file.string());
  return file;
}

std::string message(const std::filesystem::path& file, const Array& inputs) {
  try {
    run_torch_script(file, inputs);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput);
    return error.what();
  }
  return "";
}

TEST(TorchScript, GivesARowForEachRow) {
  const auto file = module_with("neutra_script.pt", "def forward(self, x):\n  return x * self.w");
  EXPECT_TRUE(is_torch_script(file));
  Array inputs{{300, 2}, std::vector<float>(600)};
  for (std::size_t i = 0; i < 600; ++i) inputs.values[i] = static_cast<float>(i);
  const Array outputs = run_torch_script(file, inputs);
  EXPECT_EQ(outputs.extents, (std::vector<std::int64_t>{300, 2}));
  for (std::size_t i = 0; i < 600; ++i) EXPECT_EQ(outputs.values[i], 3 * inputs.values[i]);
  std::filesystem::remove(file);
}

TEST(TorchScript, RefusesWhatGivesSomethingElse) {
  const Array inputs{{2, 2}, {1, 2, 3, 4}};
  const auto sum = module_with("neutra_sum.pt", "def forward(self, x):\n  return x.sum()");
  EXPECT_NE(message(sum, inputs).find("a row for each row"), std::string::npos);
  const auto pair = module_with("neutra_pair.pt", "def forward(self, x):\n  return (x, x)");
  EXPECT_NE(message(pair, inputs).find("allowed: one tensor"), std::string::npos);
  const auto narrow =
      module_with("neutra_narrow.pt", "def forward(self, x):\n  return x.view([-1, 7])");
  EXPECT_NE(message(narrow, inputs).find("a module that fails"), std::string::npos);
  // In the module's own words.
  EXPECT_NE(message(narrow, inputs).find("shape '[-1, 7]' is invalid"), std::string::npos)
      << message(narrow, inputs);
  const auto text = std::filesystem::path(testing::TempDir()) / "neutra_text.pt";
  std::ofstream(text) << "no zip file";
  EXPECT_FALSE(is_torch_script(text));
  EXPECT_NE(message(text, inputs), "");
  for (const auto& file : {sum, pair, narrow, text}) std::filesystem::remove(file);
}

TEST(TorchScript, OutputsAreJudgedByKerasRules) {
  const std::vector<float> features{0, 0}, labels{1, 0};
  const DataRows rows{2, {1}, {}, features, labels, nullptr};
  const Evaluation result = evaluate_outputs({{2, 2}, {0.25F, 0.75F, 0.5F, 0.5F}}, rows,
                                             "sparse_categorical_crossentropy", {}, "accuracy");
  EXPECT_EQ(result.metric, 1);
  EXPECT_EQ(result.total, 2);
  EXPECT_NEAR(result.loss, -(std::log(0.75) + std::log(0.5)) / 2, 1e-6);
  EXPECT_TRUE(std::isnan(evaluate_outputs({{2, 1}, {1, 1}}, rows, "", {}, "mse").loss));
  EXPECT_EQ(evaluate_outputs({{2, 1}, {1, 2}}, rows, "", {}, "mse").metric, 2);
}

}  // namespace
}  // namespace neutra::training
