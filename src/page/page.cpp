// SPDX-License-Identifier: Apache-2.0
#include "page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <schedmate/result.hpp>

#include "base/input.hpp"
#include "http/routes.hpp"

namespace schedmate::embedded {
extern const std::string_view page_index_html, page_page_css, page_uplot_css, page_uplot_js,
    page_main_js, page_dom_js, page_words_js, page_api_js, page_store_js, page_plot_js,
    page_cluster_js, page_jobs_js, page_job_js, page_job_parts_js, page_actions_js, page_ledger_js;
}  // namespace schedmate::embedded

namespace schedmate::page {
namespace {

constexpr std::string_view html = "text/html", css = "text/css", script = "text/javascript";
constexpr std::uint64_t largest_file = 1U << 20U;

Result<std::string> text_of(const File& file, const std::string& folder) {
  if (folder.empty()) return std::string(file.text);
  return read_file(fmt::format("{}/{}", folder, file.name), largest_file);
}

}  // namespace

std::span<const File> files() {
  static const std::array all{
      File{"index.html", html, embedded::page_index_html},
      File{"page.css", css, embedded::page_page_css},
      File{"uplot.css", css, embedded::page_uplot_css},
      File{"uplot.js", script, embedded::page_uplot_js},
      File{"main.js", script, embedded::page_main_js},
      File{"dom.js", script, embedded::page_dom_js},
      File{"words.js", script, embedded::page_words_js},
      File{"api.js", script, embedded::page_api_js},
      File{"store.js", script, embedded::page_store_js},
      File{"plot.js", script, embedded::page_plot_js},
      File{"cluster.js", script, embedded::page_cluster_js},
      File{"jobs.js", script, embedded::page_jobs_js},
      File{"job.js", script, embedded::page_job_js},
      File{"job_parts.js", script, embedded::page_job_parts_js},
      File{"actions.js", script, embedded::page_actions_js},
      File{"ledger.js", script, embedded::page_ledger_js},
  };
  return all;
}

std::optional<http::Reply> reply_to(const http::Request& request, const std::string& folder) {
  const bool is_page = request.route->name == http::RouteName::page;
  if (!is_page && request.route->name != http::RouteName::page_file) return std::nullopt;
  const std::string name = is_page ? "index.html" : request.ids.at(0);
  const auto all = files();
  const auto found = std::ranges::find(all, name, &File::name);
  if (found == all.end())
    return http::error_reply(
        Error{ErrorCode::not_found, fmt::format("the page has no file '{}'", name)});
  auto text = text_of(*found, folder);
  if (!text) return http::error_reply(text.error());
  return http::text_reply(std::move(*text), std::string(found->type));
}

}  // namespace schedmate::page
