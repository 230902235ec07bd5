#pragma once

#include <string_view>

/// The page of a report (page/), compiled in by neutra_embed.
namespace neutra::report::embedded {

extern const std::string_view report_html;
extern const std::string_view report_css;
extern const std::string_view report_analysis_css;
extern const std::string_view report_model_js;
extern const std::string_view report_elements_js;
extern const std::string_view report_graph_js;
extern const std::string_view report_charts_js;
extern const std::string_view report_curves_js;
extern const std::string_view report_table_js;
extern const std::string_view report_csv_js;
extern const std::string_view report_outcomes_js;
extern const std::string_view report_course_js;
extern const std::string_view report_importance_js;
extern const std::string_view report_slices_js;
extern const std::string_view report_rejected_js;
extern const std::string_view report_patches_js;
extern const std::string_view report_scripts_js;
extern const std::string_view report_comparison_js;
extern const std::string_view report_analysis_js;
extern const std::string_view report_page_js;
extern const std::string_view report_tables;

}  // namespace neutra::report::embedded
