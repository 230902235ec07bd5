#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "evaluators/answers.h"
#include "experiments/catalog.h"
#include "fl_adapters/localise_runs.h"
#include "fl_adapters/registry.h"
#include "tests/fl_adapters/tools_words.h"
#include "tests/shared_data.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

/// Where the study's runs were given the rows in another order (docs/methods/deepdiagnosis.md).
const std::map<std::string, std::string> kDifferences{{"D1", "ACH(7)|LCH"}};

/// The problems as recorded, and as deepmufl's outputs have it for D1.
const std::map<std::string, std::string> kProblems{
    {"D1", "Batch 0 layer 6: Numerical Error in delta Weights, terminating training"},
    {"D4", "Batch 0 layer 0: Numerical Problem Forward, terminating training"},
    {"D6", "Batch 0 layer 1:  Out of Rang Problem, terminating training"},
    {"D7", ""},
    {"D8", "Batch 0 layer 2:  Out of Rang Problem, terminating training"}};

void expect_published(const std::string& id, std::size_t runs, const fs::path& data) {
  const auto trainer = training::make_local_trainer({{resource_directory() / "data", data}});
  fl_adapters::LocaliseContext context;
  context.trainer = trainer.get();
  const fl_adapters::ToolAnswers answers = fl_adapters::localise_runs(
      *fl_adapters::find_tool("deepdiagnosis"), {id, load_fault(id).buggy}, context, runs, 2);
  const std::vector<evaluators::Answer> published =
      evaluators::read_answers(resource_directory() / "tables/answers.csv");
  const auto row =
      std::find_if(published.begin(), published.end(), [&](const evaluators::Answer& answer) {
        return answer.fault == id && answer.tool == "deepdiagnosis";
      });
  ASSERT_NE(row, published.end());
  const auto difference = kDifferences.find(id);
  for (const fl_adapters::Localisation& run : answers.runs) {
    EXPECT_EQ(to_string(run.faults),
              difference != kDifferences.end() ? difference->second : to_string(row->faults))
        << id;
    const std::string said = run.messages.empty() ? "" : run.messages.front().text;
    EXPECT_EQ(fl_adapters::in_the_tools_words(said), kProblems.at(id)) << id;
  }
}

TEST(DeepDiagnosisAnswers, AreThoseOfTable7) {
  for (const char* id : {"D1", "D6", "D7", "D8"}) expect_published(id, 5, {});
}

TEST(DeepDiagnosisAnswers, OfAProgramOnMnist) {
  const fs::path data = neutra::tests::shared_data("");
  if (!fs::exists(data / "mnist")) GTEST_SKIP() << "no " << data / "mnist";
  expect_published("D4", 2, data);
}

}  // namespace
}  // namespace neutra::experiments
