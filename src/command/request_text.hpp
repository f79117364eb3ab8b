// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Values of Slurm's options. Each gives nothing for a text that Slurm would refuse.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace schedmate::command {

/// Sets of GPUs by type; "" stands for any.
using GpuSets = std::map<std::string, std::int64_t>;

/// "gpu:a100:4", "gpu:2", "gpu" of --gres (other resources are left out); "a100:4" and "4" of
/// --gpus. Of the same type the last one counts.
[[nodiscard]] std::optional<GpuSets> gpus_in(std::string_view text, bool is_gres);
/// Hosts of "n1,n[3-5,7]".
[[nodiscard]] std::optional<std::int64_t> hosts_in(std::string_view text);
/// "10G" -> 10240; without a letter in MiB.
[[nodiscard]] std::optional<std::int64_t> mebibytes(std::string_view text);
/// Tasks of "0-9", "1,3,5", "0-15:4", "0-9%2".
[[nodiscard]] std::optional<std::int64_t> array_size(std::string_view text);

}  // namespace schedmate::command
