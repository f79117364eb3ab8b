// SPDX-License-Identifier: Apache-2.0
#include "probe/gate.hpp"

#include <fmt/format.h>

#include <utility>

namespace schedmate::probe {
namespace {

tl::unexpected<Refusal> refuse(Verdict verdict, std::string message, std::string mend) {
  return tl::unexpected(Refusal{verdict, std::move(message), std::move(mend)});
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, verdicts> names = {
      "taken", "malformed", "unproved", "late", "replayed", "unknown", "too_many"};
  return names.at(static_cast<std::size_t>(verdict));
}

Gate::Gate(std::string secret, std::string session)
    : secret_(std::move(secret)), session_(std::move(session)) {}

Admitted<Message> Gate::check(std::string_view text, std::int64_t now_s) const {
  auto read = read_sealed(text);
  if (!read)
    return refuse(Verdict::malformed, "no message of a probe: " + read.error().message,
                  "only schedmate probe writes them");
  const std::string& node = read->message.node;
  if (!is_open() || !is_proved(*read, derive_key(secret_, node).key))
    return refuse(
        Verdict::unproved, fmt::format("the message does not prove that {} sent it", node),
        fmt::format("make the key of {} anew: schedmate probe --derive-key {}", node, node));
  const std::int64_t time_s = read->message.time_s;
  // Compared without a difference: a hostile time may be as far away as can be.
  if (time_s < now_s - window_s || time_s > now_s + window_s)
    return refuse(Verdict::late,
                  fmt::format("{} sealed it at {} s, and here it is {} s", node, time_s, now_s),
                  "set the clocks of both machines (chronyc tracking)");
  return std::move(read->message);
}

Admitted<void> Gate::admit(const Message& message, std::int64_t now_s) {
  constexpr std::string_view again = "seal it again with the session and counter of this answer";
  if (message.session != session_)
    return refuse(Verdict::replayed, "it is for another run of the daemon", std::string(again));
  if (message.counter <= last_counter(message.node))
    return refuse(Verdict::replayed,
                  fmt::format("message {} of {} was there before", message.counter, message.node),
                  std::string(again));
  Node& node = nodes_[message.node];
  if (std::exchange(node.minute, now_s / 60) != now_s / 60) node.messages = 0;
  if (node.messages >= most_in_a_minute)
    return refuse(Verdict::too_many, fmt::format("{} speaks too often", message.node),
                  "run one probe a node");
  ++node.messages;
  node.counter = message.counter;
  return {};
}

std::uint64_t Gate::last_counter(std::string_view node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? 0 : found->second.counter;
}

}  // namespace schedmate::probe
