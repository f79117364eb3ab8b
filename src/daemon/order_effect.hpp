// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What orders would change that are wished for (live/ordering.hpp). Values.

#include <functional>
#include <schedmate/eta.hpp>
#include <schedmate/scheduler.hpp>
#include <vector>

#include "base/document.hpp"
#include "daemon/forecasts.hpp"

namespace schedmate::daemon {

/// The queue of `snapshot` once more, with the orders of `would_be`, of its jobs, and the same
/// draws, beside the forecast of it as it is. The orders of `snapshot` are the new ones afterwards.
struct TwoForecasts {
  QueueForecast ordered;
  OrderEffect effect;
};
[[nodiscard]] Result<TwoForecasts> forecast_ordered(
    QueueSnapshot& snapshot, const std::vector<live::Ordering::WouldBe>& would_be,
    const QueueForecast& as_it_is, const std::function<Result<QueueForecast>()>& forecast);

/// For the document of the cluster, "order_effect".
[[nodiscard]] Document order_effect_document(const OrderEffect& effect);

}  // namespace schedmate::daemon
