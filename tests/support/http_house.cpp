// SPDX-License-Identifier: Apache-2.0
#include "tests/support/http_house.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/sha256.hpp"

namespace schedmate::testing {

Document answered(const std::string& reply) {
  if (status_of(reply) != 200) throw std::runtime_error("not 200: " + reply);
  return Document::parse(body_of(reply));
}

void HttpHouse::handle(http::Request request, http::Answer answer) {
  using http::RouteName;
  const std::string_view owner = request.ids.empty()     ? "none"
                                 : request.ids[0] == "7" ? "ann"
                                 : request.ids[0] == "8" ? "bob"
                                                         : "me";
  const bool names_job = request.route->path.contains("/jobs/{ID}");
  if (names_job && !request.caller.may_see_jobs_of(owner)) {
    answer(http::error_reply(Error{ErrorCode::not_found, "no such job"}));
  } else if (request.route->name == RouteName::events) {
    answer({.events = log});
  } else if (request.query.contains("tail") && request.query["tail"] == "never") {
    kept_.push_back(std::move(answer));
    ++held_;
  } else if (request.query.contains("tail") && request.query["tail"] == "dropped") {
    const http::Answer last = std::move(answer);
  } else {
    Document document{{"schema", request.route->schema}, {"route", request.route->word},
                      {"user", request.caller.user},     {"by", request.by},
                      {"query", request.query},          {"body", sha256(request.body)},
                      {"read", request.json != nullptr}};
    answer(http::json_reply(document));
  }
}

}  // namespace schedmate::testing
