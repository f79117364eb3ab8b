// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What stands in the fields of a trace: numbers, dates, run times, end states. Nothing here is
/// tied to one format. An empty optional means "not such a value".

#include <cstdint>
#include <optional>
#include <schedmate/job.hpp>
#include <string>
#include <string_view>

namespace schedmate::trace {

/// The longest run time that is believed: ten years of 365 days.
inline constexpr std::int64_t longest_run_s = 10LL * 365 * 86'400;
/// The latest submission that is believed, before or after the clock's zero: about year 2223.
inline constexpr std::int64_t latest_submit_s = 8'000'000'000;
inline constexpr std::int64_t most_gpus = 1'000'000;

/// "12", "-3", "12.0" (whole numbers that pandas wrote as floats).
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);

/// Seconds, a fraction is cut off: "12", "12.75".
[[nodiscard]] std::optional<std::int64_t> parse_seconds(std::string_view text);

/// "2020-09-01 00:10:00", "2020-09-01T00:10:00.5+08:00", "...Z"; without a zone as UTC. Seconds
/// since 1970.
[[nodiscard]] std::optional<std::int64_t> parse_date(std::string_view text);

/// Seconds or a date.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text);

/// Slurm's run times: "1-02:03:04", "02:03:04", "03:04.567", or plain seconds.
[[nodiscard]] std::optional<std::int64_t> parse_elapsed(std::string_view text);

/// The same with fractions, of CPU time: "12:03.456".
[[nodiscard]] std::optional<double> parse_cpu_time(std::string_view text);

/// Memory as Slurm prints it, "4G", "1536K", "16000M"; a plain number is in `unit_mib`. In MiB.
[[nodiscard]] std::optional<double> parse_memory_mib(std::string_view text, double unit_mib);

/// The value of `name` in a resource list: "64G" for "mem" in "cpu=8,mem=64G"; "" = it has none.
[[nodiscard]] std::string_view tres_value(std::string_view text, std::string_view name);

/// True for what stands where nothing is known: "", "Unknown", "None", "null", "N/A", "nan".
[[nodiscard]] bool is_unknown(std::string_view text);

/// Helios, Slurm and Philly spellings; "CANCELLED by 1000" is `cancelled`.
[[nodiscard]] EndState parse_state(std::string_view text);

enum class RunState : std::uint8_t { ended, running, waiting };
/// Whether a Slurm state is one of a job that has not ended.
[[nodiscard]] RunState run_state(std::string_view state);

/// The next item of a Slurm resource list that names GPUs: what stands behind "gpu", and `text`
/// goes on to the item after it. ":a100=2" of "cpu=8,gres/gpu:a100=2", ":4" of "gpu:4(IDX:0-1,3)"
/// or "gres:gpu:4", "" of "gpu".
[[nodiscard]] std::optional<std::string_view> next_gpu_item(std::string_view& text);

/// The number at the end of such an item.
[[nodiscard]] std::optional<std::int64_t> count_of_gpu_item(std::string_view item);

/// Adds `type` to `types`, which are separated by commas, unless it is among them.
void add_gpu_type(std::string& types, std::string_view type);
/// The types in "gres/gpu:a100=4,gres/gpu=4", each once, in order, separated by commas.
[[nodiscard]] std::string gpu_types_of_tres(std::string_view text);

/// GPUs in a Slurm resource list: "cpu=8,gres/gpu=4,mem=64G", "gres/gpu:a100=2", "gpu:2". Nothing
/// when it names none.
[[nodiscard]] std::optional<std::int64_t> gpus_of_tres(std::string_view text);

}  // namespace schedmate::trace
