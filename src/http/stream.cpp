// SPDX-License-Identifier: Apache-2.0
#include "http/stream.hpp"

#include <algorithm>
#include <utility>

namespace schedmate::http {

Stream::Stream(Counters& counters, std::shared_ptr<Exchange> exchange,
               std::shared_ptr<EventLog> log)
    : counters_(counters), exchange_(std::move(exchange)), log_(std::move(log)) {
  ++counters_.listeners;
  const Request& request = exchange_->admitted().request;
  caller_ = request.caller;
  if (request.last_event_id) {
    after_ = *request.last_event_id;
  } else {
    after_ = log_->last_id();
    text_ = event_text({.full = true, .events = {}, .last = after_});
  }
}

void Stream::refill() {
  constexpr std::size_t most_bytes = 4096;
  const Delta delta = log_->since(after_, caller_, most_bytes);
  if (delta.full) ++counters_.lagged;
  after_ = delta.last;
  text_ = event_text(delta);
  at_ = 0;
  if (exchange_->take_heartbeat() && text_.empty()) text_ = ":\n\n";
}

std::optional<std::size_t> Stream::read(std::span<char> into) {
  if (exchange_->is_ended()) return std::nullopt;
  while (at_ == text_.size()) {
    refill();
    if (!text_.empty()) break;
    text_.shrink_to_fit();
    if (exchange_->rest()) return 0;
    if (exchange_->is_ended()) return std::nullopt;
  }
  const std::size_t size = std::min(into.size(), text_.size() - at_);
  std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), size, into.begin());
  at_ += size;
  return size;
}

}  // namespace schedmate::http
