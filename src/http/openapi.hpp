// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The contract of the API for programs: routes.def with src/http/schemas.json as an OpenAPI 3.1
/// document. The same text at each call, by any thread.

#include <string>

#include "base/document.hpp"

namespace schedmate::http {

[[nodiscard]] const Document& openapi_document();
/// Indented; docs/api/openapi.json is this.
[[nodiscard]] const std::string& openapi_text();

}  // namespace schedmate::http
