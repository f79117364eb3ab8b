// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.hpp"
#include "base/json_reader.hpp"
#include "base/words.hpp"
#include "http/guard.hpp"
#include "http/head.hpp"
#include "http/routes.hpp"
#include "http/target.hpp"
#include "http/tokens.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {
namespace {

using http::Head;

void check_admission(const Head& head, const http::Peer& peer) {
  const http::AccessRules rules;
  const auto verdict = http::admit(head, peer, {rules, {}});
  const auto* const admitted = std::get_if<http::Admitted>(&verdict);
  if (admitted == nullptr) return;
  const auto& request = admitted->request;
  SCHEDMATE_CHECK(request.route != nullptr, "a row admits");
  SCHEDMATE_CHECK(admitted->body_bytes <= request.route->largest_body, "its limit holds");
  SCHEDMATE_CHECK(request.caller.user == peer.user, "no header names the caller");
  SCHEDMATE_CHECK(http::may_use(request.route->who, peer.is_unix, request.caller.role),
                  "nobody gets in where a caller must be known");
  for (const auto& [name, value] : request.query)
    SCHEDMATE_CHECK(is_printable(name) && is_printable(value), "a query is plain text");
  for (const auto& [name, value] : request.headers)
    SCHEDMATE_CHECK(is_printable(value), "so are headers");
}

void check_head(std::string_view input) {
  const auto read = http::read_head(input, {});
  const auto* const head = std::get_if<Head>(&read);
  if (head == nullptr) return;
  SCHEDMATE_CHECK(input.substr(0, head->size).ends_with("\r\n\r\n"), "a head ends there");
  SCHEDMATE_CHECK(input.find("\r\n\r\n") + 4 == head->size, "and nowhere before");
  SCHEDMATE_CHECK(std::holds_alternative<http::Incomplete>(
                      http::read_head(input.substr(0, head->size - 1), {})),
                  "a part of a good head is no error");
  SCHEDMATE_CHECK(!head->has("transfer-encoding"), "one way to give a length");
  check_admission(*head, {.is_unix = true, .user = "me", .address = "uid 1"});
  check_admission(*head, {.is_unix = false, .user = "", .address = "10.1.2.3"});
}

void check_target(std::string_view input) {
  const auto target = http::read_target(input);
  if (!target) return;
  for (const auto& part : target->parts) {
    SCHEDMATE_CHECK(is_printable(part), "a path is plain text");
    SCHEDMATE_CHECK(part != ".." && part != "." && !part.contains('/'), "and no way up");
  }
}

void check_tokens(std::string_view input) {
  const auto tokens = http::read_tokens(input);
  if (!tokens) return;
  const std::string text = http::write_tokens(*tokens);
  const auto again = http::read_tokens(text);
  SCHEDMATE_CHECK(again && http::write_tokens(*again) == text, "a file of tokens reads as written");
}

}  // namespace

void fuzz_http(std::string_view input) {
  check_head(input);
  check_target(input);
  check_tokens(input);
  static_cast<void>(read_json(input, {.deepest = 16}));
  // The lines of a table of requests, too, each as if it were sent.
  std::string line;
  for (std::size_t at = 0; at < input.size(); ++at) {
    const bool is_escape = input[at] == '\\' && at + 1 < input.size();
    if (input[at] == '\n' || at + 1 == input.size()) {
      const std::size_t begin = line.rfind(" | ");
      const std::string bytes = begin == std::string::npos ? line : line.substr(begin + 3);
      check_head(bytes);
      check_target(bytes);
      line.clear();
    } else if (is_escape && (input[at + 1] == 'r' || input[at + 1] == 'n')) {
      line += input[++at] == 'r' ? '\r' : '\n';
    } else {
      line += input[at];
    }
  }
}

}  // namespace schedmate::fuzz
