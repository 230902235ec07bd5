#include "experiments/benchmark/fault_catalogue.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "mutators/registry.h"
#include "tests/experiments/benchmark/sample.h"
#include "tests/source_file.h"

namespace neutra::experiments::tests {
namespace {

namespace fs = std::filesystem;

TEST(FaultCatalogue, EveryFaultAppliesToItsSubject) {
  std::set<Hash> programs;
  std::size_t training_bugs = 0;
  for (const CatalogueSection& section : load_fault_catalogue(bundled_fault_catalogue()).sections) {
    for (const CatalogueFault& fault : section.faults) {
      const program::Program program = load_subject(fault.subject).space.base();
      const auto data =
          training::load_dataset(program.document.at("data"), {resource_directory() / "data"});
      const program::DataInfo rows = data->info();
      const mutators::Mutant mutant = mutators::apply_all(program, fault.applications, &rows);
      EXPECT_FALSE(mutant.faults.items.empty()) << fault.id;
      EXPECT_TRUE(programs.insert(program::program_hash(mutant.program)).second) << fault.id;
      training_bugs += fault.id.starts_with("T21-");
    }
  }
  EXPECT_EQ(training_bugs, 21u);
}

TEST(FaultCatalogue, HasAllOperatorsOfLoopsAndOfDataFaults) {
  std::set<std::string> applied;
  for (const CatalogueSection& section : load_fault_catalogue(bundled_fault_catalogue()).sections) {
    for (const CatalogueFault& fault : section.faults) {
      for (const mutators::Application& application : fault.applications) {
        applied.insert(application.op);
      }
    }
  }
  for (const mutators::MutationOperator* op : mutators::mutation_operators()) {
    const std::string id(op->id);
    if (op->group == mutators::OperatorGroup::kTrainingLoop ||
        op->group == mutators::OperatorGroup::kPreprocessing) {
      EXPECT_TRUE(applied.contains(id)) << id;
    }
  }
}

TEST(FaultCatalogue, ThePageIsMadeOfIt) {
  const fs::path page = source_file("docs/reference/fault_catalogue.md");
  EXPECT_EQ(read_regular_file(page, ""),
            catalogue_page(load_fault_catalogue(bundled_fault_catalogue())))
      << "run scripts/update_docs";
}

TEST(FaultCatalogue, MistakesAreSaid) {
  const TemporaryFolder folder("neutra-test");
  const auto message = [&](const std::string& faults) {
    const fs::path file = folder.path() / "catalogue.json";
    std::ofstream(file) << R"({"format": "neutra-fault-catalogue", "version": 1, "title": "own",
                               "sections": [{"title": "all", "faults": [)"
                        << faults << "]}]}";
    return error_of([&] { load_fault_catalogue(file); });
  };
  const std::string good =
      R"({"id": "A-1", "fault": "it", "subject": "wine", "apply": ["change_label=50"]})";
  EXPECT_EQ(message(good), "");
  for (const auto& [faults, words] : std::vector<std::pair<std::string, std::string>>{
           {good + "," + good, "/sections/0/faults/1/id"},
           {R"({"id": "../A", "fault": "it", "subject": "wine", "apply": ["HNE=1"]})",
            "/faults/0/id"},
           {R"({"id": "A", "fault": "it", "subject": "wine", "apply": []})", "/faults/0/apply"},
           {R"({"id": "A", "fault": "it", "subject": "wine", "apply": ["HNX=1"]})",
            "/faults/0/apply/0"},
           {R"({"id": "A", "subject": "wine", "apply": ["HNE=1"]})", "/faults/0/fault"},
           {R"({"id": "A", "fault": "it", "subjct": "wine", "apply": ["HNE=1"]})",
            "did you mean subject"}}) {
    EXPECT_NE(message(faults).find(words), std::string::npos) << message(faults);
  }
}

}  // namespace
}  // namespace neutra::experiments::tests
