// SPDX-License-Identifier: Apache-2.0
#include "reader/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error_document.hpp"
#include "base/foreign_file.hpp"
#include "base/json_reader.hpp"
#include "base/text.hpp"
#include "base/whole_number.hpp"
#include "base/words.hpp"

namespace schedmate::reader {
namespace {

constexpr std::array<std::string_view, 6> words = {"advise", "facts", "diagnose",
                                                   "track",  "tail",  "failure"};
constexpr std::size_t most_path_bytes = 4096;
constexpr std::size_t most_name_bytes = 256;
constexpr std::size_t most_command_bytes = std::size_t{1} << 16U;
constexpr std::size_t most_logs = 256;

tl::unexpected<Error> wrong(std::string_view name, std::string_view needed) {
  return fail(ErrorCode::invalid, fmt::format("{}: {}", name, needed));
}

Result<void> read_text(const Document& value, std::string_view name, std::size_t most,
                       std::string& out) {
  if (!value.is_string()) return wrong(name, "must be a text");
  out = value.get<std::string>();
  if (out.size() > most) return wrong(name, fmt::format("has more than {} bytes", most));
  if (out.contains('\0')) return wrong(name, "holds a NUL character");
  return {};
}

Result<void> read_path(const Document& value, std::string_view name, std::string& out) {
  if (auto done = read_text(value, name, most_path_bytes, out); !done) return done;
  if (!out.starts_with('/')) return wrong(name, "must be an absolute path");
  return {};
}

/// What a descriptor of the child holds is the request itself.
Result<void> read_log(const Document& value, std::string_view name, std::string& out) {
  if (auto done = read_path(value, name, out); !done) return done;
  if (held_number(out)) return wrong(name, out + " is a pipe of a process, no file");
  return {};
}

Result<std::int64_t> read_whole(const Document& value, std::string_view name, std::int64_t most) {
  const std::int64_t number = whole_number(value).value_or(-1);
  if (number < 0 || number > most)
    return wrong(name, fmt::format("must be a whole number from 0 to {}", most));
  return number;
}

Result<void> read_logs(const Document& value, std::vector<std::string>& logs) {
  if (!value.is_array() || value.empty() || value.size() > most_logs)
    return wrong("logs", fmt::format("must be a list of 1 to {} paths", most_logs));
  for (const Document& each : value)
    if (auto done = read_log(each, "logs", logs.emplace_back()); !done) return done;
  return {};
}

/// A member of a request: which requests have it, and how it is taken.
struct Member {
  std::string_view name;
  std::string_view of;  ///< words with blanks between
  Result<void> (*take)(const Document& value, std::string_view name, Request& request);
};

template <std::string Request::* member, std::size_t most>
Result<void> take_text(const Document& value, std::string_view name, Request& request) {
  return read_text(value, name, most, request.*member);
}

template <std::int64_t most>
Result<void> take_count(const Document& value, std::string_view name,
                        std::optional<std::int64_t>& out) {
  if (value.is_null()) return {};
  const auto read = read_whole(value, name, most);
  if (!read) return tl::unexpected(read.error());
  out = *read;
  return {};
}

Result<void> take_gpus(const Document& value, std::string_view name, Request& request) {
  return take_count<10'000'000>(value, name, request.gpus);
}
Result<void> take_nodes(const Document& value, std::string_view name, Request& request) {
  return take_count<10'000'000>(value, name, request.nodes);
}
Result<void> take_time_limit(const Document& value, std::string_view name, Request& request) {
  constexpr std::int64_t ten_years_s = 315'360'000;
  return read_whole(value, name, ten_years_s).map([&](std::int64_t s) {
    request.time_limit_s = s;
  });
}
Result<void> take_lines(const Document& value, std::string_view name, Request& request) {
  return read_whole(value, name, most_tail_lines).map([&](std::int64_t n) { request.lines = n; });
}
Result<void> take_dir(const Document& value, std::string_view name, Request& request) {
  return read_path(value, name, request.dir);
}
Result<void> take_log(const Document& value, std::string_view name, Request& request) {
  return read_log(value, name, request.logs.emplace_back());
}
Result<void> take_logs(const Document& value, std::string_view /*name*/, Request& request) {
  return read_logs(value, request.logs);
}
Result<void> take_log_text(const Document& value, std::string_view name, Request& request) {
  return read_text(value, name, most_text_bytes, request.text.emplace());
}

constexpr std::string_view of_jobs = "advise facts";
constexpr std::string_view of_logs = "diagnose track tail failure";
constexpr std::array members{
    Member{"dir", of_jobs, take_dir},
    Member{"command", of_jobs, take_text<&Request::command, most_command_bytes>},
    Member{"workdir", of_jobs, take_text<&Request::workdir, most_path_bytes>},
    Member{"gpus", of_jobs, take_gpus},
    Member{"nodes", of_jobs, take_nodes},
    Member{"gpu_type", of_jobs, take_text<&Request::gpu_type, most_name_bytes>},
    Member{"branch", "advise", take_text<&Request::branch, most_name_bytes>},
    Member{"partition", "advise", take_text<&Request::partition, most_name_bytes>},
    Member{"time_limit_s", "advise", take_time_limit},
    Member{"log", of_logs, take_log},
    Member{"logs", "diagnose track failure", take_logs},
    Member{"text", "diagnose", take_log_text},
    Member{"lines", "tail", take_lines},
};

bool is_of(const Member& member, What what) {
  const auto names = split(member.of, ' ');
  return std::ranges::find(names, name_of(what)) != names.end();
}

tl::unexpected<Error> unknown_member(What what, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Member& each : members)
    if (is_of(each, what)) names.push_back(each.name);
  return fail(ErrorCode::invalid,
              unknown_name(fmt::format("member of a request to {}", name_of(what)), name, names));
}

Result<void> check_whole(const Request& request) {
  const bool of_job = request.what == What::advise || request.what == What::facts;
  if (of_job && request.dir.empty()) return wrong("dir", "is missing: the job's folder");
  if (of_job && request.command.empty())
    return wrong("command", "is missing: the command that starts the job");
  if (of_job) return {};
  if (request.logs.empty() && !request.text)
    return wrong("log", request.what == What::diagnose
                            ? "is missing: a path, or the text of a log as \"text\""
                            : "is missing: the path of a log");
  if (!request.logs.empty() && request.text)
    return wrong("text", "is there beside a log; give one of them");
  if (request.what == What::tail && request.logs.size() != 1) return wrong("log", "must be one");
  return {};
}

Result<Request> read_members(What what, const Document& document,
                             std::initializer_list<std::string_view> beside) {
  if (!document.is_object()) return fail(ErrorCode::invalid, "a request must be a JSON object");
  Request request;
  request.what = what;
  for (const auto& [name, value] : document.items()) {
    if (std::ranges::find(beside, name) != beside.end()) continue;
    const auto* const found = std::ranges::find(members, std::string_view(name), &Member::name);
    if (found == members.end() || !is_of(*found, what)) return unknown_member(what, name);
    if (auto taken = found->take(value, name, request); !taken)
      return tl::unexpected(taken.error());
  }
  if (auto whole = check_whole(request); !whole) return tl::unexpected(whole.error());
  return request;
}

Result<What> read_what(const Document& document) {
  const auto found = document.find("what");
  const std::string word = found != document.end() && found->is_string() ? *found : Document("");
  const auto* const known = std::ranges::find(words, std::string_view(word));
  if (known != words.end()) return static_cast<What>(known - words.begin());
  return fail(ErrorCode::invalid, unknown_name("what", word, words));
}

/// Of an answer. The id stands in front of what somebody else wrote.
constexpr std::string_view before_id = R"({"id":)", before_reply = R"(,"reply":)";

constexpr JsonBounds bounds{.deepest = 32, .most_values = 400'000};

std::optional<std::uint64_t> id_of(const Document& document) {
  if (!document.is_object()) return std::nullopt;
  const auto found = document.find("id");
  if (found == document.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

Error error_of(const Document& document) {
  const auto text = [&](const char* name) {
    const auto found = document.find(name);
    return found != document.end() && found->is_string() ? found->get<std::string>() : "";
  };
  Error error{ErrorCode::bad_reply, text("message")};
  error.code = error_code_named(text("code")).value_or(error.code);
  if (error.message.empty()) error.message = "the reader answered with an error without a sentence";
  return error;
}

std::string one_line(const Document& document) {
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

}  // namespace

std::string_view name_of(What what) { return words.at(static_cast<std::size_t>(what)); }

Result<Request> read_question(What what, const Document& document) {
  return read_members(what, document, {});
}

Result<Numbered> read_request(std::string_view line) {
  const auto document = read_json(line, bounds);
  if (!document) return tl::unexpected(document.error());
  const auto id = id_of(*document);
  if (!id || *id == 0) return fail(ErrorCode::invalid, "a request needs an id of at least 1");
  const auto what = read_what(*document);
  if (!what) return tl::unexpected(what.error());
  auto request = read_members(*what, *document, {"id", "what", "user", "models"});
  if (!request) return tl::unexpected(request.error());
  const auto user = document->find("user");
  if (user == document->end()) return wrong("user", "is missing: whose rights it is read with");
  if (auto read = read_text(*user, "user", most_name_bytes, request->user); !read)
    return tl::unexpected(read.error());
  if (request->user.empty() || !is_printable(request->user))
    return wrong("user", "must be the name of a user, or a uid");
  if (const auto models = document->find("models"); models != document->end()) {
    if (!models->is_boolean()) return wrong("models", "must be true or false");
    request->models = models->get<bool>();
  }
  return Numbered{*id, std::move(*request)};
}

Result<Head> read_head(std::string_view line) {
  constexpr std::string_view first = R"({"id":)", second = R"(,"user":")";
  const auto no_head = fail(ErrorCode::invalid, R"(a request begins with {"id":N,"user":"NAME",)");
  const std::size_t after_id = std::min(line.find(second), line.size());
  if (!line.starts_with(first) || after_id == line.size()) return no_head;
  const auto id = parse_number<std::uint64_t>(line.substr(first.size(), after_id - first.size()));
  const std::string_view rest = line.substr(after_id + second.size());
  const std::string_view user = rest.substr(0, std::min(rest.find('"'), rest.size()));
  const bool is_name =
      !user.empty() && user.size() <= most_name_bytes && is_printable(user) && !user.contains('\\');
  if (!id || *id == 0 || !is_name || !rest.substr(user.size()).starts_with("\",")) return no_head;
  return Head{*id, std::string(user)};
}

std::string request_line(const Numbered& asked) {
  const Request& request = asked.request;
  const Request plain;
  Document made{{"id", asked.id}, {"user", request.user}, {"what", name_of(request.what)}};
  if (request.models) made["models"] = true;
  const auto put = [&](const char* name, const std::string& value, const std::string& usual) {
    if (value != usual) made[name] = value;
  };
  put("dir", request.dir, plain.dir);
  put("command", request.command, plain.command);
  put("workdir", request.workdir, plain.workdir);
  put("gpu_type", request.gpu_type, plain.gpu_type);
  put("branch", request.branch, plain.branch);
  put("partition", request.partition, plain.partition);
  if (request.gpus) made["gpus"] = *request.gpus;
  if (request.nodes) made["nodes"] = *request.nodes;
  if (request.time_limit_s > 0) made["time_limit_s"] = request.time_limit_s;
  if (request.what == What::tail) made["lines"] = request.lines;
  if (request.logs.size() == 1)
    made["log"] = request.logs.front();
  else if (!request.logs.empty())
    made["logs"] = request.logs;
  if (request.text) made["text"] = *request.text;
  return one_line(made);
}

std::string reply_line(const Result<Document>& result) {
  if (result) return fmt::format(R"({{"result":{}}})", in_one_line(*result));
  const Document error{{"code", schedmate::name_of(result.error().code)},
                       {"message", result.error().message}};
  return fmt::format(R"({{"error":{}}})", in_one_line(error));
}

std::string answer_line(std::uint64_t id, std::string_view reply) {
  const bool is_object = reply.size() > 2 && reply.front() == '{' && reply.back() == '}' &&
                         !reply.contains('\0') && Document::accept(reply);
  if (is_object) return fmt::format(R"({{"id":{},"reply":{}}})", id, reply);
  return answer_line(
      id, Error{ErrorCode::bad_reply,
                reply.empty() ? "the process that read ended without an answer"
                              : "the process that read gave an answer that is no JSON object"});
}

std::string answer_line(std::uint64_t id, const Error& error) {
  return fmt::format(R"({{"id":{},"reply":{}}})", id, reply_line(tl::unexpected(error)));
}

std::optional<std::uint64_t> answered_id(std::string_view line) {
  if (!line.starts_with(before_id) || !line.ends_with('}')) return std::nullopt;
  const std::size_t end = line.find(before_reply);
  if (end == std::string_view::npos) return std::nullopt;
  return parse_number<std::uint64_t>(line.substr(before_id.size(), end - before_id.size()));
}

Result<Document> result_in(std::string_view line) {
  line.remove_prefix(std::min(line.find(before_reply), line.size() - before_reply.size()) +
                     before_reply.size());
  line.remove_suffix(1);
  const auto reply = read_json(line, bounds);
  if (!reply)
    return fail(ErrorCode::bad_reply,
                fmt::format("the process that read gave {}", reply.error().message));
  if (reply->is_object() && reply->size() == 1) {
    const auto result = reply->find("result"), error = reply->find("error");
    if (result != reply->end() && result->is_object()) return *result;
    if (error != reply->end() && error->is_object()) return tl::unexpected(error_of(*error));
  }
  return fail(ErrorCode::bad_reply, "the process that read gave neither a result nor an error");
}

}  // namespace schedmate::reader
