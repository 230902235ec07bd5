#include "search/store_schema.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>
#include <limits>

#include "tests/search/fakes.h"
#include "tests/search/store_files.h"
#include "tests/source_file.h"

namespace neutra::search::tests {
namespace {

/// The line of docs/formats/store.md about a dataset or group.
std::string documented(const std::string& path) {
  std::ifstream page(source_file("docs/formats/store.md"));
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `" + path + "` |")) return line;
  }
  ADD_FAILURE() << path << " is not in docs/formats/store.md";
  return "";
}

template <typename Row>
void expect_documented(const Table<Row>& table) {
  std::string names;
  for (const Column<Row>& column : table.columns) {
    names += (names.empty() ? "`" : ", ") + std::string(column.name);
    if (column.items != nullptr) documented(column.items);
  }
  EXPECT_NE(documented(table.group + std::string("/")).find(names + "`"), std::string::npos)
      << table.group << ": " << names;
}

TEST(StoreSchema, ThePageListsEveryColumn) {
  expect_documented(kStoredEvaluations);
  expect_documented(kStoredDeaths);
  expect_documented(kStoredNodes);
  expect_documented(kStoredEdges);
  expect_documented(kStoredSubpatches);
}

std::vector<Node> some_nodes() {
  std::vector<Node> nodes(2);
  nodes[0].parameters = {{"a", "0"}};
  nodes[0].hash = {1, 2};
  nodes[0].metrics = {0.5, 0.25};
  nodes[1].id = 1;
  nodes[1].parameters = {{"a", "1"}};
  nodes[1].mutation = {"change", "a", "0", "1"};
  nodes[1].status = "curtailed";
  nodes[1].mean = std::numeric_limits<double>::quiet_NaN();
  nodes[1].metrics = {0.125};
  nodes[1].queued = true;
  return nodes;
}

TEST(StoreSchema, RowsAreReadAsTheyWereWritten) {
  Hdf5File file = Hdf5File::create_in_memory("s.h5");
  kStoredNodes.write(file, "s.h5", some_nodes());
  EXPECT_EQ(file.read_integers("/nodes/metric_count"), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(file.read_doubles("/metrics"), (std::vector<double>{0.5, 0.25, 0.125}));
  const std::vector<Node> nodes = kStoredNodes.read(file, "s.h5");
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0].hash, (Hash{1, 2}));
  EXPECT_EQ(nodes[0].metrics, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(nodes[1].parameters, (program::Parameters{{"a", "1"}}));
  EXPECT_EQ(nodes[1].mutation, (mutators::Mutation{"change", "a", "0", "1"}));
  EXPECT_TRUE(std::isnan(nodes[1].mean));
  EXPECT_TRUE(nodes[1].queued);
}

TEST(StoreSchema, WhatNoStoreHoldsIsNamed) {
  const auto message = [](const std::function<void(Hdf5File&)>& spoil) {
    Hdf5File file = Hdf5File::create_in_memory("s.h5");
    spoil(file);
    return message_of([&] { kStoredDeaths.read(file, "s.h5"); }, Exit::kBadInput);
  };
  using Numbers = std::vector<std::int64_t>;
  using Texts = std::vector<std::string>;
  EXPECT_EQ(message([](Hdf5File& file) {
              file.write("/deaths/hash", Texts{"none"});
              file.write("/deaths/count", Numbers{1});
            }),
            "s.h5: /deaths/hash: found 'none'; allowed: 32 hexadecimal digits");
  EXPECT_EQ(message([](Hdf5File& file) {
              file.write("/deaths/hash", Texts{});
              file.write("/deaths/count", Numbers{1});
            }),
            "s.h5: /deaths/count: found 1 rows; allowed: 0 rows");
  EXPECT_NE(message([](Hdf5File& file) { file.write("/deaths/hash", Texts{}); }).find("count"),
            std::string::npos);
}

/// A file that claims so many edges, none of which it holds.
Hdf5File claimed_edges(const std::filesystem::path& path, hsize_t rows) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t chunk = 1000;
  const hid_t space = H5Screate_simple(1, &rows, nullptr);
  const hid_t layout = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_chunk(layout, 1, &chunk);
  H5Pset_create_intermediate_group(links, 1);
  for (const char* name : {"/edges/parent", "/edges/child"}) {
    H5Dclose(H5Dcreate2(file, name, H5T_NATIVE_INT64, space, links, layout, H5P_DEFAULT));
  }
  H5Pclose(links);
  H5Pclose(layout);
  H5Sclose(space);
  H5Fclose(file);
  return Hdf5File::open(path);
}

TEST(StoreSchema, MoreRowsThanAFileHoldsAreRefused) {
  const TemporaryFolder folder;
  const auto message = [&](hsize_t rows) {
    const Hdf5File file = claimed_edges(folder / "s.h5", rows);
    return message_of([&] { kStoredEdges.read(file, "s.h5"); }, Exit::kBadInput);
  };
  EXPECT_EQ(message(kMostRows + 1),
            "s.h5: /edges/parent: found 268435457 rows; allowed: 268435456 rows");
  EXPECT_NE(message(kMostRows).find("the file stores 0 bytes"), std::string::npos);
}

TEST(StoreSchema, AColumnThatCameLaterMayBeMissing) {
  constexpr auto write = [](const std::vector<Edge>&, Hdf5File&, const std::string&) {};
  constexpr auto read = [](std::vector<Edge>& rows, const Hdf5File&, const ColumnPlace&) {
    for (Edge& row : rows) row.child = 7;
  };
  const Column<Edge> columns[] = {kStoredEdges.columns[0], {"later", write, read, true}};
  const Table<Edge> table{"/edges", columns};
  Hdf5File file = Hdf5File::create_in_memory("s.h5");
  kStoredEdges.write(file, "s.h5", {{0, 1}, {0, 2}});
  EXPECT_EQ(table.read(file, "s.h5").at(1).child, 0);
  file.write("/edges/later", std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(table.read(file, "s.h5").at(1).child, 7);
}

}  // namespace
}  // namespace neutra::search::tests
