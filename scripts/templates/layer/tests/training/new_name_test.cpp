#include <gtest/gtest.h>

#include "program/layer.h"

namespace neutra::training {
namespace {

TEST(NewName, ComputesWhatKerasDoes) {
  ASSERT_NE(program::find_layer("NewName"), nullptr);
  FAIL() << "to be filled in: kind, fields, shape and weights in program/layers/new_name.cpp, what "
            "it computes in training/layers/new_name.cpp; here outputs and gradients for a few "
            "rows, as tf.keras 2.4 gives them (tests/training/layers_test.cpp has examples)";
}

}  // namespace
}  // namespace neutra::training
