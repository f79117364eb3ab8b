// SPDX-License-Identifier: Apache-2.0
/// The contract for programs: each row of the table, with schemas that are there.
#include "http/openapi.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/input.hpp"
#include "http/routes.hpp"

namespace schedmate::http {
namespace {

/// Each "$ref" in the document names a part of it.
void check_references(const Document& part) {
  if (!part.is_structured()) return;
  if (part.is_object() && part.contains("$ref")) {
    const std::string target = part.at("$ref").get<std::string>().substr(1);
    CHECK_MESSAGE(openapi_document().contains(Document::json_pointer(target)), target);
  }
  for (const Document& each : part) check_references(each);
}

}  // namespace

TEST_CASE("the document has each row of the table, and each schema that it names") {
  const Document& document = openapi_document();
  for (const Route& row : routes()) {
    INFO(std::string(row.word));
    const auto& operation = document.at("paths")
                                .at(std::string(row.path))
                                .at(row.method == Method::get ? "get" : "post");
    CHECK(operation.at("operationId") == row.word);
    CHECK(operation.contains("requestBody") == (row.largest_body > 0));
    CHECK(operation.contains("security") == (row.who == Who::anyone || row.who == Who::sealed));
  }
  check_references(document);
}

TEST_CASE("docs/api/openapi.json is that document") {
  const auto text = read_file(SCHEDMATE_SOURCE_DIR "/docs/api/openapi.json");
  const bool is_fresh = text && *text == openapi_text();
  if (!is_fresh) std::ofstream("openapi.json") << openapi_text();
  CHECK_MESSAGE(is_fresh, "stale: copy openapi.json from where this test runs to docs/api");
}

}  // namespace schedmate::http
