#pragma once

#include <string_view>

/// The page of a report (page/), compiled in by neutra_embed.
namespace neutra::embedded {

extern const std::string_view report_html;
extern const std::string_view report_css;
extern const std::string_view report_model_js;
extern const std::string_view report_elements_js;
extern const std::string_view report_graph_js;
extern const std::string_view report_charts_js;
extern const std::string_view report_curves_js;
extern const std::string_view report_table_js;
extern const std::string_view report_page_js;

}  // namespace neutra::embedded
