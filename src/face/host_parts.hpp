// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Policies and estimators of a host as the simulator takes them, and what else it is told.

#include <schedmate_policy.h>

#include <exception>
#include <optional>
#include <schedmate/report.hpp>
#include <string>
#include <string_view>

#include "face/sessions.hpp"
#include "settings/progress.hpp"
#include "study/own_parts.hpp"

namespace schedmate::face {

/// Ends a simulation from within a callback.
class HookFailure : public std::exception {
 public:
  explicit HookFailure(Error error) : message_(error.message), error_(std::move(error)) {}
  /// The callback of that name gave something else than 0.
  HookFailure(std::string_view callback, int code);
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
  /// What was impossible; nothing where the host itself wanted it to end.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  std::string message_;
  std::optional<Error> error_;
};

/// Why they cannot be called; null = they can.
[[nodiscard]] const char* fault_of(const schedmate_hooks& hooks);

/// `hooks` are without fault; what they point to outlives the parts. Errors: conflict for a name
/// that is a built-in one's, or another's.
[[nodiscard]] Result<study::OwnParts> parts_of(const schedmate_hooks& hooks, Sessions& sessions);

[[nodiscard]] settings::BeginProgress progress_of(const schedmate_hooks& hooks);
/// Throws HookFailure.
void tell(const schedmate_hooks& hooks, const RunRecord& record);

}  // namespace schedmate::face
