// SPDX-License-Identifier: Apache-2.0
#include "slurm_live/tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "process/run_tool.hpp"

namespace schedmate::slurm_live {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 28U;

/// The controller was not reached, or its answer did not come through.
bool is_of_transport(std::string_view message) {
  constexpr std::array<std::string_view, 14> words = {
      "Unable to contact", "timed out",   "Timed out",       "Zero Bytes",   "onnection",
      "authentication",    "unge",        "Unexpected",      "ommunication", "signal ",
      "Incompatible",      "temporarily", "receive failure", "send failure"};
  return std::ranges::any_of(words, [&](std::string_view word) { return message.contains(word); });
}

}  // namespace

Tools::Tools(settings::Environment environment, Clock clock, const std::string& conf)
    // Lists of the tasks of an array are else cut off after 64 characters.
    : environment_(std::move(environment)),
      clock_(std::move(clock)),
      variables_{"SLURM_BITSTR_LEN=0"} {
  if (!conf.empty()) variables_.push_back("SLURM_CONF=" + conf);
}

Result<std::string> Tools::run(std::vector<std::string> words, Until until, bool must_print) const {
  const auto left = this->left(until);
  if (left <= std::chrono::milliseconds(0))
    return fail(ErrorCode::timeout, words.front() + ": there was no time left for it");
  return process::run_tool(environment_, {.words = std::move(words),
                                          .deadline = left,
                                          .most_bytes = most_bytes,
                                          .variables = variables_,
                                          .must_print = must_print});
}

std::vector<std::string> Tools::variables() const {
  return process::tool_variables(environment_, variables_);
}

bool Tools::wait(std::chrono::milliseconds time, Until until) const {
  if (clock_.now() + time >= until) return false;
  clock_.sleep(time);
  return true;
}

CallReply reply_of(const Result<std::string>& said) {
  if (said) return {CallOutcome::done, {}, {}};
  const Error& error = said.error();
  // "scontrol: exit code 1" says nothing of what the controller did.
  const bool says_no = error.code == ErrorCode::not_found ||
                       (error.code == ErrorCode::unavailable && error.message.ends_with(')') &&
                        !is_of_transport(error.message));
  return {says_no ? CallOutcome::refused : CallOutcome::unknown, error.message, {}};
}

CallReply refuse(std::string why) { return {CallOutcome::refused, std::move(why), {}}; }

tl::unexpected<Error> unread(const Error& error) {
  const bool is_garbled = error.code == ErrorCode::bad_reply || error.code == ErrorCode::invalid;
  return fail(is_garbled ? ErrorCode::invalid : ErrorCode::unavailable, error.message);
}

}  // namespace schedmate::slurm_live
