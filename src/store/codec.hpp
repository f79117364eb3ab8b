// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The parts of a record that are kept as JSON text, and the names that stand in a store. Reading
/// accepts what writing made; anything else is a damaged store (Error invalid).

#include <map>
#include <schedmate/job_record.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::store {

using Fields = std::map<std::string, std::string, std::less<>>;

[[nodiscard]] std::string fields_to_json(const Fields& fields);
[[nodiscard]] Result<Fields> fields_from_json(std::string_view text);

[[nodiscard]] std::string advice_to_json(const GivenAdvice& advice);
[[nodiscard]] Result<GivenAdvice> advice_from_json(std::string_view text);

/// [[seconds, step, loss or null], ...]
[[nodiscard]] std::string progress_to_json(const std::vector<ProgressPoint>& points);
[[nodiscard]] Result<std::vector<ProgressPoint>> progress_from_json(std::string_view text);

/// What JobRecord has from the scheduler: name, account, ..., memory; "" when nothing is known.
[[nodiscard]] std::string request_to_json(const JobRecord& record);
[[nodiscard]] Result<void> request_from_json(std::string_view text, JobRecord& record);

/// CPU time, memory, energy, use of each node, and attempts; "" when nothing is known.
[[nodiscard]] std::string use_to_json(const Outcome& outcome);
[[nodiscard]] Result<void> use_from_json(std::string_view text, Outcome& outcome);

/// Little-endian floats.
[[nodiscard]] std::string_view bytes_of_floats(const std::vector<float>& values);
[[nodiscard]] std::vector<float> floats_of_bytes(std::string_view bytes);

}  // namespace schedmate::store
