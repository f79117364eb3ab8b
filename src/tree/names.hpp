// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a path's name alone says about a file.

#include <string_view>

namespace schedmate::tree {

/// Files that hold keys and passwords by custom (.env, *.pem, id_rsa, .netrc, .git/, ...). They are
/// never read, whatever .schedmateignore says.
[[nodiscard]] bool is_secret_path(std::string_view path);

/// Text written for coding agents (AGENTS.md and the like). It says nothing about a job and is left
/// out, so that no model is addressed by it.
[[nodiscard]] bool is_agent_text(std::string_view path);

}  // namespace schedmate::tree
