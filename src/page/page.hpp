// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The page (docs/page.md): plain files that are built into the program and speak to the API from
/// the browser. Any thread.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/request.hpp"

namespace schedmate::page {

struct File {
  std::string_view name;  ///< "page.css", at /page/page.css; "index.html" is the page itself, at /
  std::string_view type;
  std::string_view text;
};
[[nodiscard]] std::span<const File> files();

/// The answer to a request for the page or one of its files; nothing for any other row. With a
/// folder, the files of these names are read from there each time (--ui-dir, for work on them);
/// "": what is built in.
[[nodiscard]] std::optional<http::Reply> reply_to(const http::Request& request,
                                                  const std::string& folder);

}  // namespace schedmate::page
