#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "search/network.h"
#include "search/space.h"

namespace neutra::search {

/// A repair among the other repairs of its network (docs/methods/search.md, "Small repairs").
struct RepairSize {
  const Node* node = nullptr;  ///< of the network: a node or a sub-patch
  int changes = 0;             ///< hyperparameters in which it differs from the buggy program
  /// No single change can be taken back; nullopt: not known.
  std::optional<bool> minimal;
  /// The smallest other repair all of whose changes it makes; nullptr: none is known.
  const Node* within = nullptr;
  std::int64_t folded = 0;  ///< repairs that are listed under it

  /// Listed under `within`, not by itself.
  bool is_folded() const { return within != nullptr && minimal != true; }
};

/// What a network says of programs: are they repairs? By parameter string, and by program where the
/// hashes of its nodes are known. Keeps references to both arguments but not to nodes.
class KnownPrograms {
 public:
  enum class Verdict { kUnknown, kNoRepair, kRepair };
  /// `space` gives the programs of parameters that are no node; nullptr: those are not known.
  KnownPrograms(const Network& network, const SearchSpace* space);
  /// A sub-patch that was found since.
  void add(const Node& node);
  /// Of any program of the space; one that can't be made is no repair.
  Verdict verdict(const program::Parameters& parameters);
  /// nullopt: not known, or no program.
  std::optional<Hash> hash(const program::Parameters& parameters);

 private:
  struct Entry {
    std::optional<Hash> hash;
    bool hashed = false;  ///< it was tried
    Verdict verdict = Verdict::kUnknown;
  };
  Entry& entry(const program::Parameters& parameters);
  Verdict verdict_of(const Node& node) const;

  const Network& network_;
  const SearchSpace* space_;
  std::map<std::string, Entry> by_string_;
  std::map<Hash, Verdict> by_hash_;
};

/// Is a program a repair that a network doesn't list: its buggy program, or under rule `recorded` a
/// child outside the top k?
bool reaches_unlisted(const Network& network, const Node& node);

/// The keys in which `parameters` differ from those of the buggy program.
std::vector<std::string> changed_keys(const program::Parameters& buggy,
                                      const program::Parameters& parameters);

/// `parameters` with one key as in the buggy program.
program::Parameters taken_back(const program::Parameters& buggy, program::Parameters parameters,
                               const std::string& key);

/// Every repair of a network, and those that minimising found, as they are listed: first those that
/// stand by themselves, 1-minimal ones before those of which it is not known and those that are
/// not, each by changes, metric, id; then those that are folded, likewise.
std::vector<RepairSize> repair_sizes(const Network& network, KnownPrograms& known);
/// The same with what the network alone says. `space`: as in KnownPrograms.
std::vector<RepairSize> repair_sizes(const Network& network, const SearchSpace* space);

/// How many repairs are 1-minimal, are not, and of how many it is not known.
struct RepairCounts {
  std::int64_t minimal = 0, not_minimal = 0, unknown = 0;
};
/// Over all repairs, folded or not.
RepairCounts count(const std::vector<RepairSize>& sizes);
/// `minimal`, `not_minimal`, `unknown`.
Json to_json(const RepairCounts& counts);

/// "12", or "m3" of a sub-patch.
std::string node_name(const Node& node);
/// The same for machines: a number, or a text.
Json node_id(const Node& node);

/// `minimal` (true, false, null), `changes` and `within` (id or null).
Json to_json(const RepairSize& size);

}  // namespace neutra::search
