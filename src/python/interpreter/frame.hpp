// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where execution stands.

#include "python/objects/objects.hpp"

namespace schedmate::python {

enum class Flow : std::uint8_t {
  next,
  leave_loop,
  next_round,
  give_back,
  raise,
  exit,
  over_budget,  ///< ends the function whose budget it was
};

/// A running function, module or class body.
struct Frame {
  ScopePtr scope;
  Function* function = nullptr;
  Class* building = nullptr;  ///< whose body runs
  std::string name;           ///< of the function, "" = top level
  std::string class_name;     ///< that it stands in
  Value self;                 ///< first argument of a method
  Value returned = Value::none();
  std::optional<Value> maybe_returned;  ///< by undecided branches before
  List yielded;
  bool endless = false;     ///< yields inside a loop that was not unrolled
  std::size_t guarded = 0;  ///< `try` statements around it when it began
};

/// What a call's function was written as.
struct Callee {
  Value self;      ///< the object of a method
  Value function;  ///< what is called, unknown for methods of plain data
  std::string name;
};
struct TextParts;
struct BranchResult;
using Action = std::function<void()>;
/// Which way of an undecided `if` is the usual one, because the other ends in an error.
enum class CertainBranch : std::uint8_t { neither, first, second };

}  // namespace schedmate::python
