#pragma once

#include <string_view>

/// The pages of `neutra serve` (page/), compiled in by neutra_embed.
namespace neutra::serve::embedded {

extern const std::string_view serve_html;
extern const std::string_view serve_css;
extern const std::string_view serve_parts_js;
extern const std::string_view serve_searches_js;
extern const std::string_view serve_benchmark_js;
extern const std::string_view serve_entry_js;
extern const std::string_view serve_site_js;

}  // namespace neutra::serve::embedded
