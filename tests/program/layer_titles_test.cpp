#include "program/layer_titles.h"

#include <gtest/gtest.h>

namespace neutra::program {
namespace {

TEST(LayerTitles, NumberAndName) {
  const Json document = {{"model",
                          {{"config",
                            {{"layers",
                              {{{"class_name", "InputLayer"}},
                               {{"class_name", "Dense"}, {"config", {{"name", "hidden"}}}},
                               {{"class_name", "MaxPooling2D"}, {"config", {{"pool_size", 2}}}},
                               {{"class_name", "Dense"}, {"config", Json::object()}},
                               {{"class_name", 7}}}}}}}}};
  const LayerTitles titles(document);
  EXPECT_EQ(titles(1), "1, hidden");
  EXPECT_EQ(titles(2), "2, max_pooling2d");
  EXPECT_EQ(titles(3), "3, dense_1");
  EXPECT_EQ(titles(4), "4, layer");
  EXPECT_EQ(titles(5), "5");  // there is none
  EXPECT_EQ(titles(-1), "-1");
  EXPECT_EQ(titles({3, 1, 5}), "1, hidden; 3, dense_1; 5");
  EXPECT_EQ(titles(std::set<int>{}), "");
}

TEST(LayerTitles, OfDocumentsWithoutLayers) {
  EXPECT_EQ(LayerTitles(Json())(0), "0");
  EXPECT_EQ(LayerTitles(Json{{"model", 3}})(2), "2");
}

}  // namespace
}  // namespace neutra::program
