#pragma once

#include "base/json.h"
#include "training/data/data_places.h"
#include "training/data/table.h"

namespace neutra::training {

/// Reads `data.source` with `data.arguments`. Throws input_error: unknown source, missing file
/// (what is expected where and how to get it), malformed content.
RawData read_source(const Json& data, const SearchPath& search_path,
                    Reading reading = Reading::kAll);

}  // namespace neutra::training
