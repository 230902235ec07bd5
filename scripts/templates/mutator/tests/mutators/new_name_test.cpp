#include <gtest/gtest.h>

#include "mutators/registry.h"

namespace neutra::mutators {
namespace {

TEST(NewName, ChangesThisAndNothingElse) {
  ASSERT_EQ(find_mutation_operator("NEWABBR").id, "new_name");
  FAIL() << "to be filled in: the operator in mutators/mutation/new_name.cpp; here a program, the "
            "places where the operator applies, and the document of a mutant";
}

}  // namespace
}  // namespace neutra::mutators
