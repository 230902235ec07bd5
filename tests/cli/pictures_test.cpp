#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/count.h"

namespace neutra::cli {
namespace {

/// A network of the buggy program of D7, a repair and a neutral program.
std::string small_network() {
  const std::string d7 =
      "act1=linear,batch_size=32,bi1=zeros,epochs=200,ki1=glorot_uniform,loss=mean_squared_error,"
      "lr=0.001,optimizer=rmsprop,unit1=1";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = d7;
    return text.replace(text.find(from), from.size(), to);
  };
  return "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
         "parent_node_param_string\tcurrent_node_param_string\tis_gt\n"
         "0\t32\t[5.18, 7.63]\t[0.5, 0.6]\t" +
         d7 + "\t" + with("lr=0.001", "lr=0.01") + "\tFalse\n0\t34\t[5.18, 7.63]\t[0.1, 0.1]\t" +
         d7 + "\t" + with("epochs=200", "epochs=400") + "\tTrue\n";
}

/// An environment variable for the calls of a scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

TEST(Pictures, OfANetwork) {
  const Folder folder;
  folder.write("n.tsv", small_network());
  const Called svg = call({"network", "n.tsv", "--format", "svg"}, folder.path());
  ASSERT_EQ(svg.exit, 0) << svg.err;
  EXPECT_EQ(count(svg.out, "class=\"node\""), 3 + 2U) << svg.out;  // two are words on an edge
  EXPECT_EQ(count(svg.out, "class=\"edge\""), 2 * 2U);
  EXPECT_TRUE(has(svg.out, {"<title>D7</title>", "lr: 0.001 &#45;&gt; 0.01", "buggy program",
                            "mean mae (lower is better)", "on par with it", "fill=\"#80d0a0\""}));
  for (const auto& [form, begin] :
       {std::pair("png", "\x89PNG\r\n\x1a\n"), std::pair("pdf", "%PDF-1.")}) {
    const std::string file = std::string("n.") + form;
    const Called drawn = call({"network", "n.tsv", "--format", form, "-o", file}, folder.path());
    ASSERT_EQ(drawn.exit, 0) << drawn.err;
    EXPECT_TRUE(folder.read(file).starts_with(begin)) << form;
    const Called piped = call({"network", "n.tsv", "--format", form}, folder.path());
    EXPECT_EQ(piped.out, folder.read(file)) << form;
    // The ending says the form.
    ASSERT_EQ(call({"network", "n.tsv", "-o", "again." + std::string(form)}, folder.path()).exit,
              0);
    EXPECT_EQ(folder.read("again." + std::string(form)), piped.out) << form;
  }
  const auto begin_of = [&](std::vector<std::string> words, const std::string& file) {
    words.insert(words.begin(), {"network", "n.tsv", "-o", file});
    EXPECT_EQ(call(words, folder.path()).exit, 0) << file;
    return folder.read(file).substr(0, 6);
  };
  EXPECT_EQ(begin_of({}, "n.json"), "{\n  \"f");
  EXPECT_EQ(begin_of({}, "n.dot"), "digrap");
  EXPECT_EQ(begin_of({}, "n.txt"), "parent");
  EXPECT_EQ(begin_of({}, "n"), "parent");
  EXPECT_EQ(begin_of({"--format", "tsv"}, "table.json"), "parent");
}

TEST(Pictures, ATerminalGetsNoBytesOfThem) {
  const Folder folder;
  folder.write("n.tsv", small_network());
  const std::string command = built_command() + " network n.tsv --format ";
  Called called = Running({"script", "-qec", command + "png", "/dev/null"}, folder.path()).wait(60);
  EXPECT_EQ(called.exit, 2) << called.out;
  EXPECT_TRUE(has(called.out, {"-o FILE"}));
  called = Running({"script", "-qec", command + "svg", "/dev/null"}, folder.path()).wait(60);
  EXPECT_EQ(called.exit, 0) << called.out;
}

TEST(Pictures, AMissingProgramIsNamed) {
  const Folder folder;
  folder.write("n.tsv", small_network());
  const Variable path("PATH", folder.path().string());
  const Called svg = call({"network", "n.tsv", "--format", "svg", "-o", "n.svg"}, folder.path());
  EXPECT_TRUE(refused(svg, 1, {"'dot'", "graphviz"}));
  const Called pdf = call({"network", "n.tsv", "--format", "pdf", "-o", "n.pdf"}, folder.path());
  EXPECT_TRUE(refused(pdf, 1, {"'rsvg-convert'", "librsvg2-bin"}));
  // Before any work: the study isn't begun.
  const Called study =
      call({"study", "quickstart", "--figures", "svg,png", "--folder", "r"}, folder.path());
  EXPECT_TRUE(refused(study, 1, {"rsvg-convert"}));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"n.tsv"});
  EXPECT_EQ(call({"network", "n.tsv", "--format", "dot"}, folder.path()).exit, 0);
}

TEST(Pictures, OfTheOrderOfTools) {
  const Folder folder;
  folder.write("a.csv",
               "fault,tool,answer\nD7,one,HNE\nD7,two,\"HLR, LCH\"\nD7,three,-\n"
               "D4,one,ACH(1)\nD4,two,-\nD4,three,-\nD1,one,-\n");
  const std::vector<std::string> score = {"score", "--answers", "a.csv", "--plot"};
  const auto plot = [&](const std::string& file) {
    std::vector<std::string> words = score;
    words.push_back(file);
    return call(words, folder.path());
  };
  const Called drawn = plot("order.svg");
  ASSERT_EQ(drawn.exit, 0) << drawn.err;
  EXPECT_TRUE(has(drawn.out, {"Friedman's test"}));
  EXPECT_TRUE(has(folder.read("order.svg"), {"too few faults", "at least 7"}));
  EXPECT_EQ(plot("order.pdf").exit, 0);
  EXPECT_TRUE(folder.read("order.pdf").starts_with("%PDF"));
  const Called other = plot("order.gif");
  EXPECT_TRUE(refused(other, 2, {"--plot", "order.gif", ".svg", ".png", ".pdf"}));
  folder.write("a.csv", "fault,tool,answer\nD7,one,HNE\nD7,two,HLR\nD4,one,HLR\nD4,two,HLR\n");
  const Called few = plot("few.svg");
  EXPECT_TRUE(refused(few, 3, {"--plot", "three tools"}));
}

TEST(Pictures, FormsOfFiguresAreChecked) {
  const Folder folder;
  const Called called = call({"study", "quickstart", "--figures", "svg,gif"}, folder.path());
  EXPECT_TRUE(refused(called, 2, {"--figures", "'svg,gif'", "svg, png, pdf"}));
  EXPECT_TRUE(folder.names().empty());
}

TEST(Pictures, StragglersHaveARange) {
  const Folder folder;
  for (const char* text : {"1:1e308", "1:0.5", "nan:4"}) {
    const Called called = call({"simulate", "none.h5", "--stragglers", text}, folder.path());
    EXPECT_TRUE(refused(called, 2, {"--stragglers", "from 1 to 1000000"}));
  }
}

}  // namespace
}  // namespace neutra::cli
