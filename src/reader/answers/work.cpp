// SPDX-License-Identifier: Apache-2.0
#include "reader/answers/work.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <schedmate/llm.hpp>
#include <utility>

#include "base/foreign_file.hpp"
#include "base/text.hpp"
#include "log/lines/lines.hpp"
#include "reader/answers/asked.hpp"
#include "reader/child.hpp"
#include "reader/question.hpp"
#include "secrets/outgoing.hpp"
#include "service/file_access.hpp"
#include "service/models.hpp"
#include "tree/confine_child.hpp"

namespace schedmate::reader {
namespace {

constexpr int reply_to = 1;  ///< standard output, where answers of models come in
constexpr std::size_t most_tail_bytes = std::size_t{1} << 20U;

/// Of one reading: what a child can look through within its time, the rest is left out.
ReadBudget budget_of_child() {
  ReadBudget budget;
  budget.first_bytes = budget.last_bytes = std::uint64_t{256} << 20U;
  budget.reading = std::chrono::seconds(6);
  budget.answer = std::chrono::seconds(5);
  return budget;
}

Result<settings::Session> session_at(const WorkPlace& place, bool models) {
  settings::Session session{place.environment, {}, place.clock};
  session.budget = budget_of_child();
  for (const auto& [key, value] : place.settings)
    if (auto set = session.settings.set(key, value, "the reader"); !set)
      return tl::unexpected(set.error());
  // No history: neither one that this user happens to have, nor one that would be made.
  if (auto set = session.settings.set("store", "memory", "the reader"); !set)
    return tl::unexpected(set.error());
  session.ask_model = place.ask;
  if (models && place.ask) return session;
  if (auto set = session.settings.set("llm.use", "none", "the reader"); !set)
    return tl::unexpected(set.error());
  return session;
}

/// In the place of standard input, where a log of the name "-" is read.
Result<void> hold_text(const std::string& text) {
  const Descriptor file = held_text(text);
  if (!file || ::dup2(file.number(), STDIN_FILENO) < 0)
    return fail(ErrorCode::unavailable, "there is no room to hold the text");
  return {};
}

Result<Document> diagnose_text(const settings::Session& session, Request request) {
  if (auto held = hold_text(*request.text); !held) return tl::unexpected(held.error());
  request.logs = {"-"};
  return diagnose(session, request);
}

/// The last lines of a text, and no more than most_tail_bytes of them; one that is longer than that
/// alone begins in its middle.
std::vector<std::string_view> last_lines(std::string_view text, std::int64_t most) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string_view> found;
  std::size_t bytes = 0;
  while (std::ssize(found) < most && !text.empty()) {
    const std::size_t end = text.rfind('\n');
    std::string_view line = end == std::string_view::npos ? text : text.substr(end + 1);
    if (bytes + line.size() > most_tail_bytes) {
      if (found.empty()) found.push_back(line.substr(line.size() - most_tail_bytes));
      break;
    }
    bytes += line.size() + 1;
    found.push_back(line);
    if (end == std::string_view::npos) break;
    text = text.substr(0, end);
    if (text.empty() && std::ssize(found) < most) found.push_back(text);
  }
  std::ranges::reverse(found);
  return found;
}

Result<Document> tail(const settings::Session& session, const Request& request) {
  const auto files = service::request_files(session);
  if (!files) return tl::unexpected(files.error());
  const ForeignPath path{request.logs.front(), files->access};
  auto file = ForeignFile::open(path);
  if (!file) return tl::unexpected(file.error());
  const auto status = file->status();
  if (!status) return tl::unexpected(status.error());
  const auto end = lines::tail_of(std::move(*file), path, most_tail_bytes);
  if (!end) return tl::unexpected(end.error());
  const secrets::LogRedactor secrets({path.name}, files->access);
  const std::string text = secrets.text(end->text);
  const auto shown = last_lines(text, request.lines);
  Document made{{"schema", "schedmate.log.v1"},
                {"log", secrets::safe_line(path.name)},
                {"lines", shown},
                {"file", file_document(*status)}};
  if (!end->fault.empty()) made["fault"] = end->fault;
  service::add_left_out(*files->left_out, made);
  return made;
}

Result<Document> answer_in(const settings::Session& session, const Request& request) {
  switch (request.what) {
    case What::advise:
      return advise(session, request);
    case What::facts:
      return facts(session, request);
    case What::diagnose:
      return request.text ? diagnose_text(session, request) : diagnose(session, request);
    case What::track:
      return track(session, request);
    case What::tail:
      return tail(session, request);
    case What::failure:
      return failure(session, request);
  }
  return fail(ErrorCode::unsupported, "unknown request");
}

Result<std::string> all_of_input() {
  std::string text;
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got == 0) return text;
    if (got < 0 || text.size() > 2 * most_request_bytes)
      return fail(ErrorCode::invalid, "no order to read");
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(reply_to, text.data(), text.size());
    if (done <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

/// What the reader says to a question, however long that takes: it keeps the time. "": nothing.
std::string answer_of_reader(std::string_view question) {
  if (!write_all(json_text(question) + "\n")) return "";
  std::string line;
  std::array<char, 1 << 16> buffer{};
  while (!line.ends_with('\n')) {
    const ssize_t got = ::read(reply_to, buffer.data(), buffer.size());
    if (got <= 0 || line.size() > most_answer_bytes) return "";
    line.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text_in_json(line).value_or("");
}

Result<Document> answer_to_input(const settings::Environment& environment, const Clock& clock) {
  const auto text = all_of_input();
  if (!text) return tl::unexpected(text.error());
  auto order = read_work(*text);
  if (!order) return tl::unexpected(order.error());
  const auto asked = read_request(order->request);
  if (!asked) return tl::unexpected(asked.error());
  return answer_to(asked->request,
                   {std::move(order->settings), environment, clock, answer_of_reader});
}

}  // namespace

std::map<std::string, std::string> settings_of_answers(const settings::Settings& settings) {
  std::map<std::string, std::string> made;
  for (const char* key : {"rules", "diagnose.doubtful_below_pct", "estimate", "similarity",
                          "time_limit.risk_pct", "time_limit.longest_s"})
    made[key] = settings.text(key);
  if (!service::uses_models(settings)) return made;
  for (const char* key :
       {"llm.use", "agent.samples", "agent.tool_calls", "agent.tokens", "agent.answer_tokens",
        "agent.doubtful_below_pct", "agent.deadline_s", "seed"})
    made[key] = settings.text(key);
  for (const std::string& name : settings.models()) {
    made[fmt::format("llm.{}.kind", name)] = ChatSettings().kind;
    for (const auto& [key, value] : settings.model(name))
      if (key == "kind" || key == "context_tokens")
        made[fmt::format("llm.{}.{}", name, key)] = value;
  }
  return made;
}

Result<Document> answer_to(const Request& request, const WorkPlace& place) {
  const auto session = session_at(place, request.models);
  if (!session) return tl::unexpected(session.error());
  return without_secrets(answer_in(*session, request));
}

int work(const settings::Environment& environment, const Clock& clock) {
  // What the kernel does not offer is no reason not to read: the rights are the user's either way.
  static_cast<void>(tree::deny_writing_files());
  std::string line;
  try {
    line = reply_line(answer_to_input(environment, clock));
  } catch (const std::bad_alloc&) {
    line = reply_line(fail(ErrorCode::invalid, "reading this needs more memory than it may have"));
  } catch (const std::exception& error) {
    line = reply_line(fail(ErrorCode::invalid,
                           fmt::format("reading failed: {}", secrets::safe_line(error.what()))));
  }
  return write_all(line + "\n") ? 0 : 1;
}

}  // namespace schedmate::reader
