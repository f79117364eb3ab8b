// SPDX-License-Identifier: Apache-2.0
#include "settings/state_folder.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

#include "base/folder_watch.hpp"
#include "base/own_files.hpp"

namespace schedmate::settings {
namespace {

Error with_remedy(const Session& session, const Error& error) {
  if (error.message.starts_with(session.state_dir() + ": "))
    return {error.code, "state folder " + error.message + "; choose another with --state-dir"};
  return {error.code, "store in " + error.message + "; choose another with --set store=..."};
}

/// Of the state, and of the store's file where that lies elsewhere.
std::vector<std::string> folders_of(const Session& session) {
  std::vector<std::string> folders{session.state_dir()};
  const std::string store = session.settings.text("store");
  constexpr std::string_view file = "sqlite:";
  if (store.starts_with(file)) {
    const auto folder = std::filesystem::path(store.substr(file.size())).parent_path();
    folders.push_back(folder.empty() ? "." : folder.string());
  }
  return folders;
}

}  // namespace

Result<bool> make_state_folder(const Session& session) {
  if (session.state_fault) return tl::unexpected(*session.state_fault);
  return make_own_folder(session.state_dir()).map_error([&](const Error& error) {
    const bool refused = error.code == ErrorCode::refused;
    return with_remedy(session,
                       {refused ? ErrorCode::refused : ErrorCode::unavailable, error.message});
  });
}

void ask_state_folder(Session& session) {
  const FolderWatch watch(folders_of(session));
  if (!watch.needed()) return;
  if (const auto answers = watch.ask(); !answers)
    session.state_fault = with_remedy(session, answers.error());
}

Result<std::optional<int>> watch_state_folder(Session& session) {
  const FolderWatch watch(folders_of(session));
  if (!watch.needed()) return std::nullopt;
  if (const auto answers = watch.ask(); !answers) {
    session.state_fault = with_remedy(session, answers.error());
    return std::nullopt;
  }
  return watch.go_on_in_child().map_error(
      [&](const Error& error) { return with_remedy(session, error); });
}

}  // namespace schedmate::settings
