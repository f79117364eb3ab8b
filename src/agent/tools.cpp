// SPDX-License-Identifier: Apache-2.0
#include "agent/tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "agent/binding.hpp"
#include "base/text.hpp"
#include "secrets/redact.hpp"
#include "tree/names.hpp"

namespace schedmate::agent {
namespace {

constexpr std::size_t longest_line = 300;
constexpr std::size_t files_of_a_kind = 12;
constexpr std::size_t most_hits = 40;
constexpr std::size_t most_searched = 600;
constexpr std::size_t largest_searched = 1 << 20;

std::string_view suffix_of(std::string_view path) {
  const std::string_view base = path.substr(path.rfind('/') + 1);
  const std::size_t dot = base.rfind('.');
  return dot == std::string_view::npos ? "" : base.substr(dot);
}

bool is_binary_name(std::string_view path) {
  constexpr std::array<std::string_view, 34> suffixes = {
      ".png", ".jpg", ".jpeg", ".gif", ".svg",         ".ico",     ".pdf",  ".zip",  ".gz",
      ".xz",  ".tar", ".bz2",  ".pt",  ".pth",         ".bin",     ".ckpt", ".onnx", ".npy",
      ".npz", ".pkl", ".h5",   ".so",  ".o",           ".whl",     ".mp4",  ".wav",  ".mp3",
      ".ttf", ".pyc", ".lock", ".log", ".safetensors", ".parquet", ".arrow"};
  return std::ranges::find(suffixes, suffix_of(path)) != suffixes.end();
}

std::string cut(std::string_view line) {
  if (line.size() <= longest_line) return std::string(line);
  std::size_t end = longest_line;
  while (end > 0 && (line[end] & '\xC0') == '\x80') --end;
  return std::string(line.substr(0, end)) + "...";
}

/// Appends while there is room; false when there was none.
bool append(std::string& out, const std::string& line, std::size_t most_bytes) {
  if (out.size() + line.size() + 1 > most_bytes) return false;
  out += line;
  out += '\n';
  return true;
}

}  // namespace

bool is_shown(std::string_view path) {
  return !tree::is_secret_path(path) && !tree::is_agent_text(path) && !is_binary_name(path);
}

std::string Toolbox::use(const ToolCall& call, std::size_t most_bytes) {
  switch (call.tool) {
    case Tool::file_tree:
      return file_tree(call, most_bytes);
    case Tool::file_read:
      return file_read(call, most_bytes);
    case Tool::search:
      return search(call, most_bytes);
  }
  return {};
}

std::string Toolbox::file_tree(const ToolCall& call, std::size_t most_bytes) {
  const auto folder = tree::join_path("", call.path);
  if (!folder || (!folder->empty() && !tree_.is_folder(*folder))) return "no such folder\n";
  std::string out;
  bool room = true;
  std::map<std::string, std::size_t, std::less<>> seen;  // files by suffix
  const std::vector<tree::TreeEntry> entries = tree_.list(*folder);
  for (const tree::TreeEntry& entry : entries) {
    if (!entry.is_folder || !is_shown(entry.path)) continue;
    const std::size_t inside = tree_.list(entry.path).size();
    room = room && append(out, fmt::format("{}/  ({} entries)", entry.path, inside), most_bytes);
  }
  for (const tree::TreeEntry& entry : entries) {
    if (entry.is_folder || !is_shown(entry.path)) continue;
    if (++seen[std::string(suffix_of(entry.path))] > files_of_a_kind) continue;
    room = room && append(out, fmt::format("{}  ({} bytes)", entry.path, entry.bytes), most_bytes);
  }
  for (const auto& [suffix, count] : seen) {
    if (count <= files_of_a_kind) continue;
    append(out, fmt::format("... and {} more {} files", count - files_of_a_kind, suffix),
           most_bytes);
  }
  if (!room) append(out, "... and more: name a folder", most_bytes + 40);
  return out.empty() ? "an empty folder\n" : out;
}

const std::vector<std::string>* Toolbox::clean_lines(const std::string& path, std::string& why) {
  const auto known = clean_.find(path);
  if (known != clean_.end()) return &known->second;
  if (!is_shown(path)) {
    why = "this file is not shown\n";
    return nullptr;
  }
  const auto file = tree_.read(path);
  if (!file) {
    why = "cannot be read: " + file.error().message + '\n';
    return nullptr;
  }
  std::vector<std::string>& lines = clean_[path];
  const std::string clean = secrets::redact((*file)->text);
  for (const std::string_view line : split(clean, '\n')) lines.push_back(cut(line));
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return &lines;
}

std::string Toolbox::file_read(const ToolCall& call, std::size_t most_bytes) {
  const auto path = tree::join_path("", call.path);
  if (!path) return "the path leaves the job's root\n";
  std::string why;
  const auto* lines = clean_lines(*path, why);
  if (lines == nullptr) return why;
  const auto count = static_cast<int>(lines->size());
  const int from = std::clamp(call.from, 1, std::max(count, 1));
  const int to = call.to < from ? count : std::min(call.to, count);
  std::string out;
  int line = from;
  for (; line <= to; ++line) {
    const std::string& text = (*lines)[static_cast<std::size_t>(line) - 1];
    if (!append(out, fmt::format("{}: {}", line, text), most_bytes)) break;
  }
  if (line <= to) {
    out += fmt::format("(lines {} to {} of {} left out: read them by `from` and `to`)\n", line, to,
                       count);
  }
  return out.empty() ? "an empty file\n" : out;
}

std::string Toolbox::search(const ToolCall& call, std::size_t most_bytes) {
  const std::string wanted = lower_case(trim(call.query));
  if (wanted.empty()) return "`query` is empty: give a word to look for\n";
  const auto folder = tree::join_path("", call.path);
  if (!folder) return "the path leaves the job's root\n";
  std::string out, why;
  std::size_t hits = 0, searched = 0;
  const auto look_into = [&](const std::string& path) {
    const auto* lines = clean_lines(path, why);
    if (lines == nullptr) return true;
    for (std::size_t i = 0; i < lines->size() && hits < most_hits; ++i) {
      if (lower_case((*lines)[i]).find(wanted) == std::string::npos) continue;
      ++hits;
      if (!append(out, fmt::format("{}:{}: {}", path, i + 1, trim((*lines)[i])), most_bytes)) {
        return false;
      }
    }
    return hits < most_hits;
  };
  if (tree_.is_file(*folder)) {
    look_into(*folder);
    return out.empty() ? "nothing found\n" : out;
  }
  for (const tree::TreeEntry& entry : tree_.walk(*folder)) {
    if (entry.is_folder || entry.bytes > largest_searched) continue;
    if (text_kind(entry.path) == TextKind::other || !is_shown(entry.path)) continue;
    if (++searched > most_searched || !look_into(entry.path)) {
      out += "... and more: search in a folder or a file\n";
      break;
    }
  }
  return out.empty() ? "nothing found\n" : out;
}

}  // namespace schedmate::agent
