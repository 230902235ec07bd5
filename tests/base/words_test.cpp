#include "base/words.h"

#include <gtest/gtest.h>

namespace neutra {
namespace {

using Words = std::vector<std::string>;

TEST(Words, TheNearestAreThoseWithTheFewestEdits) {
  const Words known = {"relu", "selu", "elu", "softmax", "sigmoid"};
  EXPECT_EQ(nearest_few("rely", known), Words{"relu"});
  EXPECT_EQ(nearest_few("xelu", known), (Words{"relu", "selu", "elu"}));
  EXPECT_EQ(nearest_few("SOFTMAX", known), Words{"softmax"});
  EXPECT_EQ(nearest_few("sotfmax", known), Words{"softmax"});  // two letters swapped: one edit
  EXPECT_EQ(nearest_few("D77", {"D7", "d7", "D8"}), Words{"D7"});
  EXPECT_TRUE(nearest_few("conv2d", known).empty());
  EXPECT_TRUE(nearest_few("relu", {}).empty());
  EXPECT_TRUE(nearest_few(std::string(201, 'x'), {std::string(201, 'x')}).empty());
  EXPECT_EQ(nearest("xelu", known), "relu");
  EXPECT_EQ(nearest("conv2d", known), "");
}

TEST(Words, APartOfANameIsNearAndThreeAreEnough) {
  const Words known = {"deepfd",           "deepmufl-muse",   "deepmufl-sbi-avg",
                       "deepmufl-sbi-max", "deepmufl-ochiai", "umlaut"};
  EXPECT_EQ(nearest_few("deepmufl", known),
            (Words{"deepmufl-muse", "deepmufl-sbi-avg", "deepmufl-sbi-max"}));
  EXPECT_EQ(nearest_few("muse", known), Words{"deepmufl-muse"});
}

TEST(Words, AShortListIsShownWholeAndALongOneByItsNearest) {
  EXPECT_EQ(allowed_words("adm", {"adam", "sgd"}), "adam, sgd (did you mean adam?)");
  EXPECT_EQ(allowed_words("x", {"a1", "a2", "long"}), "a1, a2, long (did you mean a1 or a2?)");
  Words many;
  for (int i = 0; i < 40; ++i) many.push_back("operator_" + std::to_string(i));
  EXPECT_EQ(allowed_words("nothing like it", many),
            "one of 40 words such as operator_0, operator_1, operator_2");
  EXPECT_EQ(allowed_words("opreator_17", many), "one of 40 words (did you mean operator_17?)");
  EXPECT_EQ(allowed_words("operator", many),
            "one of 40 words (did you mean operator_0, operator_1 or operator_2?)");
}

}  // namespace
}  // namespace neutra
