// SPDX-License-Identifier: Apache-2.0
#include "service/file_access.hpp"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/words.hpp"
#include "settings/identity.hpp"

namespace schedmate::service {

Result<RequestFiles> request_files(const settings::Session& session) {
  RequestFiles files;
  if (const std::string reader = session.settings.text("reader"); !reader.empty()) {
    auto identity = settings::identity_of(reader);
    if (!identity) return tl::unexpected(identity.error());
    files.access.identity = *std::move(identity);
  }
  files.access.note = [left_out = files.left_out](const std::string& sentence) {
    auto text = printable(sentence);
    if (std::ranges::find(*left_out, text) == left_out->end()) left_out->push_back(std::move(text));
  };
  return files;
}

FileAccess as_owner(FileAccess access, const std::string& user) {
  if (::geteuid() != 0 || access.identity.user || user.empty()) return access;
  if (auto owner = settings::identity_of(user)) access.identity = *std::move(owner);
  return access;
}

void add_left_out(const std::vector<std::string>& left_out, Document& document) {
  if (!left_out.empty()) document["left_out"] = left_out;
}

}  // namespace schedmate::service
