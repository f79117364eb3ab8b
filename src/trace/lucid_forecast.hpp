// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The arrival forecast of the Lucid simulator, throughput_pred.csv.

#include <schedmate/job.hpp>
#include <schedmate/result.hpp>

namespace schedmate::trace {

/// 2020-04-01 00:00:00, the zero of the Lucid simulator's clock, in Unix time.
inline constexpr std::int64_t lucid_epoch_s = 1'585'699'200;

/// Columns time, pred_gpu_job, pred_gpu_num. Errors: invalid with file and line for the first bad
/// row, and when the rows are not evenly spaced.
Result<ForecastTable> parse_lucid_forecast(std::string_view text, const std::string& name);

}  // namespace schedmate::trace
