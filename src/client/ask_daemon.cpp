// SPDX-License-Identifier: Apache-2.0
#include "client/ask_daemon.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error_document.hpp"
#include "base/json_reader.hpp"
#include "base/table.hpp"
#include "base/words.hpp"

namespace schedmate::client {
namespace {

constexpr JsonBounds bounds_of_answers{64, 10'000'000};

/// A sentence of the daemon's, as a part of a line.
std::string sentence(const Document& document, const char* key) {
  constexpr std::size_t longest = 500;
  const auto found = document.find(key);
  if (found == document.end() || !found->is_string()) return "";
  return shortened(printable(found->get<std::string>()), longest);
}

bool may_come_again(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout;
}

}  // namespace

Error error_of(const DaemonAddress& address, const Answered& answered) {
  const auto document = read_json(answered.body, bounds_of_answers);
  const bool told = document && document->is_object() &&
                    document->value("schema", Document()) == "schedmate.error.v1";
  const auto code = told ? error_code_named(sentence(*document, "code")) : std::nullopt;
  if (!code)
    return {ErrorCode::bad_reply, fmt::format("{}: what answers there is no daemon (status {})",
                                              address.text(), answered.status)};
  std::string text = fmt::format("{}: {}", address.text(), sentence(*document, "message"));
  const std::string mend = sentence(*document, "mend");
  const std::string usual_mend = sentence(error_document({*code, ""}), "mend");  // of its code
  if (answered.status == 401)
    text +=
        "; give a token by --token-file FILE or SCHEDMATE_TOKEN (`schedmate token add` makes one)";
  else if (mend != usual_mend && !mend.empty())
    text += "; " + mend;
  return {*code, std::move(text)};
}

Result<Document> ask(const DaemonClient& client, const Call& call, std::string_view schema) {
  const auto answered = transfer(client.address, call, client.bounds);
  if (!answered) return tl::unexpected(answered.error());
  if (answered->status < 200 || answered->status > 299)
    return tl::unexpected(error_of(client.address, *answered));
  auto document = read_json(answered->body, bounds_of_answers);
  if (!document)
    return fail(ErrorCode::bad_reply,
                fmt::format("{}: what answers there is no daemon (its answer is not JSON: {})",
                            client.address.text(), document.error().message));
  if (!document->is_object() || document->value("schema", Document()) != schema)
    return fail(ErrorCode::bad_reply,
                fmt::format("{}: it does not answer with {}; is it a schedmated of this version?",
                            client.address.text(), schema));
  return document;
}

Result<Document> ask_once(const DaemonClient& client, const Call& call, std::string_view schema,
                          const Clock& clock) {
  constexpr int calls = 3;
  constexpr std::chrono::milliseconds pause{500};
  auto answer = ask(client, call, schema);
  for (int made = 1; made < calls && !answer && may_come_again(answer.error()); ++made) {
    clock.sleep(pause);
    answer = ask(client, call, schema);
  }
  if (!answer && may_come_again(answer.error()))
    return fail(answer.error().code,
                fmt::format("{}; add --key {} when you try again, so that it counts once",
                            answer.error().message, call.idempotency_key));
  return answer;
}

std::string new_idempotency_key() {
  std::array<unsigned char, 16> bytes{};
  static_cast<void>(::getrandom(bytes.data(), bytes.size(), 0));
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace schedmate::client
