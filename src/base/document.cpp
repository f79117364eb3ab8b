// SPDX-License-Identifier: Apache-2.0
#include "base/document.hpp"

#include <nlohmann/json.hpp>

namespace schedmate {

std::string in_one_line(const Document& document) {
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

std::string indented(const Document& document) {
  return document.dump(2, ' ', false, Document::error_handler_t::replace);
}

}  // namespace schedmate
