// SPDX-License-Identifier: Apache-2.0
#include "ray_live/logs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"

namespace schedmate::ray_live {
namespace {

constexpr int most_lines = 1000;
constexpr std::uint64_t most_kept = std::uint64_t{64} << 20U;  // of one job
constexpr std::string_view gap = "schedmate: lines are missing here\n";

/// Whole lines; all of it once nothing more comes. Of lines that are very long, the last ones.
std::string_view complete(std::string_view text, bool is_over) {
  constexpr std::size_t most = std::size_t{1} << 20U;
  if (!is_over) text = text.substr(0, text.rfind('\n') + 1);
  if (text.size() <= most) return text;
  text = text.substr(text.size() - most);
  return text.substr(text.find('\n') + 1);
}

Result<void> append(const std::string& path, std::string_view text) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644));
  while (file && !text.empty()) {
    const ssize_t written = ::write(file.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file && text.empty()) return {};
  return fail(ErrorCode::unavailable, fmt::format("{}: {}", path, std::strerror(errno)));
}

/// What was written last, of an earlier process.
std::string end_of_file(const std::string& path) {
  constexpr off_t enough = 1 << 20;
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.number(), &status) != 0) return {};
  const off_t from = std::max<off_t>(0, status.st_size - enough);
  std::string text(static_cast<std::size_t>(status.st_size - from), '\0');
  const ssize_t read = ::pread(file.number(), text.data(), text.size(), from);
  text.resize(read < 0 ? 0 : static_cast<std::size_t>(read));
  return from == 0 ? text : text.substr(text.find('\n') + 1);
}

}  // namespace

std::string new_of(std::string_view before, std::string_view now) {
  if (before.empty()) return std::string(now);
  // The longest end of `before` with which `now` begins: the failure function of now + before.
  const std::size_t most = std::min(before.size(), now.size());
  const std::string_view head = now.substr(0, most), tail = before.substr(before.size() - most);
  std::vector<std::size_t> border(head.size(), 0);
  const auto step = [&](std::size_t matched, char c) {
    while (matched > 0 && (matched == head.size() || head[matched] != c))
      matched = border[matched - 1];
    return matched < head.size() && head[matched] == c ? matched + 1 : matched;
  };
  for (std::size_t i = 1; i < head.size(); ++i) border[i] = step(border[i - 1], head[i]);
  std::size_t matched = 0;
  for (const char c : tail) matched = step(matched, c);
  // A common end that is no whole line is chance.
  const bool is_line = matched > 0 && head[matched - 1] == '\n';
  if (is_line || now.empty()) return std::string(now.substr(matched));
  return std::string(gap) + std::string(now);
}

std::string Logs::path_of(const std::string& job) const {
  return folder_.empty() ? "" : fmt::format("{}/{}.log", folder_, job);
}

Result<void> Logs::fetch(const Attempt& attempt, const Head& head, Head::Until until) {
  if (folder_.empty() || attempt.node.empty()) return {};
  const std::string path = path_of(attempt.job);
  Last& last = last_[attempt.job];
  if (last.ray_id != attempt.ray_id) {
    const bool is_first = last.ray_id.empty();  // of this process
    last = {.ray_id = attempt.ray_id, .lines = is_first ? end_of_file(path) : ""};
  }
  if (last.written > most_kept) return {};
  auto text = head.get(
      fmt::format("/api/v0/logs/file?node_id={}&filename=job-driver-{}.log&lines={}&format=text",
                  attempt.node, attempt.ray_id, most_lines),
      until);
  if (!text) return tl::unexpected(text.error());
  const std::string_view now = complete(*text, attempt.is_over);
  std::string fresh = new_of(last.lines, now);
  last.written += fresh.size();
  if (last.written > most_kept) fresh = "schedmate: it is longer than what is kept here\n";
  if (auto written = append(path, fresh); !written) return written;
  if (!now.empty()) last.lines = now;
  return {};
}

}  // namespace schedmate::ray_live
