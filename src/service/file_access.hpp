// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How a use case opens the files and trees that its request names, and what it left out of them.

#include <memory>
#include <schedmate/file_access.hpp>
#include <vector>

#include "advisor/versions.hpp"
#include "base/document.hpp"
#include "settings/session.hpp"

namespace schedmate::service {

/// Sentences of FileAccess::note, each once. Shared by the copies of an access.
using LeftOut = std::shared_ptr<std::vector<std::string>>;

struct RequestFiles {
  FileAccess access;
  LeftOut left_out = std::make_shared<std::vector<std::string>>();
};

/// As the user of the setting `reader`, else with the rights of this process. Errors: not_found (no
/// such user).
[[nodiscard]] Result<RequestFiles> request_files(const settings::Session& session);

/// For a file that somebody's record names: as its owner, where this process is root and no reader
/// was given. A user that this system does not know changes nothing.
[[nodiscard]] FileAccess as_owner(FileAccess access, const std::string& user);

/// A job's tree as the Version Manager reaches it: as extract_facts() does, in a confined child
/// with the rights of the reader.
[[nodiscard]] advisor::TreeAccess confined_tree(const Identity& who = {});

/// `left_out`, when something was.
void add_left_out(const std::vector<std::string>& left_out, Document& document);

}  // namespace schedmate::service
