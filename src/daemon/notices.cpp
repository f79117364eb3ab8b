// SPDX-License-Identifier: Apache-2.0
#include "daemon/notices.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/child_process.hpp"
#include "base/descriptor.hpp"
#include "base/document.hpp"
#include "llm/http.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate::daemon {
namespace {

CallReply refused(std::string why) { return {CallOutcome::refused, std::move(why), {}}; }
CallReply unknown(std::string why) { return {CallOutcome::unknown, std::move(why), {}}; }

std::string message_of(int error) { return std::system_category().message(error); }

/// A file in memory that holds the text, to be read from its beginning.
Descriptor file_of(std::string_view text) {
  Descriptor file(::memfd_create("notice", MFD_CLOEXEC));
  if (!file) return file;
  if (::pwrite(file.number(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return Descriptor();
  return file;
}

/// The shell's process with `input` as its standard input. Errors: unavailable.
Result<ChildProcess> start_shell(const std::string& command, const Descriptor& input) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, input.number(), STDIN_FILENO);
  for (const int out : {1, 2})
    ::posix_spawn_file_actions_addopen(&files, out, "/dev/null", O_WRONLY, 0);
  std::string shell = "sh", option = "-c", words = command;
  std::string path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  std::array<char*, 4> arguments{shell.data(), option.data(), words.data(), nullptr};
  std::array<char*, 2> environment{path.data(), nullptr};
  pid_t child = -1;
  const int error =
      ::posix_spawn(&child, "/bin/sh", &files, nullptr, arguments.data(), environment.data());
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) return fail(ErrorCode::unavailable, "/bin/sh: " + message_of(error));
  return ChildProcess(child);
}

}  // namespace

std::string Notices::lack() const {
  if (!options_.webhook.empty() || !options_.mail_command.empty()) return "";
  return "neither notify.webhook nor notify.mail_command is set";
}

CallReply Notices::tell(const ActionCall& call) const {
  if (const std::string why = lack(); !why.empty()) return refused(why);
  CallReply told{CallOutcome::done, "", {}};
  const auto add = [&](const CallReply& reply) {
    told.outcome = std::max(told.outcome, reply.outcome);
    told.text += (told.text.empty() ? "" : "; ") + reply.text;
  };
  if (!options_.webhook.empty()) add(post(call));
  if (!options_.mail_command.empty()) add(mail(call));
  return told;
}

CallReply Notices::post(const ActionCall& call) const {
  const auto url = llm::parse_url(options_.webhook);
  if (!url) return refused("setting notify.webhook: " + url.error().message);
  const Document notice{{"schema", "schedmate.notice.v1"},
                        {"cluster", options_.cluster},
                        {"user", call.user},
                        {"job", call.job},
                        {"text", secrets::safe_line(call.text)}};
  llm::HttpLimits limits;
  limits.deadline = options_.deadline;
  const auto reply = llm::post_json({*url, "", std::nullopt, ""}, "", in_one_line(notice), limits);
  if (!reply) return unknown("webhook: " + reply.error().message);
  constexpr int good = 200, not_good = 300;
  if (reply->status < good || reply->status >= not_good)
    return refused(fmt::format("webhook: it answered with status {}", reply->status));
  return {CallOutcome::done, "posted", {}};
}

CallReply Notices::mail(const ActionCall& call) const {
  const Descriptor input = file_of(
      fmt::format("To: {}\nSubject: SchedMate on {}{}{}\nContent-Type: text/plain; "
                  "charset=utf-8\n\n{}\n",
                  secrets::safe_line(call.user), options_.cluster, call.job.empty() ? "" : ": job ",
                  secrets::safe_line(call.job), secrets::safe_line(call.text)));
  if (!input) return refused("mail: " + message_of(errno));
  auto child = start_shell(options_.mail_command, input);
  if (!child) return refused("mail: " + child.error().message);
  if (!child->ended_by(Deadline(options_.deadline)))
    return unknown("mail: notify.mail_command does not end");
  if (!WIFEXITED(child->status()) || WEXITSTATUS(child->status()) != 0)
    return refused(fmt::format(
        "mail: notify.mail_command ends with {}",
        WIFEXITED(child->status()) ? WEXITSTATUS(child->status()) : -WTERMSIG(child->status())));
  return {CallOutcome::done, "mailed", {}};
}

}  // namespace schedmate::daemon
