// SPDX-License-Identifier: Apache-2.0
#include "settings/state_folder.hpp"

#include "base/own_files.hpp"

namespace schedmate::settings {

Result<bool> make_state_folder(const std::string& path) {
  return make_own_folder(path).map_error([&](const Error& error) {
    const bool refused = error.code == ErrorCode::refused;
    return Error{refused ? ErrorCode::refused : ErrorCode::unavailable,
                 "state folder " + error.message + "; choose another with --state-dir"};
  });
}

}  // namespace schedmate::settings
