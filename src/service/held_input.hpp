// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Inputs that come through a pipe: "-", /dev/stdin, /dev/fd/63 of a process substitution. They are
/// read once, within a budget, and held as a file without a name, because logs are read more than
/// once. A FIFO by its name is none: nobody may be there to write to it.

#include <chrono>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace schedmate::service {

/// What is read of one pipe: so much, and so long.
struct HeldBudget {
  std::size_t bytes = std::size_t{1} << 29U;
  std::chrono::milliseconds time{60'000};
};

class HeldInput {
 public:
  /// A name that is no pipe stays as it is, whether there is such a file or not. Errors: invalid
  /// (standard input is a terminal or is closed), unavailable (no room to hold it).
  static Result<HeldInput> open(const std::string& name, const HeldBudget& budget = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  /// To be opened instead of the name, as long as this lives.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_held() const { return static_cast<bool>(file_); }
  /// What was left out, in a sentence; "" = nothing.
  [[nodiscard]] const std::string& note() const { return note_; }
  /// With the name in the place of the path.
  [[nodiscard]] std::string named(std::string text) const;

 private:
  std::string name_, path_, note_;
  Descriptor file_;
};

/// Several of them; a name that is there twice is held once.
class HeldInputs {
 public:
  /// Errors: as HeldInput::open.
  static Result<HeldInputs> open(const std::vector<std::string>& names);
  /// Holds another one, and gives its path. Errors: as HeldInput::open.
  Result<std::string> hold(const std::string& name);
  /// Of those that open() held, in their order.
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  [[nodiscard]] std::vector<std::string> notes() const;
  [[nodiscard]] std::string named(std::string text) const;

 private:
  std::vector<HeldInput> held_;
  std::vector<std::string> paths_;
};

/// A trace of the form FORMAT:-, held for as long as it is read. Errors speak of the name.
template <class Read>
auto read_held(const std::string& spec, const Read& read) -> decltype(read(spec)) {
  const auto colon = spec.find(':');
  const auto format = colon == std::string::npos ? "" : spec.substr(0, colon + 1);
  const auto held = HeldInput::open(spec.substr(format.size()));
  if (!held) return tl::unexpected(held.error());
  auto made = read(format + held->path());
  if (!made) return tl::unexpected(Error{made.error().code, held->named(made.error().message)});
  std::vector<std::string>* messages = nullptr;  // of rows that were left out
  if constexpr (requires { made->report.messages; })
    messages = &made->report.messages;
  else if constexpr (requires { made->messages; })
    messages = &made->messages;
  if (messages != nullptr)
    for (std::string& each : *messages) each = held->named(std::move(each));
  return made;
}

}  // namespace schedmate::service
