// SPDX-License-Identifier: Apache-2.0
#include "workers/request.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error_document.hpp"
#include "base/sha256.hpp"

namespace schedmate::workers {
namespace {

using reader::What;

Result<void> check_kind(What what) {
  if (what != What::track && what != What::tail) return {};
  return fail(ErrorCode::unsupported,
              fmt::format("workers read code and what jobs died of; '{}' is neither",
                          reader::name_of(what)));
}

bool is_urgent(What what) { return what == What::diagnose || what == What::failure; }

}  // namespace

Result<Operation> operation_of(const reader::Request& request, std::string id,
                               std::string_view salt) {
  if (auto fine = check_kind(request.what); !fine) return tl::unexpected(fine.error());
  Operation made{std::move(id), is_urgent(request.what) ? Priority::urgent : Priority::usual,
                 reader::request_line({1, request})};
  // What the other side refuses is refused here, where somebody reads the sentence.
  if (auto read = request_of(made.request); !read) return tl::unexpected(read.error());
  constexpr std::size_t digits = 20;
  if (made.id.empty())
    made.id = sha256(fmt::format("{}\n{}", salt, made.request)).substr(0, digits);
  return made;
}

Result<reader::Request> request_of(std::string_view text) {
  auto read = reader::read_request(text);
  if (!read) return tl::unexpected(read.error());
  if (auto fine = check_kind(read->request.what); !fine) return tl::unexpected(fine.error());
  return std::move(read->request);
}

std::string result_text(const Result<Document>& result) {
  std::string text = reader::reply_line(result);
  if (text.size() <= QueueLimits::result_bytes) return text;
  return reader::reply_line(
      fail(ErrorCode::invalid, fmt::format("the answer has {} bytes, which is more than a result "
                                           "may have",
                                           text.size())));
}

Result<Document> result_of(std::string_view text) {
  return reader::result_in(fmt::format(R"({{"id":1,"reply":{}}})", text));
}

std::optional<Result<Document>> result_of(const Status& status) {
  if (!is_over(status.state)) return std::nullopt;
  return result_of(status.result);
}

Document status_document(const std::string& id, const Status& status,
                         const std::optional<Result<Document>>& result) {
  Document made{{"schema", "schedmate.work.v1"},
                {"id", id},
                {"state", name_of(status.state)},
                {"worker", status.worker},
                {"deliveries", status.deliveries},
                {"result", nullptr},
                {"error", nullptr}};
  if (!result) return made;
  if (*result)
    made["result"] = **result;
  else
    made["error"] = {{"code", schedmate::name_of(result->error().code)},
                     {"message", result->error().message}};
  return made;
}

}  // namespace schedmate::workers
