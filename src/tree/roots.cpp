// SPDX-License-Identifier: Apache-2.0
#include "tree/roots.hpp"

#include "base/text.hpp"

namespace schedmate::tree {

void RootNames::add(std::string_view as, std::string_view folder) {
  while (as.size() > 1 && as.ends_with('/')) as.remove_suffix(1);
  names_.emplace(as, folder == "." ? "" : folder);
}

const std::pair<const std::string, std::string>* RootNames::match(std::string_view path) const {
  const std::pair<const std::string, std::string>* found = nullptr;
  for (const auto& name : names_) {
    const std::string& as = name.first;
    if (!path.starts_with(as) || (path.size() > as.size() && path[as.size()] != '/')) continue;
    if (found == nullptr || as.size() > found->first.size()) found = &name;
  }
  return found;
}

std::optional<std::string> RootNames::inside(std::string_view path) const {
  const auto* const name = match(path);
  if (name == nullptr) return std::nullopt;
  path.remove_prefix(name->first.size());
  while (path.starts_with('/')) path.remove_prefix(1);
  std::string made = name->second;
  if (!made.empty() && !path.empty()) made += '/';
  made += path;
  return made.empty() ? "." : made;
}

std::string RootNames::replaced(std::string_view text, std::string_view mark) const {
  constexpr std::string_view breaks = " \t\n=:,;'\"@";
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const bool starts = text[at] == '/' && (at == 0 || breaks.contains(text[at - 1]));
    if (!starts) {
      made += text[at++];
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(breaks, at), text.size());
    const auto path = text.substr(at, end - at);
    const auto found = inside(path);
    if (!found) made += path;
    if (found) made.append(mark).append(*found == "." ? "" : "/" + *found);
    at = end;
  }
  return made;
}

}  // namespace schedmate::tree
