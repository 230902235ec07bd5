#include "experiments/benchmark/build.h"

#include <gtest/gtest.h>

#include <fstream>

#include "mutators/registry.h"
#include "tests/experiments/benchmark/sample.h"

namespace neutra::experiments::tests {
namespace {

namespace fs = std::filesystem;

TEST(BenchmarkPlans, BundledOnesLoad) {
  EXPECT_EQ(benchmark_plans(),
            (std::vector<std::string>{"bundled", "catalogue", "kinds", "small"}));
  for (const std::string& name : benchmark_plans()) {
    const BenchmarkPlan plan = load_benchmark_plan(name);
    EXPECT_EQ(plan.name, name);
    EXPECT_GE(plan.subjects.size(), 6u);
    for (const PlannedSubject& subject : plan.subjects) {
      EXPECT_FALSE(subject.subject.licence.empty()) << subject.subject.id;
    }
  }
  EXPECT_EQ(load_benchmark_plan("kinds").per_kind, 1);
  std::size_t faults = 0;
  for (const PlannedSubject& subject : load_benchmark_plan("catalogue").subjects) {
    faults += subject.faults.size();
  }
  EXPECT_EQ(faults, 21u + 24 + 13);
  const BenchmarkPlan bundled = load_benchmark_plan("bundled");
  EXPECT_EQ(bundled.subjects.front().operators, mutators::mutation_operators());
  EXPECT_LT(bundled.subjects.back().operators.size(), mutators::mutation_operators().size());
}

TEST(BenchmarkPlans, MistakesAreSaid) {
  const TemporaryFolder folder("neutra-test");
  const auto message = [&](const std::string& fields) {
    const fs::path file = folder.path() / "plan.json";
    std::ofstream(file) << R"({"format": "neutra-benchmark-plan", "version": 1)" << fields << "}";
    return error_of([&] { load_benchmark_plan(file.string()); });
  };
  const auto expect = [&](const std::string& fields, const std::string& words) {
    EXPECT_NE(message(fields).find(words), std::string::npos) << message(fields);
  };
  EXPECT_EQ(message(R"(, "subjects": ["iris"])"), "");
  expect("", "subjects");
  expect(R"(, "subjects": ["irs"])", "did you mean iris");
  expect(R"(, "subjects": ["iris", "iris"])", "a second time");
  expect(R"(, "subjects": ["d7"])", "subjects/0/licence");
  expect(R"(, "subjects": [{"subject": "iris", "operators": ["TCX"]}])", "/subjects/0/operators/0");
  expect(R"(, "subjects": ["iris"], "runs": 1)", "/runs");
  expect(R"(, "subjects": ["iris"], "name": "a/b")", "/name");
  expect(R"(, "subjects": ["iris"], "run": 3)", "did you mean runs");
  EXPECT_NE(error_of([] { load_benchmark_plan("smal"); }).find("small"), std::string::npos);
  // A catalogue's faults are on subjects of the plan, and are all that is applied.
  std::ofstream(folder.path() / "own.json")
      << R"({"format": "neutra-fault-catalogue", "version": 1, "title": "own", "sections": [
             {"title": "all", "faults": [{"id": "A-1", "fault": "it", "subject": "wine",
                                          "apply": ["change_label=50"]}]}]})";
  const std::string catalogue = R"(, "catalogue": "own.json", "subjects": )";
  EXPECT_EQ(message(catalogue + R"(["wine"])"), "");
  expect(catalogue + R"(["iris"])", "/catalogue: found A-1 on the subject wine");
  expect(catalogue + R"(["wine", "iris"])", "/subjects/1: found iris");
  expect(R"(, "per_kind": 1)" + catalogue + R"(["wine"])", "/per_kind");
}

}  // namespace
}  // namespace neutra::experiments::tests
