// `neutra score`.

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

TEST(Score, ScoreNamesTheProgramsThatItLeavesOut) {
  const Folder folder;
  folder.write("deepfd.txt",
               "working on subject:  48221692\nDiagnosed / Localized by DeepFD:\n"
               "Fault 1: [lr], Lines: []\ncase end\n"
               "working on subject:  51181393\nDiagnosed / Localized by DeepFD:\n"
               "Fault 1: [loss], Lines: []\ncase end\n");
  ASSERT_EQ(call({"parse", "--tool", "deepfd", "deepfd.txt", "--format", "answers", "-o", "a.csv"},
                 folder.path())
                .exit,
            0);
  EXPECT_EQ(folder.read("a.csv"),
            "fault,tool,answer,runs\n48221692,deepfd,HLR,1\nD7,deepfd,LCH,1\n");
  const Called score = call({"score", "--answers", "a.csv", "--json"}, folder.path());
  ASSERT_EQ(score.exit, 0) << score.err;
  EXPECT_EQ(parse_json(score.out, "out")["scores"].size(), 1u);
  EXPECT_TRUE(has(score.err, {"a.csv", "48221692"}));
}

TEST(Score, ScoreAgainstARecordedNetwork) {
  const Folder folder;
  const std::string d7 =
      "act1=linear,batch_size=32,bi1=zeros,epochs=200,ki1=glorot_uniform,loss=mean_squared_error,"
      "lr=0.001,"
      "optimizer=rmsprop,unit1=1";
  std::string child = d7;
  child.replace(child.find("epochs=200"), 10, "epochs=400");
  folder.write(
      "n.tsv",
      "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\tparent_node_param_string\t"
      "current_node_param_string\tis_gt\n0\t34\t[5.18, 7.63]\t[0.1, 0.1]\t" +
          d7 + "\t" + child + "\tTrue\n");
  folder.write("a.csv",
               "fault,tool,answer\nD7,one,HNE\nD7,two,\"HLR, LCH\"\nD4,one,ACH(1)\nD4,two,-\n");
  const std::vector<std::string> score{"score", "--network", "n.tsv", "--answers", "a.csv"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), score.begin(), score.end());
    return call(more, folder.path());
  };
  const Called json = with({"--json"});
  ASSERT_EQ(json.exit, 0) << json.err;
  const Json rows = parse_json(json.out, "out")["scores"];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["tool"], "one");
  EXPECT_EQ(rows[0]["before_recall"], 0);
  EXPECT_EQ(rows[0]["after_recall"], 1);
  EXPECT_EQ(rows[0]["ground_truths"], 2);
  EXPECT_EQ(rows[0]["attaining"], 1);
  EXPECT_EQ(rows[1]["after_precision"], 0.5);
  EXPECT_EQ(with({"--format", "csv"}).out,
            "fault,origin,tool,answer,before_recall,before_precision,before_f3,after_recall,"
            "after_precision,after_f3,ground_truths,attaining\n"
            "D7,real,one,HNE,0,0,0,1,1,1,2,1\n"
            "D7,real,two,\"HLR, LCH\",1,0.5,0.9090909090909091,1,0.5,0.9090909090909091,2,1\n");
  EXPECT_TRUE(has(with({"--format", "latex"}).out, {"\\toprule"}));
  EXPECT_TRUE(has(with({}).out, {"D7   2  1.00  1.00  1.00"}));

  // Without a network: the known fixes of all faults in the file, and averages.
  const Called known = call({"score", "--answers", "a.csv", "--json"}, folder.path());
  ASSERT_EQ(known.exit, 0) << known.err;
  EXPECT_EQ(parse_json(known.out, "out")["averages"].size(), 4u);

  // A network of another fault is an error, unless the study's numbers are asked for.
  EXPECT_EQ(with({"--fault", "D4"}).exit, 3);
  EXPECT_EQ(with({"--format", "dot"}).exit, 2);
  EXPECT_EQ(with({"--network", "n.tsv"}).exit, 2);
  EXPECT_EQ(with({"--network", "n.tsv", "--fault", "D7"}).exit, 2);
  EXPECT_EQ(call({"score", "--network", "n.tsv"}, folder.path()).exit, 2);
  folder.write("b.csv", "fault,tool,answer\nD1,one,HNE\n");
  EXPECT_EQ(call({"score", "--network", "n.tsv", "--answers", "b.csv"}, folder.path()).exit, 3);
  folder.write("c.csv", "fault,tool,answer\nD7,one,XYZ\n");
  const Called wrong = call({"score", "--answers", "c.csv"}, folder.path());
  EXPECT_TRUE(refused(wrong, 3, {"c.csv: line 2, answer"}));
}

TEST(Score, ScoreOfRankings) {
  const Folder folder;
  folder.write("a.csv",
               "fault,tool,answer,ranking,seconds\nD7,places,-,(0:2) > (0:0),3\n"
               "D4,places,-,(1) > (0),5\nD4,wise,HLR,HLR > OCH > ACH(1) = ACH(5),\nD7,wise,-,,\n");
  const std::vector<std::string> score{"score", "--answers", "a.csv"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), score.begin(), score.end());
    return call(more, folder.path());
  };
  const Called json = with({"--json"});
  ASSERT_EQ(json.exit, 0) << json.err;
  const Json out = parse_json(json.out, "out");
  ASSERT_EQ(out["scores"].size(), 4u);
  const Json& places = out["scores"][2];  // on D4: ACH(0,1), HLR, LCH
  EXPECT_EQ(places["answer"], "(1)");
  EXPECT_EQ(places["before_precision"], 1);
  EXPECT_EQ(places["before_first_rank"], 1);
  EXPECT_EQ(places["seconds"], 5);
  EXPECT_NEAR(places["before_average_precision"].get<double>(), 1. / 3, 1e-12);
  const Json& wise = out["scores"][3];
  EXPECT_EQ(wise["answer"], "HLR");
  EXPECT_NEAR(wise["before_average_precision"].get<double>(), (1 + 2. / 4) / 3, 1e-12);
  EXPECT_TRUE(out["scores"][0]["before_first_rank"].is_null());  // a learning rate is in no layer
  const Json& all = out["rank_averages"].back();
  EXPECT_EQ(all["tool"], "wise");
  EXPECT_EQ(all["before_top1"], 0.5);
  EXPECT_EQ(all["before_mrr"], 0.5);
  EXPECT_TRUE(has(with({}).out, {"Top@10"}));
  EXPECT_EQ(with({"--top", "0"}).exit, 2);
  folder.write("b.csv", "fault,tool,answer,ranking\nD7,places,-,(0) > 3\n");
  EXPECT_EQ(call({"score", "--answers", "b.csv"}, folder.path()).exit, 3);
}

}  // namespace
}  // namespace neutra::cli
