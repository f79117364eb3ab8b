// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a child of the reader does: one request, read with the rights of this process by the use
/// cases of the command line, without a history or a state folder. A model is asked through the
/// reader, by whoever may call one.

#include <functional>
#include <map>
#include <schedmate/clock.hpp>
#include <string>
#include <string_view>

#include "reader/request.hpp"
#include "settings/environment.hpp"
#include "settings/settings.hpp"

namespace schedmate::reader {

/// Settings of the reader that decide what an answer is; its children get these. Of models they say
/// which there are and how much fits into a prompt, not where they are nor by what token.
[[nodiscard]] std::map<std::string, std::string> settings_of_answers(
    const settings::Settings& settings);

struct WorkPlace {
  std::map<std::string, std::string> settings{};  ///< of settings_of_answers()
  settings::Environment environment{};
  Clock clock{};
  /// The models' answer (src/llm/remote.hpp); none: no model is asked.
  std::function<std::string(std::string_view question)> ask{};
};

/// The document of the command (schedmate.advice.v1, facts, diagnosis, progress), or
/// schedmate.log.v1 for a tail; `file` of track and tail has inode, size and mtime_s. Everything in
/// it is without secrets. Errors: those of the use cases.
[[nodiscard]] Result<Document> answer_to(const Request& request, const WorkPlace& place);

/// The whole of it: an order on standard input, a reply on standard output. Gives the exit code.
int work(const settings::Environment& environment, const Clock& clock);

}  // namespace schedmate::reader
