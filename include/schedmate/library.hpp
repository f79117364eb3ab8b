// SPDX-License-Identifier: Apache-2.0
#pragma once

/// SchedMate as a library, for C++20 and later: what schedmate.h offers, with values for handles
/// and codes. Only this header needs a compiler; what it calls is C, so that a host may be built by
/// another compiler and against a later libschedmate.so of the same number (docs/library.md).
///
/// Requests and replies are JSON texts; schedmate.h lists their keys. Any thread may call, at the
/// same time, with the same Library, too. Nothing here throws but std::bad_alloc of the host's own
/// strings.

#include <schedmate.h>
#include <schedmate_policy.h>

#include <schedmate/result.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace schedmate {

/// An open session, closed with its last owner. One that was moved from is closed: whoever asks it
/// gets an error. Costs of a call are those of the command: milliseconds, and of a model seconds.
class Library {
 public:
  /// Options as schedmate_open() takes them: config, state_dir, settings. Errors: of the options
  /// and of the settings.
  [[nodiscard]] static Result<Library> open(std::string_view options = "{}") {
    Library library;
    char* reply = nullptr;
    const int code = schedmate_open(options.data(), options.size(), &library.session_, &reply);
    auto said = taken(code, reply);
    if (!said) return tl::unexpected(std::move(said.error()));
    return library;
  }

  Library(Library&& other) noexcept : session_(std::exchange(other.session_, 0)) {}
  Library& operator=(Library&& other) noexcept {
    std::swap(session_, other.session_);
    return *this;
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { schedmate_close(session_); }

  // Each gives the document that the command of its name prints with --json. Errors: of the
  // request (invalid, not_found, unsupported) and of the use case.

  /// What a job is: schedmate.facts.v1.
  [[nodiscard]] Result<std::string> facts(std::string_view request) const {
    return ask(schedmate_facts, request);
  }
  /// How long a submission runs and what it uses: schedmate.advice.v1.
  [[nodiscard]] Result<std::string> advise(std::string_view request) const {
    return ask(schedmate_advise, request);
  }
  /// How far a job is: schedmate.progress.v1.
  [[nodiscard]] Result<std::string> track(std::string_view request) const {
    return ask(schedmate_track, request);
  }
  /// Why a job ended: schedmate.diagnosis.v1.
  [[nodiscard]] Result<std::string> diagnose(std::string_view request) const {
    return ask(schedmate_diagnose, request);
  }
  /// What a log says: schedmate.answers.v1.
  [[nodiscard]] Result<std::string> ask(std::string_view request) const {
    return ask(schedmate_ask, request);
  }
  /// When waiting jobs start and running ones end: schedmate.eta.v1.
  [[nodiscard]] Result<std::string> eta(std::string_view request) const {
    return ask(schedmate_eta, request);
  }
  /// How a job ended that advise recorded: schedmate.finish.v1. The same end twice is no error;
  /// another one is a conflict.
  [[nodiscard]] Result<std::string> finish(std::string_view request) const {
    return ask(schedmate_finish, request);
  }
  /// Policies replayed over a trace: the document of summary.json.
  [[nodiscard]] Result<std::string> simulate(std::string_view request) const {
    return ask(schedmate_simulate, request);
  }
  /// The same with policies and estimators of the host (schedmate_policy.h), which are called by
  /// this thread until it returns; `progress` by any. What `hooks` points to outlives the call.
  /// Errors: also those of their decisions; unavailable, when a callback ended it.
  [[nodiscard]] Result<std::string> simulate(std::string_view request,
                                             const schedmate_hooks& hooks) const {
    char* reply = nullptr;
    const char* const text = request.data() == nullptr ? "" : request.data();
    const int code = schedmate_simulate_with(session_, text, request.size(), &hooks, &reply);
    return taken(code, reply);
  }

 private:
  using UseCase = int (*)(schedmate_session, const char*, std::size_t, char**);

  Library() = default;

  [[nodiscard]] Result<std::string> ask(UseCase use_case, std::string_view request) const {
    char* reply = nullptr;
    const char* const text = request.data() == nullptr ? "" : request.data();
    const int code = use_case(session_, text, request.size(), &reply);
    return taken(code, reply);
  }

  /// A bad call and a fault of SchedMate have no ErrorCode of their own: unavailable.
  static Result<std::string> taken(int code, char* reply) {
    const char* const message = schedmate_message(reply);
    std::string text(code == SCHEDMATE_OK ? (reply == nullptr ? "" : reply)
                     : message == nullptr ? schedmate_code_name(code)
                                          : message);
    schedmate_free(reply);
    if (code == SCHEDMATE_OK) return text;
    const bool has_code = code >= SCHEDMATE_INVALID && code <= SCHEDMATE_UNSUPPORTED;
    return fail(has_code ? static_cast<ErrorCode>(code - 1) : ErrorCode::unavailable,
                std::move(text));
  }

  schedmate_session session_ = 0;
};

}  // namespace schedmate
