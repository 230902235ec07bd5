#pragma once

#include <gtest/gtest.h>

#include "training/data/data_header.h"
#include "training/data/dataset.h"

namespace neutra::training::tests {

/// Headers tell the same as the rows, where they tell it.
inline void expect_header(const Json& data, const Dataset& dataset,
                          const std::vector<std::filesystem::path>& search_path) {
  const DataHeader header = read_data_header(data, search_path);
  EXPECT_EQ(header.x, dataset.info().x) << data;
  EXPECT_EQ(header.y, dataset.info().y) << data;
  if (!header.training) return;
  if (!data.contains("mutations")) {
    EXPECT_EQ(header.training, dataset.x_train.rows()) << data;
  }
  EXPECT_EQ(header.validation.value_or(0), dataset.x_validation.rows()) << data;
  EXPECT_EQ(header.test, dataset.x_test.rows()) << data;
  EXPECT_EQ(header.holdout, dataset.x_holdout.rows()) << data;
}

}  // namespace neutra::training::tests
