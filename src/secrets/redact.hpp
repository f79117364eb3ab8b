// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Secrets and personal paths out of texts that leave the process.
///
/// This is for whole texts, before anything is cut out of them: half a key is not recognised. Keys
/// are known by their form (sk-..., ghp_..., JWT, private key blocks, ...), by the name that they
/// are given to (password = ..., --hub_token ..., Authorization: ..., also on the next line), and
/// by commands (`curl -u user:...`). What is plainly no secret stays (hashes of commits,
/// `max_tokens=512`, `${TOKEN}`, `pad_token: "<pad>"`). docs/secrets.md lists what is recognised.

#include <string>
#include <string_view>
#include <vector>

namespace schedmate::secrets {

inline constexpr std::string_view redaction_mark = "[redacted]";

/// Each secret becomes the mark and keeps its line ends, so that line numbers stay. A value that is
/// found secret once is masked wherever else it stands in the text, unless it is short or a plain
/// word. Linear in the text.
[[nodiscard]] std::string redact(std::string_view text);

/// Secrets of whole texts, for parts of them that are shown apart: a line of a log knows nothing of
/// the key block that it is a part of. Not for several threads at once.
class KnownSecrets {
 public:
  /// Remembers the secrets of a text. Beyond 10,000 values further ones are not kept.
  void learn(std::string_view text);
  /// redact(), and the values that were learnt.
  [[nodiscard]] std::string redact(std::string_view text) const;

 private:
  std::vector<std::string> values_;  ///< sorted, each once
};

/// Paths of people and clusters shortened to their last two parts without the name of the person,
/// since two unrelated jobs look alike by the folder they lie in. For texts that are embedded.
[[nodiscard]] std::string strip_paths(std::string_view text);

}  // namespace schedmate::secrets
