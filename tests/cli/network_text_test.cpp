#include "cli/network_text.h"

#include <gtest/gtest.h>

#include "tests/count.h"

namespace neutra::cli {
namespace {

search::Network network_of(const std::vector<std::string>& statuses) {
  search::Network network;
  network.fault_id = "F";
  for (const std::string& status : statuses) {
    search::Node node;
    node.id = static_cast<std::int64_t>(network.nodes.size());
    node.status = status;
    network.nodes.push_back(std::move(node));
  }
  return network;
}

TEST(NetworkText, CountsInvalidProgramsApartFromFailedOnes) {
  const std::string text =
      network_text(network_of({"ok", "invalid", "curtailed", "invalid", "failed", "timeout",
                               "out_of_memory", "diverged", "pending", "pending"}),
                   nullptr, {});
  EXPECT_EQ(count(text, "10 generated, 8 of them evaluated, 0 in the network"), 1U) << text;
  EXPECT_EQ(count(text,
                  "without result  2 invalid (Keras would refuse them), 3 failed (their process "
                  "died, or they ran out of time or memory)\n"),
            1U)
      << text;
}

TEST(NetworkText, SaysNothingOfWhatThereIsNot) {
  const std::string text = network_text(network_of({"ok", "ok"}), nullptr, {});
  EXPECT_EQ(count(text, "2 generated, 0 in the network"), 1U) << text;
  EXPECT_EQ(count(text, "without result"), 0U) << text;
}

}  // namespace
}  // namespace neutra::cli
