// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/check.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/support/jobstats_comment.hpp"
#include "trace/jobstats_summary.hpp"

namespace schedmate::fuzz {
namespace {

bool is_sound(const std::optional<double>& number) {
  return !number || (std::isfinite(*number) && *number >= 0);
}

void check_gpu(const UsedGpu& gpu) {
  SCHEDMATE_CHECK(is_sound(gpu.util_pct) && gpu.util_pct.value_or(0) <= 100, "a share is one");
  SCHEDMATE_CHECK(is_sound(gpu.memory_mib) && is_sound(gpu.memory_total_mib), "so is memory");
}

void check_comment(std::string_view comment) {
  AccountedUse use;
  const std::string unread = trace::read_summary(comment, use);
  SCHEDMATE_CHECK(is_sound(use.memory_mib) && is_sound(use.gpu_memory_mib) &&
                      is_sound(use.gpu_memory_total_mib) && is_sound(use.gpu_util_pct),
                  "figures are figures");
  SCHEDMATE_CHECK(use.nodes.size() <= 1024, "nodes are few");
  if (unread.starts_with("not read"))
    SCHEDMATE_CHECK(use.nodes.empty() && !use.memory_mib && !use.gpu_util_pct,
                    "what was not read gives nothing");
  for (const UsedNode& node : use.nodes) {
    SCHEDMATE_CHECK(node.cpus >= 0 && is_sound(node.memory_mib), "a node's figures are, too");
    SCHEDMATE_CHECK(node.gpus.size() <= 64, "GPUs are few");
    std::ranges::for_each(node.gpus, check_gpu);
  }
}

}  // namespace

/// As the comment itself, and as what is packed into one.
void fuzz_jobstats(std::string_view input) {
  check_comment(input);
  check_comment(std::string("JS1:").append(input));
  check_comment("JS1:" + testing::as_base64(input));
  check_comment(testing::jobstats_comment(input));
}

}  // namespace schedmate::fuzz
