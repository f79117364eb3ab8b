// SPDX-License-Identifier: Apache-2.0
#include "http/openapi.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.hpp"
#include "http/routes.hpp"

namespace schedmate::embedded {
extern const std::string_view schemas_json;
}

namespace schedmate::http {
namespace {

std::string_view word_of(Who who) {
  switch (who) {
    case Who::anyone:
      return "anyone";
    case Who::known:
      return "any known caller";
    case Who::owners:
      return "owners and operators";
    case Who::operators:
      return "operators";
    case Who::sealed:
      return "whoever has the proof in the message";
  }
  return "";
}

Document reference(std::string_view schema) {
  return {{"$ref", fmt::format("#/components/schemas/{}", schema)}};
}

/// `types`: with commas between.
Document content(std::string_view types, const Document& schema) {
  Document made;
  for (const std::string_view type : split(types, ','))
    made[std::string(trim(type))] = {{"schema", schema}};
  return made;
}

/// Words and names; their bounds are those of target.hpp.
Document query_parameter(const Route& row, std::string_view name) {
  const bool is_whole = name == "since" || name == "limit" || name == "tail";
  Document schema{{"type", is_whole ? "integer" : "string"}};
  if (is_whole) schema["format"] = "int64";
  if (is_whole && name != "since")
    schema["minimum"] = name == "limit" ? 1 : 0;
  else if (name == "cursor")
    schema["pattern"] = row.name == RouteName::actions
                            ? "^([1-9][0-9]{0,17})?$"
                            : "^(after:[^\\u0000-\\u001f\\u007f-\\u009f]*)?$";
  else if (name == "state")
    schema = reference(row.name == RouteName::jobs ? "job_state" : "action_state");
  else if (!is_whole)
    schema["pattern"] = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
  Document made{{"name", name}, {"in", "query"}, {"required", false}};
  if (name == "limit" && row.name == RouteName::actions)
    made["description"] = "of a page, which has at most 1000";
  made["schema"] = std::move(schema);
  return made;
}

Document parameters_of(const Route& row) {
  Document all = Document::array();
  if (row.path.contains("{ID}"))
    all.push_back(
        {{"name", "ID"},
         {"in", "path"},
         {"required", true},
         {"schema", {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.:+@\\[\\]~-]{1,128}$"}}}});
  for (const std::string_view name : split(row.query, ' '))
    if (!name.empty()) all.push_back(query_parameter(row, name));
  if (row.name == RouteName::submit)
    all.push_back({{"name", "Idempotency-Key"},
                   {"in", "header"},
                   {"required", false},
                   {"description", "who asks again with it gets the same job"},
                   {"schema", {{"type", "string"}, {"pattern", "^[A-Za-z0-9_.:-]{1,128}$"}}}});
  return all;
}

Document answer_of(const Route& row) {
  const bool is_json = row.schema.starts_with("schedmate.");
  return {{"description", row.gives},
          {"content", content(is_json ? "application/json" : row.schema,
                              is_json ? reference(row.schema) : Document{{"type", "string"}})}};
}

Document operation_of(const Route& row, const Document& schemas) {
  Document made{{"operationId", row.word},
                {"summary", row.gives},
                {"description", fmt::format("For {}.", word_of(row.who))}};
  made["parameters"] = parameters_of(row);
  if (row.largest_body > 0) {
    const std::string name = fmt::format("{}.request", row.word);
    const bool is_needed = schemas.contains(name) && schemas.at(name).contains("required");
    made["requestBody"] = {{"required", is_needed},
                           {"content", content("application/json", reference(name))}};
  }
  made["responses"]["200"] = answer_of(row);
  if (row.name == RouteName::submit || row.name == RouteName::cancel) {
    made["responses"]["202"] = answer_of(row);
    made["responses"]["200"]["description"] = "it was asked for before: the same action";
  }
  made["responses"]["default"] = {
      {"description", "an error"},
      {"content", content("application/json", reference("schedmate.error.v1"))}};
  if (row.who == Who::anyone || row.who == Who::sealed) made["security"] = Document::array();
  return made;
}

Document make_document() {
  const Document schemas = Document::parse(embedded::schemas_json);
  Document paths = Document::object();
  for (const Route& row : routes())
    paths[std::string(row.path)][row.method == Method::get ? "get" : "post"] =
        operation_of(row, schemas);
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "schedmated"},
            {"version", "1"},
            {"description",
             "On the unix socket a caller is known by his uid, on TCP by a token. Times are RFC "
             "3339 (UTC) beside seconds on the cluster's clock."},
            {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
          {"paths", std::move(paths)},
          {"components",
           {{"schemas", schemas},
            {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
          {"security", Document::array({{{"token", Document::array()}}})}};
}

}  // namespace

const Document& openapi_document() {
  static const Document document = make_document();
  return document;
}

const std::string& openapi_text() {
  static const std::string text = indented(openapi_document()) + "\n";
  return text;
}

}  // namespace schedmate::http
