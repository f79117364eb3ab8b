// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Reservations of Slurm that keep jobs off nodes: those in which nodes are tested, whose names say
/// which test, and the one of spare nodes.

#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate::slurm_live {

struct KeptNodes {
  std::string name;  ///< of the reservation
  std::vector<std::string> nodes;
};

/// Of `scontrol show reservation`. Errors: unavailable (it says what went wrong), invalid.
[[nodiscard]] Result<std::vector<KeptNodes>> read_reservations(std::string_view scontrol);

/// A test, by the marks of its action and of the drain of its node, which it may return: "" where
/// the node serves.
struct TestName {
  std::string token, drain{};
};
/// "schedmate_INSTANCE_ACTION", "schedmate_INSTANCE_ACTION-DRAIN"; "" where the token is no mark,
/// or the drain's is another instance's.
[[nodiscard]] std::string reservation_of(const TestName& test);
/// The other way; nothing for any other name.
[[nodiscard]] std::optional<TestName> test_of(std::string_view reservation);

}  // namespace schedmate::slurm_live
