// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The use cases as functions from a request to the text that the command of the same name prints
/// with --json (include/schedmate.h lists the keys). Any thread may call.

#include <functional>
#include <memory>
#include <schedmate/report.hpp>
#include <string>
#include <string_view>

#include "lab/host_estimates.hpp"
#include "settings/session.hpp"
#include "study/own_parts.hpp"

namespace schedmate::face {

/// What a simulation gets from the host beside its request.
struct HostParts {
  study::OwnParts own{};
  settings::BeginProgress progress = settings::no_progress;
  std::function<void(const RunRecord&)> finished{};
};

/// Errors: of the request, as Request::done(), and of the use case.
using UseCase = Result<std::string>(const settings::Session& session, std::string_view text);

[[nodiscard]] Result<std::string> facts(const settings::Session& session, std::string_view text);
[[nodiscard]] Result<std::string> advise(const settings::Session& session, std::string_view text);
[[nodiscard]] Result<std::string> track(const settings::Session& session, std::string_view text);
[[nodiscard]] Result<std::string> diagnose(const settings::Session& session, std::string_view text);
[[nodiscard]] Result<std::string> ask(const settings::Session& session, std::string_view text);
[[nodiscard]] Result<std::string> eta(const settings::Session& session, std::string_view text);
[[nodiscard]] Result<std::string> finish(const settings::Session& session, std::string_view text);
[[nodiscard]] Result<std::string> simulate(const settings::Session& session, std::string_view text);
/// With what callbacks of the host make: `host` outlives the call. Throws HookFailure.
[[nodiscard]] Result<std::string> simulate_with(const settings::Session& session,
                                                std::string_view text, const HostParts& host);

/// For a host that replays a trace itself. Errors: as above.
[[nodiscard]] Result<std::unique_ptr<lab::HostEstimates>> open_estimates(
    const settings::Session& session, std::string_view text);

/// What schedmate_open() takes. `environment` outlives the session. Errors: of the options and of
/// the settings.
[[nodiscard]] Result<settings::Session> open_session(std::string_view options,
                                                     const char* const* environment);

}  // namespace schedmate::face
