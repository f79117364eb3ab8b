// SPDX-License-Identifier: Apache-2.0
#include "daemon/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "base/characters.hpp"
#include "base/hmac.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "daemon/parts.hpp"
#include "http/routes.hpp"

namespace schedmate::daemon {
namespace {

using http::RouteName;

/// A field of a submission, and the bounds of its value: bytes of a text, or the number itself.
struct Field {
  std::string_view name;
  bool is_text;
  std::int64_t least, most;
};
constexpr std::int64_t ten_years_s = 10LL * 366 * 86400;
constexpr std::array fields{
    Field{"name", true, 0, 256},           Field{"command", true, 1, 16'384},
    Field{"dir", true, 0, 4096},           Field{"output", true, 0, 4096},
    Field{"partition", true, 0, 128},      Field{"user", true, 1, 128},
    Field{"token", true, 1, 128},          Field{"gpus", false, 1, 1'000'000},
    Field{"nodes", false, 1, 100'000},     Field{"limit_s", false, 0, ten_years_s},
    Field{"run_s", false, 0, ten_years_s},
};

tl::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::invalid, std::move(message));
}

/// Line ends and tabs only where a program is written.
bool is_plain(std::string_view text, bool takes_lines) {
  return std::ranges::all_of(text, [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || (takes_lines && (c == '\n' || c == '\t'));
  });
}

Result<void> check_text(const Field& field, const Document& value) {
  if (!value.is_string()) return invalid(fmt::format("{}: a text is expected", field.name));
  const std::string& text = value.get_ref<const std::string&>();
  if (std::ssize(text) < field.least || std::ssize(text) > field.most)
    return invalid(
        fmt::format("{}: {} to {} bytes are expected", field.name, field.least, field.most));
  if (!is_plain(text, field.name == "command"))
    return invalid(fmt::format("{}: control characters are not allowed", field.name));
  return {};
}

Result<void> check_field(const Field& field, const Document& value) {
  if (field.is_text) return check_text(field, value);
  const auto number = whole_number(value);
  if (!number || *number < field.least || *number > field.most)
    return invalid(fmt::format("{}: a whole number from {} to {} is expected", field.name,
                               field.least, field.most));
  return {};
}

Result<void> check_fields(const Document& body) {
  for (const auto& [name, value] : body.items()) {
    const auto* const field = std::ranges::find(fields, name, &Field::name);
    if (field == fields.end()) {
      std::array<std::string_view, fields.size()> names{};
      std::ranges::transform(fields, names.begin(), &Field::name);
      return invalid(unknown_name("field", name, names));
    }
    if (auto checked = check_field(*field, value); !checked) return checked;
  }
  if (!body.contains("command")) return invalid("command: it is missing, so nothing would run");
  const std::string dir = body.value("dir", "");
  if (!dir.empty() && !dir.starts_with('/')) return invalid("dir: an absolute path is expected");
  if (body.value("nodes", 1) > body.value("gpus", 1))
    return invalid("nodes: there are more nodes than GPUs");
  return {};
}

tl::unexpected<Error> conflict(std::string message) {
  return fail(ErrorCode::conflict, std::move(message));
}

/// A job that no partition can hold would wait forever.
Result<void> check_room(const Document& body, const live::Actions& actions) {
  const std::string partition = body.value("partition", "");
  std::map<std::string_view, std::int64_t> gpus;
  for (const auto& [name, node] : actions.nodes()) gpus[node.partition] += node.gpus;
  if (!partition.empty() && !gpus.contains(partition))
    return conflict(fmt::format("partition: there is no '{}' here", partition));
  std::int64_t most = 0;
  for (const auto& [name, of_partition] : gpus)
    if (partition.empty() || name == partition) most = std::max(most, of_partition);
  if (body.value("gpus", 1) > most)
    return conflict(fmt::format("gpus: {} has no more than {}",
                                partition.empty() ? "a partition here" : partition, most));
  return {};
}

bool is_key(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("-_.:").contains(c);
  });
}

/// "": the caller has none. Header and field may both name it.
Result<std::string> key_of(const http::Request& request, const Document& body) {
  const auto header =
      std::ranges::find(request.headers, "idempotency-key", &http::Headers::value_type::first);
  const std::string in_body = body.value("token", "");
  std::string key = header == request.headers.end() ? in_body : header->second;
  if (!in_body.empty() && key != in_body)
    return invalid("token: it differs from the header Idempotency-Key");
  const bool is_there = header != request.headers.end() || !in_body.empty();
  if (is_there && !is_key(key))
    return invalid("Idempotency-Key or token: 1 to 128 letters, digits and -_.: are expected");
  return key;
}

/// One that nobody else has.
Result<std::string> new_key() {
  constexpr std::size_t digits = 32;
  const std::string random = random_key();
  if (random.empty()) return fail(ErrorCode::unavailable, "the system gives no random numbers");
  return "r-" + random.substr(0, digits);
}

/// Only operators submit for others.
Result<std::string> owner_of(const http::Request& request, const Document& body) {
  std::string user = body.value("user", request.caller.user);
  if (user.empty())
    return fail(ErrorCode::refused, "nobody knows your user name here, so the job had no owner");
  if (user != request.caller.user && request.caller.role != Role::cluster_operator)
    return fail(ErrorCode::refused,
                fmt::format("user: only operators submit for others, such as '{}'", user));
  return user;
}

Result<live::Requested> submission_of(const http::Request& request, const State& state) {
  if (request.json == nullptr || !request.json->is_object())
    return invalid(
        R"(the body must be an object such as {"command": "python train.py", "gpus": 1})");
  Document body = *request.json;
  if (auto checked = check_fields(body); !checked) return tl::unexpected(checked.error());
  if (auto checked = check_room(body, state.loop.actions()); !checked)
    return tl::unexpected(checked.error());
  auto user = owner_of(request, body);
  if (!user) return tl::unexpected(user.error());
  auto key = key_of(request, body);
  if (!key) return tl::unexpected(key.error());
  live::Requested made{.call = {.kind = ActionKind::submit}};
  made.is_keyed = !key->empty();
  if (!made.is_keyed) key = new_key();
  if (!key) return tl::unexpected(key.error());
  body.erase("user");
  body.erase("token");
  for (Document& value : body)
    if (value.is_number_float()) value = *whole_number(value);
  made.call.text = body.dump();
  made.call.user = std::move(*user);
  made.call.token = request.caller.user + "/" + *key;  // nobody comes upon another's
  made.by = request.by;
  constexpr std::size_t longest = 48'000;  // as JSON within the action's
  if (Document(made.call.text).dump().size() > longest)
    return invalid("the body is too large, as its texts have many characters to escape");
  return made;
}

Result<live::Requested> cancellation_of(const http::Request& request, const State& state) {
  if (request.json != nullptr && (!request.json->is_object() || !request.json->empty()))
    return invalid("a cancellation has no body, or {}");
  const live::Attempt* const attempt = seen_job(request, state);
  if (attempt == nullptr)
    return fail(ErrorCode::not_found, fmt::format("no job {}", request.ids.at(0)));
  const SeenJob& seen = attempt->seen;
  if (request.caller.role != Role::cluster_operator && seen.user != request.caller.user)
    return fail(ErrorCode::refused, fmt::format("job {} is somebody else's", seen.id));
  if (seen.phase == JobPhase::ended)
    return fail(ErrorCode::conflict,
                fmt::format("job {} has ended: {}", seen.id, state_word(seen)));
  live::Requested made{.call = {.kind = ActionKind::cancel, .job = seen.id}};
  made.call.submitted = seen.submitted;
  made.call.restarts = seen.restarts;
  made.by = request.by;
  return made;
}

}  // namespace

std::optional<Result<live::Requested>> request_of(const http::Request& request,
                                                  const State& state) {
  if (request.route->name == RouteName::submit) return submission_of(request, state);
  if (request.route->name == RouteName::cancel) return cancellation_of(request, state);
  return std::nullopt;
}

http::Reply requested_reply(const live::Answer& answer, const State& state) {
  http::Reply reply = action_reply(*answer.result, state);
  if (reply.status == 200 && !answer.repeated) reply.status = 202;
  reply.headers.emplace_back("Location", fmt::format("/api/v1/actions/{}", *answer.result));
  return reply;
}

}  // namespace schedmate::daemon
