// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Messages of a probe with a proof of who speaks (docs/probe.md): an HMAC-SHA256 by a key that is
/// derived for one node from the site's secret, so that no node speaks for another. Pure functions;
/// any thread.

#include <cstdint>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate::probe {

/// What a probe says, with what makes it one of its kind.
struct Message {
  std::string node;
  std::int64_t time_s = 0;    ///< when it was sealed, by the node's clock, since 1970
  std::string session;        ///< of the daemon that it is for; "": not known yet
  std::uint64_t counter = 0;  ///< rises from message to message of a node
  std::string body;           ///< a report (report.hpp)
  bool operator==(const Message&) const = default;
};

struct SealedMessage {
  Message message;
  std::string proof;  ///< 64 hexadecimal digits
};

/// The key of one node, as the file on that node holds it.
struct NodeKey {
  std::string node, key;
};

/// 1 to 253 letters, digits, '-', '.' and '_'.
[[nodiscard]] bool is_node_name(std::string_view name);

/// The least number of bytes of a site's secret.
inline constexpr std::size_t least_secret = 32;

[[nodiscard]] NodeKey derive_key(std::string_view secret, std::string_view node);
/// One line for the file of that node, and back. Errors: invalid.
[[nodiscard]] std::string key_line(const NodeKey& key);
[[nodiscard]] Result<NodeKey> read_key_line(std::string_view text);

/// As JSON (schedmate.probe.v1).
[[nodiscard]] std::string sealed(const Message& message, std::string_view key);
/// Nothing in it is proved yet. Errors: invalid.
[[nodiscard]] Result<SealedMessage> read_sealed(std::string_view text);
/// In a time that does not tell where proofs differ.
[[nodiscard]] bool is_proved(const SealedMessage& sealed, std::string_view key);

}  // namespace schedmate::probe
