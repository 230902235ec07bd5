#include "training/data/hdf5.h"

#include "base/error.h"
#include "base/hdf5_file.h"
#include "base/numbers.h"
#include "program/program.h"
#include "training/data/fields.h"
#include "training/data/raw_data.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;

std::vector<std::int64_t> table_extents(const fs::path& file, const std::string& dataset,
                                        const std::vector<std::uint64_t>& extents) {
  const auto fail = [&](const std::string& found, const std::string& allowed) {
    throw input_error(describe(file.string(), dataset, found, allowed));
  };
  if (extents.empty()) fail("a scalar", "an array of rows");
  double elements = 1;
  for (const std::uint64_t n : extents) {
    if (n == 0) fail("an extent of 0", "1 or more");
    elements *= static_cast<double>(n);
  }
  if (elements > kMaxNumbers) {
    fail(shortest(elements) + " elements", "up to " + shortest(kMaxNumbers));
  }
  return {extents.begin(), extents.end()};
}

}  // namespace

RawData read_hdf5_source(const Json& arguments, const SearchPath& search_path, Reading reading) {
  check_fields(arguments, "data.arguments",
               {{"file", FieldRule::kText},
                {"allow_nan", FieldRule::kFlag},
                {"sample_weight", FieldRule::kFlag}});
  const fs::path path = find_file({text_argument(arguments, "file", "hdf5")}, search_path);
  const Hdf5File file = Hdf5File::open(path);
  return read_arrays(
      path.string(), "dataset", [&](const std::string& name) { return file.has("/" + name); },
      [&](const std::string& name, Reading what) {
        const std::string dataset = "/" + name;
        Table table{table_extents(path, dataset, file.extents(dataset)), {}};
        if (what == Reading::kHeader) return table;
        table.values = file.read_doubles(dataset);
        if (!is_weights(name)) require_finite(table, path.string() + ": " + dataset, arguments);
        return table;
      },
      reading, program::has_sample_weights({{"arguments", arguments}}));
}

}  // namespace neutra::training
