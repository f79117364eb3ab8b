// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/random.hpp"
#include "llm/exchange.hpp"

namespace schedmate::llm {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds first_wait{500};
constexpr milliseconds longest_wait{20'000};

/// Half of the wait is fixed, half is drawn, so that many clients do not come back at once.
milliseconds wait_before(std::int64_t attempt, double drawn) {
  const milliseconds full =
      std::min(first_wait * (1 << std::min<std::int64_t>(attempt, 6)), longest_wait);
  return full / 2 +
         milliseconds(static_cast<std::int64_t>(drawn * static_cast<double>((full / 2).count())));
}

class Retries {
 public:
  Retries(Exchange exchange, const ChatSettings& settings, const ChatServices& services)
      : exchange_(std::move(exchange)),
        attempts_(std::max<std::int64_t>(settings.attempts, 1)),
        deadline_(settings.deadline),
        clock_(services.clock),
        meter_(services.meter),
        seed_(services.seed) {}

  Result<ChatReply> operator()(const ChatRequest& request) const {
    const milliseconds patience = request.patience > milliseconds(0) ? request.patience : deadline_;
    const auto end = clock_.now() + patience;
    Random random(mix(seed_ ^ std::hash<std::string>{}(request.system)));
    Error last{ErrorCode::timeout, "no time left for a single try"};
    for (std::int64_t attempt = 0; attempt < attempts_; ++attempt) {
      ChatRequest now = request;
      now.patience = std::chrono::duration_cast<milliseconds>(end - clock_.now());
      if (now.patience <= milliseconds(0)) break;
      if (meter_) meter_->attempt(attempt > 0);
      auto reply = exchange_(now);
      if (reply) return *std::move(reply);
      last = std::move(reply.error().error);
      if (!reply.error().again) break;
      const milliseconds wait = std::max(reply.error().wait.value_or(milliseconds(0)),
                                         wait_before(attempt, random.uniform()));
      if (attempt + 1 == attempts_ || clock_.now() + wait >= end) break;
      clock_.sleep(wait);
    }
    return tl::unexpected(std::move(last));
  }

 private:
  Exchange exchange_;
  std::int64_t attempts_;
  milliseconds deadline_;
  Clock clock_;
  std::shared_ptr<ChatMeter> meter_;
  std::uint64_t seed_;
};

}  // namespace

Chat with_retries(Exchange exchange, const ChatSettings& settings, const ChatServices& services) {
  return Retries(std::move(exchange), settings, services);
}

}  // namespace schedmate::llm
