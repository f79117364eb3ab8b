// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Slurm's library in a process of its own (library_child.hpp), which is asked again and again. One
/// that does not answer by the deadline is killed, and another one begins at the next question.

#include <optional>
#include <schedmate/connector.hpp>
#include <string>

#include "base/child_process.hpp"
#include "base/descriptor.hpp"
#include "slurm_live/answer.hpp"
#include "slurm_live/tools.hpp"

namespace schedmate::slurm_live {

class Library {
 public:
  struct Options {
    std::string module;  ///< schedmate_slurm.so
    /// Called with `word` and the module, it is serve_library(); "": this program.
    std::string program{};
  };
  using Until = Tools::Until;
  static constexpr const char* word = "--slurm-library";

  Library(Options options, Tools tools) : options_(std::move(options)), tools_(std::move(tools)) {}

  /// "22.05.8"; starts it where it does not run. Errors: those of an answer.
  [[nodiscard]] Result<std::string> version(Until until);
  /// What is new since the last answer that had news. Errors: unavailable (it says why), timeout,
  /// invalid (nonsense).
  /// `with_orders`: where the site's jobs have site factors.
  [[nodiscard]] Result<LibraryAnswer> jobs(bool with_orders, Until until);
  [[nodiscard]] Result<LibraryAnswer> nodes(Until until);
  /// Whatever there is; the next one has what is new since an earlier one.
  [[nodiscard]] Result<LibraryAnswer> all_nodes(Until until) { return ask("nodes 0", until); }
  /// What was read is of no use: the next answers are whole.
  void begin_anew() { jobs_changed_ = nodes_changed_ = 0; }
  /// With the tasks of its array.
  [[nodiscard]] Result<LibraryAnswer> job(std::uint32_t number, bool with_orders, Until until);
  /// The last error was its own, not one of the cluster: it could not be loaded, crashed, or
  /// answered nonsense. It is left alone for a while then, each time for twice as many questions.
  [[nodiscard]] bool is_broken() const { return is_broken_; }

 private:
  Result<LibraryAnswer> ask(const std::string& line, Until until);
  Result<LibraryAnswer> listing(const char* what, std::int64_t& changed, Until until);
  Result<void> start(Until until);
  Result<LibraryAnswer> hear(const Deadline& deadline);
  void forget_complaints();
  tl::unexpected<Error> give_up(ErrorCode code, std::string why);
  tl::unexpected<Error> broken(std::string why);
  std::string why_ended(const Deadline& deadline);

  Options options_;
  Tools tools_;
  ChildProcess child_;
  Descriptor socket_;      // none: it does not run
  Descriptor complaints_;  // what it writes on standard error
  std::string version_, last_error_;
  std::int64_t jobs_changed_ = 0, nodes_changed_ = 0;
  bool is_broken_ = false;
  unsigned failures_ = 0, pause_ = 0;  // questions that are left out
};

}  // namespace schedmate::slurm_live
