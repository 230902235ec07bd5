#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "cli/arguments.h"

namespace neutra::cli {

/// What a verb has found out: a document, which is written in the form that is asked for.
struct Result {
  /// The document in a form of --format: "text", "json", "csv", ... Empty: there is nothing to say.
  std::function<std::string(const std::string& form)> write;
  Exit exit = Exit::kDone;  ///< the exit code of the process
  std::string notes = {};   ///< whole lines for standard error, after the document
  std::string output = {};  ///< the file that it goes to; "": standard output
};

/// The result of a document. The source file that declares the document defines `Json json_of(const
/// Document&)` and `std::string text_of(const Document&)`; where there are other forms, it has
/// `std::string form_of(const Document&, const std::string& form)` instead.
template <typename Document>
Result result_of(Document document, Exit exit = Exit::kDone) {
  const auto kept = std::make_shared<const Document>(std::move(document));
  return {[kept](const std::string& form) -> std::string {
            if constexpr (requires { form_of(*kept, form); }) {
              return form_of(*kept, form);
            } else {
              return form == "json" ? neutra::to_text(json_of(*kept)) : text_of(*kept);
            }
          },
          exit};
}

/// The same for the file of --output, where that is given. Call require_output() first.
template <typename Document>
Result output_of(Document document, const Arguments& arguments, Exit exit = Exit::kDone) {
  Result result = result_of(std::move(document), exit);
  if (arguments.has("output")) result.output = arguments.text("output");
  return result;
}

/// Writes a result in the form that --json or --format asks for.
void write_result(const Result& result, const Arguments& arguments);

}  // namespace neutra::cli
