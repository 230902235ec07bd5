// `neutra verify`.

#include <gtest/gtest.h>

#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

TEST(Verify, VerifyNamesAStore) {
  const Folder folder;
  ASSERT_EQ(call({"search", "D7", "--store", "D7.h5", "--budget-evaluations", "1", "--quiet"},
                 folder.path())
                .exit,
            0);
  const Called called = call({"verify", "D7.h5", "--fault", "D7"}, folder.path());
  EXPECT_TRUE(refused(called, 3, {"D7.h5: found the store", "TSV"}));
}

TEST(Verify, VerifyNeedsEnoughMetricsToTell) {
  const Folder folder;
  const std::string d7 =
      "act1=linear,batch_size=32,bi1=zeros,epochs=200,ki1=glorot_uniform,loss=mean_squared_error,"
      "lr=0.001,"
      "optimizer=rmsprop,unit1=1";
  for (const std::string metrics : {"[123]", "[123, 456]"}) {
    folder.write("n.tsv",
                 "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
                 "parent_node_param_string\tcurrent_node_param_string\tis_gt\n0\t32\t" +
                     metrics + "\t" + metrics + "\t" + d7 + "\t" + d7 + "\tFalse\n");
    const Called called = call({"verify", "n.tsv", "--fault", "D7"}, folder.path());
    EXPECT_EQ(called.exit, 1) << called.out << called.err;
    EXPECT_TRUE(has(called.out, {"at least 7"}));
  }
}

}  // namespace
}  // namespace neutra::cli
