#pragma once

#include <string>
#include <vector>

#include "experiments/network_file.h"

namespace neutra::report {

/// A search beside others.
struct ComparedSearch {
  const experiments::NetworkFile* search = nullptr;
  std::string file;  ///< that it was read from
};

/// `compared` of a report (docs/formats/report.md): searches of one buggy program beside each
/// other, the report's own first. Throws input_error where one is of another program or has another
/// metric.
Json comparison_json(const std::vector<ComparedSearch>& searches);

}  // namespace neutra::report
