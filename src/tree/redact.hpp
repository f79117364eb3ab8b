// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Secrets and personal paths out of texts that leave the process.
///
/// redact() is for whole texts, before anything is cut out of them: half a key is not recognised.
/// It knows keys by their form (sk-..., ghp_..., JWT, private key blocks, ...) and by what they are
/// assigned to (password = ..., --api-key ..., Authorization: ...). What is plainly no secret stays
/// (hashes of commits, `max_tokens=512`, `${TOKEN}`, `pad_token: "<pad>"`).

#include <string>
#include <string_view>

namespace schedmate::tree {

inline constexpr std::string_view redaction_mark = "[redacted]";

/// Each secret becomes the mark and keeps its line ends, so that line numbers stay. Linear in the
/// text.
[[nodiscard]] std::string redact(std::string_view text);

/// Paths of people and clusters shortened to their last two parts without the name of the person,
/// since two unrelated jobs look alike by the folder they lie in. For texts that are embedded.
[[nodiscard]] std::string strip_paths(std::string_view text);

}  // namespace schedmate::tree
