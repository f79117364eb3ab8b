// SPDX-License-Identifier: Apache-2.0
#include "base/error_document.hpp"

#include <nlohmann/json.hpp>

namespace schedmate {
namespace {

struct Words {
  std::string_view name, mend;
};

Words words_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return {"invalid", "correct the input that the message names"};
    case ErrorCode::not_found:
      return {"not_found", "choose a name that exists"};
    case ErrorCode::unavailable:
      return {"unavailable", "make available what the message names, then try again"};
    case ErrorCode::timeout:
      return {"timeout", "try again later, or allow more time"};
    case ErrorCode::bad_reply:
      return {"bad_reply", "check the server that answered, then try again"};
    case ErrorCode::refused:
      return {"refused", "get the right or the budget that the message names"};
    case ErrorCode::conflict:
      return {"conflict", "correct one of the inputs that contradict each other"};
    case ErrorCode::unsupported:
      return {"unsupported", "correct the command line (schedmate COMMAND --help)"};
  }
  return {"unavailable", ""};
}

}  // namespace

std::string_view name_of(ErrorCode code) { return words_of(code).name; }

std::optional<ErrorCode> error_code_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::unsupported); ++i)
    if (const auto code = static_cast<ErrorCode>(i); name_of(code) == name) return code;
  return std::nullopt;
}

Document error_document(const Error& error) {
  return {{"schema", "schedmate.error.v1"},
          {"code", name_of(error.code)},
          {"message", error.message},
          {"mend", words_of(error.code).mend}};
}

}  // namespace schedmate
