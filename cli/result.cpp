#include "cli/result.h"

#include <iostream>

#include "base/files.h"

namespace neutra::cli {

void write_result(const Result& result, const Arguments& arguments) {
  const std::string text = result.write ? result.write(chosen_format(arguments)) : "";
  if (result.output.empty()) {
    std::cout << text;
  } else {
    write_file_atomically(result.output, text);
  }
  std::cerr << result.notes;
}

}  // namespace neutra::cli
