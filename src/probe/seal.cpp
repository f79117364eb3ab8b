// SPDX-License-Identifier: Apache-2.0
#include "probe/seal.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "base/characters.hpp"
#include "base/hmac.hpp"
#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"

namespace schedmate::probe {
namespace {

constexpr std::string_view message_schema = "schedmate.probe.v1";
constexpr std::string_view key_head = "schedmate-probe-key";
constexpr std::size_t proof_digits = 64, longest_session = 64;

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

/// Nothing before the body can hold a line end, so that no two messages give one text.
std::string proof_of(const Message& message, std::string_view key) {
  return hmac_sha256(
      key, fmt::format("{}\n{}\n{}\n{}\n{}\n{}", message_schema, message.node, message.time_s,
                       message.session, message.counter, message.body));
}

template <class Value>
Result<Value> field(const Document& document, const char* name) {
  const Document& found = part(document, name);
  if constexpr (std::is_same_v<Value, std::string>) {
    if (found.is_string()) return found.get<std::string>();
  } else {
    if (const auto number = whole_number(found); number && std::in_range<Value>(*number))
      return static_cast<Value>(*number);
  }
  return fail(ErrorCode::invalid, fmt::format("\"{}\" is absent or of no such kind", name));
}

}  // namespace

bool is_node_name(std::string_view name) {
  constexpr std::size_t longest = 253;
  return !name.empty() && name.size() <= longest && std::ranges::all_of(name, [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
  });
}

NodeKey derive_key(std::string_view secret, std::string_view node) {
  return {std::string(node), hmac_sha256(secret, fmt::format("{} {}", key_head, node))};
}

std::string key_line(const NodeKey& key) {
  return fmt::format("{} {} {}\n", key_head, key.node, key.key);
}

Result<NodeKey> read_key_line(std::string_view text) {
  const auto words = split(trim(text), ' ');
  if (words.size() != 3 || words[0] != key_head || !is_node_name(words[1]) ||
      words[2].size() != proof_digits || !is_hex(words[2]))
    return fail(ErrorCode::invalid,
                "no key of a node (schedmate probe --derive-key NODE writes one)");
  return NodeKey{std::string(words[1]), std::string(words[2])};
}

std::string sealed(const Message& message, std::string_view key) {
  const Document document{{"schema", message_schema},       {"node", message.node},
                          {"time_s", message.time_s},       {"session", message.session},
                          {"counter", message.counter},     {"body", message.body},
                          {"proof", proof_of(message, key)}};
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

Result<SealedMessage> read_sealed(std::string_view text) {
  constexpr JsonBounds bounds{.deepest = 1, .most_values = 8};
  const auto document = read_json(text, bounds);
  if (!document) return tl::unexpected(document.error());
  if (!document->is_object()) return fail(ErrorCode::invalid, "no JSON object");
  const auto schema = field<std::string>(*document, "schema");
  if (!schema || *schema != message_schema)
    return fail(ErrorCode::invalid, fmt::format("no {} message", message_schema));
  const auto node = field<std::string>(*document, "node");
  const auto time_s = field<std::int64_t>(*document, "time_s");
  const auto session = field<std::string>(*document, "session");
  const auto counter = field<std::uint64_t>(*document, "counter");
  const auto body = field<std::string>(*document, "body");
  const auto proof = field<std::string>(*document, "proof");
  for (const Result<std::string>* const each : {&node, &session, &body, &proof})
    if (!*each) return tl::unexpected(each->error());
  if (!time_s || !counter) return tl::unexpected(!time_s ? time_s.error() : counter.error());
  if (!is_node_name(*node)) return fail(ErrorCode::invalid, "\"node\" is no name of a node");
  if (session->size() > longest_session || !is_hex(*session))
    return fail(ErrorCode::invalid, "\"session\" is no name of a session");
  return SealedMessage{{*node, *time_s, *session, *counter, *body}, *proof};
}

bool is_proved(const SealedMessage& sealed, std::string_view key) {
  const std::string proof = proof_of(sealed.message, key);
  return proof.size() == sealed.proof.size() &&
         CRYPTO_memcmp(proof.data(), sealed.proof.data(), proof.size()) == 0;
}

}  // namespace schedmate::probe
