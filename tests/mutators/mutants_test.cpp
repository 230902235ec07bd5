#include "mutators/mutants.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/error.h"
#include "mutators/registry.h"
#include "tests/source_file.h"

namespace neutra::mutators {
namespace {

program::Program classifier() {
  return {read_json(source_file("tests/mutators/data/classifier.json"))};
}

TEST(Application, TextAndJsonReadBack) {
  for (const char* text : {"change_activation_function@3=relu", "change_label=25.5",
                           "disable_batching", "add_bias@0", "change_epochs=1"}) {
    const Application application = parse_application(text, 5);
    EXPECT_EQ(to_string(application), text);
    EXPECT_EQ(application_from_json(to_json(application), "manifest.json"), application);
  }
  EXPECT_EQ(to_string(parse_application("tcl=25", 0)), "change_label=25");
  EXPECT_EQ(to_json(parse_application("TCL=25", 9)),
            Json::parse(R"({"operator":"change_label","value":25.0,"seed":9})"));
}

TEST(Application, BadTextsAreTheUsersMistakes) {
  for (const char* text : {"", "change_lable=3", "ACH@x=relu", "ACH@-1=relu", "ACH@=relu"}) {
    EXPECT_THROW(parse_application(text, 0), Error) << text;
  }
  try {
    parse_application("change_lable=3", 0);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("change_label"), std::string::npos);
  }
  for (const char* text : {R"({})", R"({"operator":1})", R"({"operator":"TCL","seed":-1})",
                           R"({"operator":"TCL","layers":1})"}) {
    EXPECT_THROW(application_from_json(Json::parse(text), "x.json"), Error) << text;
  }
}

TEST(Application, UnknownOperatorsAreSaidWhereTheyAreApplied) {
  const Json json = Json::parse(R"({"operator":"of_another_version","value":3,"seed":5})");
  const Application application = application_from_json(json, "x.json");
  EXPECT_EQ(to_json(application), json);
  EXPECT_EQ(to_string(application), "of_another_version=3");
  EXPECT_THROW(apply_all(classifier(), {application}), Error);
}

TEST(ApplyAll, LayersCountAsLeftByThoseBefore) {
  const Mutant mutant = apply_all(
      classifier(), {parse_application("layer_addition@0=ReLU", 0),
                     parse_application("change_activation_function@5=elu", 0),
                     parse_application("change_label=50", 1), parse_application("HNE=3", 0)});
  const Json& layers = mutant.program.document["model"]["config"]["layers"];
  EXPECT_EQ(layers[1]["class_name"], "ReLU");
  EXPECT_EQ(layers[5]["config"]["activation"], "elu");
  EXPECT_EQ(to_string(mutant.faults), "ACH(5), HNE, LAD(1), TCL");
  EXPECT_EQ(mutant.name(), "LAs-0-ReLU--ACH-5-elu--TCL-50-s1--HNE-3");
  const Mutant many =
      apply_all(classifier(), {parse_application("LAs@0=BatchNormalization", 0),
                               parse_application("LAs@1=BatchNormalization", 0),
                               parse_application("LAs@2=BatchNormalization", 0),
                               parse_application("LCH=mean_absolute_percentage_error", 0),
                               parse_application("WCI@0=truncated_normal", 0)});
  EXPECT_EQ(many.name().size(), 100u);  // as long as a fault's id may be
  EXPECT_TRUE(many.name().starts_with("LAs-0-BatchNormalization--LAs-1-"));
}

TEST(ApplyAll, OneToFive) {
  EXPECT_THROW(apply_all(classifier(), {}), Error);
  EXPECT_THROW(
      apply_all(classifier(), std::vector<Application>(6, parse_application("change_label=1", 0))),
      Error);
}

TEST(FirstOrder, EveryOperatorOrItsReason) {
  const program::DataInfo data{{6, 6, 1}, {3}, 1000, true, 0, 1};
  const MutantList list =
      first_order_mutants(make_target(classifier(), &data), mutation_operators(), 2);
  std::set<std::string> seen, names;
  for (const Mutant& mutant : list.mutants) {
    ASSERT_EQ(mutant.applications.size(), 1u);
    seen.insert(mutant.applications.front().op);
    EXPECT_TRUE(names.insert(mutant.name()).second) << mutant.name();
    EXPECT_TRUE(program::validate(mutant.program.document).empty()) << mutant.name();
  }
  std::set<std::string> reasons;
  for (const auto& [what, reason] : list.skipped) {
    EXPECT_FALSE(reason.empty());
    reasons.insert(what);
  }
  std::set<std::string> absent;
  for (const MutationOperator* op : mutation_operators()) {
    if (!seen.contains(std::string(op->id))) absent.emplace(op->id);
    EXPECT_NE(seen.contains(std::string(op->id)), reasons.contains(std::string(op->id))) << op->id;
  }
  // The program has a place for all others.
  EXPECT_EQ(absent, (std::set<std::string>{"scheduler_per_batch", "sigmoid_on_regression_output"}));
  EXPECT_TRUE(reasons.contains("change_dropout_rate@2=1"));
  EXPECT_TRUE(reasons.contains("change_weights_initialisation@0=identity"));
  EXPECT_TRUE(reasons.contains("change_filter_size@0=7"));
}

TEST(RandomMutants, AreOfTheirOrderAndTheSameAgain) {
  const Target target = make_target(classifier());
  for (int order = 1; order <= kMaxOrder; ++order) {
    const auto mutants = random_mutants(target, mutation_operators(), order, 6, 42);
    ASSERT_EQ(mutants.size(), 6u);
    std::set<Hash> hashes;
    for (const Mutant& mutant : mutants) {
      EXPECT_EQ(mutant.applications.size(), static_cast<std::size_t>(order));
      EXPECT_TRUE(program::validate(mutant.program.document).empty());
      EXPECT_TRUE(hashes.insert(program::program_hash(mutant.program)).second);
      // Each operator leaves a fault of its own.
      EXPECT_EQ(mutant.faults, program::diff(mutant.program, target.program));
      EXPECT_GE(mutant.faults.items.size(), static_cast<std::size_t>(order));
      // The recipe makes the same program.
      EXPECT_EQ(apply_all(target.program, mutant.applications).program.document,
                mutant.program.document);
    }
    const auto again = random_mutants(target, mutation_operators(), order, 6, 42);
    const auto other = random_mutants(target, mutation_operators(), order, 6, 43);
    EXPECT_EQ(again.back().name(), mutants.back().name());
    EXPECT_NE(other.back().name(), mutants.back().name());
  }
}

std::vector<const MutationOperator*> operators(std::initializer_list<const char*> names) {
  std::vector<const MutationOperator*> list;
  for (const char* name : names) list.push_back(&find_mutation_operator(name));
  return list;
}

TEST(RandomMutants, AreNeverWhatOperatorsThatUndoEachOtherLeave) {
  const Target target = make_target(classifier());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // WRB at 0, 5 or 6 and WAB at 4; RAW at 0, 5 or 6 and RRW at 4.
    for (const auto& pair : {operators({"WRB", "WAB"}), operators({"RAW", "RRW"})}) {
      for (const Mutant& mutant : random_mutants(target, pair, 2, 3, seed)) {
        EXPECT_NE(program::program_hash(mutant.program), program::program_hash(target.program))
            << mutant.name();
        EXPECT_EQ(mutant.faults.items.size(), 2u) << mutant.name();
      }
    }
  }
}

TEST(RandomMutants, HaveOperatorsThatCannotMakeOneFault) {
  const Target target = make_target(classifier());
  // Each of them may be found to be a change of the activation.
  EXPECT_THROW(random_mutants(target, operators({"LRM", "ACH", "LAD"}), 2, 1, 0), Error);
  EXPECT_EQ(random_mutants(target, operators({"LRM", "HNE"}), 2, 1, 0).size(), 1u);
}

TEST(ApplyAll, RefusesWhatEndsAsTheOriginal) {
  for (const auto& [first, second] : {std::pair{"WRB@0", "WAB@0"}, {"RAW@0=l1", "RRW@0"}}) {
    try {
      apply_all(classifier(), {parse_application(first, 0), parse_application(second, 0)});
      ADD_FAILURE() << first << " " << second;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("operators that undo each other"), std::string::npos)
          << error.what();
    }
  }
}

std::string reason(const MutantList& list, const std::string& what) {
  for (const auto& skipped : list.skipped) {
    if (skipped.what == what) return skipped.reason;
  }
  return "none";
}

TEST(FirstOrder, OperatorsWithoutAValueHaveAReason) {
  program::Program program = classifier();
  program.document["compile"]["optimizer"]["config"]["clipnorm"] = 0.5;
  const MutantList list = first_order_mutants(make_target(program), operators({"OCG"}));
  EXPECT_TRUE(list.mutants.empty());
  EXPECT_EQ(reason(list, "change_gradient_clip"), "every value that is tried is the program's own");
}

TEST(FirstOrder, AtSomeLayersAlone) {
  const Target target = make_target(classifier());
  const auto all = operators({"ACH", "HNE", "RCD", "WRB"});
  const MutantList list = first_order_mutants(target, all, 0, {5});
  EXPECT_FALSE(list.mutants.empty());
  for (const Mutant& mutant : list.mutants) EXPECT_EQ(mutant.applications.front().site, 5);
  EXPECT_EQ(reason(list, "change_epochs"), "it changes the whole program, not a layer");
  EXPECT_EQ(reason(list, "change_dropout_rate@5"),
            "found layer 5, square (Dense), which is no Dropout layer; allowed: layer 2");
  EXPECT_THROW(first_order_mutants(target, all, 0, {7}), Error);
}

TEST(RandomMutants, SayWhenThereAreNotEnough) {
  const Target target = make_target(classifier());
  EXPECT_THROW(random_mutants(target, mutation_operators(), 6, 1, 0), Error);
  EXPECT_THROW(random_mutants(target, mutation_operators(), 0, 1, 0), Error);
  const std::vector<const MutationOperator*> one = {&find_mutation_operator("VRM")};
  EXPECT_EQ(random_mutants(target, one, 1, 1, 0).size(), 1u);
  EXPECT_THROW(random_mutants(target, one, 1, 2, 0), Error);
  EXPECT_THROW(random_mutants(target, one, 2, 1, 0), Error);
}

}  // namespace
}  // namespace neutra::mutators
