#pragma once

#include <string>
#include <string_view>

namespace neutra::source {

/// The cells of code of a notebook (nbformat 3 and 4), one after the other, each behind a line
/// `# %% cell N`. Throws input_error with `file` for what is no notebook.
std::string code_of_notebook(std::string_view document, const std::string& file);

}  // namespace neutra::source
