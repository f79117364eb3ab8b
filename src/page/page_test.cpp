// SPDX-License-Identifier: Apache-2.0
#include "page/page.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "base/output.hpp"
#include "http/routes.hpp"
#include "tests/support/scratch.hpp"

namespace schedmate::page {
namespace {

http::Request request_for(http::RouteName name, const std::string& file = "") {
  const auto row = std::ranges::find(http::routes(), name, &http::Route::name);
  http::Request request{.route = &*row};
  if (!file.empty()) request.ids = {file};
  return request;
}

std::string body_of(const std::optional<http::Reply>& reply) { return *reply.value().body; }

}  // namespace

TEST_CASE("the page and its files are small, and what the page names is there") {
  std::size_t bytes = 0;
  for (const File& file : files()) {
    CHECK_MESSAGE(!file.text.empty(), file.name);
    bytes += file.text.size();
    for (const std::string_view before : {"src=\"page/", "href=\"page/", "from \"./"})
      for (auto at = file.text.find(before); at != std::string_view::npos;
           at = file.text.find(before, at + 1)) {
        const auto begin = at + before.size();
        const auto name = file.text.substr(begin, file.text.find('"', begin) - begin);
        CHECK_MESSAGE(std::ranges::find(files(), name, &File::name) != files().end(), name);
      }
  }
  CHECK(bytes <= 300'000);
}

TEST_CASE("no file of ours makes elements of text, or runs it") {
  for (const File& file : files()) {
    if (file.name.starts_with("uplot")) continue;
    for (const std::string_view word :
         {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
          "DOMParser", "srcdoc", "localStorage", "document.cookie", "http://", "https://"}) {
      const bool is_name_of_svg =
          word == "http://" && (file.name == "dom.js" || file.name == "index.html");
      if (!is_name_of_svg) CHECK_MESSAGE(!file.text.contains(word), file.name << ": " << word);
    }
    CHECK_MESSAGE(!file.text.contains("<script>"), file.name);
  }
}

TEST_CASE("/ is the page, /page/NAME a file of it, and nothing else is answered") {
  CHECK(body_of(reply_to(request_for(http::RouteName::page), "")).contains("<!doctype html>"));
  const auto style = reply_to(request_for(http::RouteName::page_file, "page.css"), "");
  CHECK(style.value().content_type == "text/css; charset=utf-8");
  for (const char* absent : {"page", "..", "page.hpp", "index.html.gz", "PAGE.CSS"})
    CHECK(reply_to(request_for(http::RouteName::page_file, absent), "").value().status == 404);
  CHECK_FALSE(reply_to(request_for(http::RouteName::jobs), "").has_value());
}

TEST_CASE("with a folder, its files of these names are served as they stand, and no others") {
  const testing::Scratch folder;
  REQUIRE(write_file(folder.path("page.css"), "one"));
  REQUIRE(write_file(folder.path("other.css"), "never"));
  const auto css = request_for(http::RouteName::page_file, "page.css");
  CHECK(body_of(reply_to(css, folder.path(""))) == "one");
  REQUIRE(write_file(folder.path("page.css"), "two"));
  CHECK(body_of(reply_to(css, folder.path(""))) == "two");
  const auto other = request_for(http::RouteName::page_file, "other.css");
  CHECK(reply_to(other, folder.path("")).value().status == 404);
  const auto absent = reply_to(request_for(http::RouteName::page), folder.path(""));
  CHECK(absent.value().status == 400);
  CHECK(body_of(absent).contains("index.html"));
}

}  // namespace schedmate::page
