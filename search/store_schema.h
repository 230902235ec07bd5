#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/hdf5_file.h"
#include "search/network.h"
#include "search/work.h"

namespace neutra::search {

// The tables of a store's HDF5 file. store_schema.cpp lists their columns, and nothing else does:
// files are written and read by that list, and tests compare docs/formats/store.md and the Python
// package with it. A new column is one row there, a name in docs/formats/store.md, and whatever
// fills the member.

/// A dataset that is read.
struct ColumnPlace {
  std::string file;             ///< name of the file, for messages
  std::string path;             ///< "/nodes/mean"
  const char* items = nullptr;  ///< as in Column
  /// Throws input_error with file and path.
  [[noreturn]] void fail(const std::string& found, const std::string& allowed) const;
};

/// One column: a member of each row, kept in one dataset as whole numbers, numbers or texts.
template <typename Row>
struct Column {
  const char* name;  ///< of the dataset in the table's group
  void (*write)(const std::vector<Row>& rows, Hdf5File& file, const std::string& path);
  /// Makes as many rows as the dataset has values, where there are fewer, and fills the member.
  /// Throws input_error for a value that the member can't have.
  void (*read)(std::vector<Row>& rows, const Hdf5File& file, const ColumnPlace& place);
  /// Added after version 1 began: files without it are read, and the member keeps its default.
  bool later = false;
  /// Where the member is a list: the dataset with the items of all rows, one list after the other.
  /// The column itself holds the lengths.
  const char* items = nullptr;
  void (*write_items)(const std::vector<Row>& rows, Hdf5File& file,
                      const std::string& path) = nullptr;
};

/// Rows of a table, at most: what a search keeps in some hundred gigabytes of memory.
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 28;

/// A group of the file with one dataset for each column, all of one length.
template <typename Row>
struct Table {
  const char* group;                     ///< "/nodes"
  std::span<const Column<Row>> columns;  ///< in the order in which they are written

  /// Makes the group and its datasets, in the order of the columns; items come last. `name`: of the
  /// file, for messages. Throws failure() for more than kMostRows.
  void write(Hdf5File& file, const std::string& name, const std::vector<Row>& rows) const;
  /// `name`: of the file, for messages. Throws input_error where a column is missing, has another
  /// length than the first or more than kMostRows, or holds what no program of this version writes.
  std::vector<Row> read(const Hdf5File& file, const std::string& name) const;
};

/// A row of /evaluations: one training that ended.
struct StoredEvaluation {
  EvaluationKey key;
  training::ReplicaResult result;
};
/// A row of /deaths: how many processes died while training a program.
struct StoredDeaths {
  Hash program;
  int count = 0;
};

extern const Table<StoredEvaluation> kStoredEvaluations;
extern const Table<StoredDeaths> kStoredDeaths;
extern const Table<Node> kStoredNodes;       ///< of the network, by id
extern const Table<Edge> kStoredEdges;       ///< of the network, in its order
extern const Table<Node> kStoredSubpatches;  ///< Network::subpatches; their ids are not stored

}  // namespace neutra::search
