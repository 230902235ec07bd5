// Any bytes as a CSV file, with and without the options that change how it is read. What is read
// has as many rows of features as of targets.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "training/data/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace neutra;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  training::CsvOptions tolerant;
  tolerant.header = true;
  tolerant.delimiter = ';';
  tolerant.target = {0};
  tolerant.labels = {{"s", 0}, {"b", 1}};
  tolerant.allow_nan = true;
  tolerant.rows = 3;
  for (const training::CsvOptions& options : {training::CsvOptions{}, tolerant}) {
    try {
      const training::Part part = training::parse_csv(text, options, "input");
      if (part.x.rows() != part.y.rows()) std::abort();
    } catch (const Error&) {
    }
  }
  return 0;
}
