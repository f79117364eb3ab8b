// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"
#include "secrets/redact.hpp"
#include "secrets/spans.hpp"

namespace schedmate::secrets {
namespace {

constexpr std::size_t kept_parts = 2;

constexpr bool is_path_letter(char c) {
  return is_word(c) || static_cast<unsigned char>(c) >= 0x80 ||
         std::string_view("-./+@%~=").find(c) != std::string_view::npos;
}

/// How many parts at the start of an absolute path say where, or whose, and not what. 0: the path
/// is the same everywhere (/usr, /etc, /proc) and stays.
std::size_t private_parts(const std::vector<std::string_view>& parts) {
  constexpr std::array<std::string_view, 3> homes = {"home", "Users", "user"};
  constexpr std::array<std::string_view, 26> clusters = {
      "share", "shared",    "scratch", "gpfs",     "lustre", "mnt",      "nfs",
      "work",  "workspace", "project", "projects", "data",   "datasets", "storage",
      "fsx",   "efs",       "cluster", "lfs",      "home1",  "home2",    "home3",
      "ceph",  "beegfs",    "media",   "raid",     "root"};
  for (std::size_t i = 0; i < parts.size() && i < 3; ++i) {
    if (std::ranges::find(homes, parts[i]) != homes.end()) return i + 2;
  }
  return std::ranges::find(clusters, parts.front()) != clusters.end() ? 1 : 0;
}

std::string shortened(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : split(path, '/')) {
    if (!part.empty()) parts.push_back(part);
  }
  const std::size_t drop = parts.empty() ? 0 : private_parts(parts);
  if (drop == 0) return std::string(path);
  std::size_t from = std::min(drop, parts.size());
  if (parts.size() - from > kept_parts) from = parts.size() - kept_parts;
  std::string out = "~";
  for (; from < parts.size(); ++from) out.append("/").append(parts[from]);
  return out;
}

}  // namespace

std::string strip_paths(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view before = text.substr(0, at);
    // "a/b" and "http://x" have no path from the root in them, "--out=/a" and "file:///a" do.
    const bool in_url = before.ends_with(':') && text.substr(at).starts_with("//");
    const bool is_local = before.ends_with("file:");
    const bool starts = text[at] == '/' && (!in_url || is_local) &&
                        (at == 0 || text[at - 1] == '=' || !is_path_letter(text[at - 1]));
    std::size_t end = at + 1;
    if (starts) {
      while (end < text.size() && is_path_letter(text[end])) ++end;
      out += shortened(text.substr(at, end - at));
    } else {
      if (in_url) end = std::min(text.find_first_not_of('/', at), text.size());
      out += text.substr(at, end - at);
    }
    at = end;
  }
  return out;
}

}  // namespace schedmate::secrets
