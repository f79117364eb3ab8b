// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What SchedMate adds to a Slurm when an operator asks for it: blocks of slurm.conf between two
/// marks, and files beside it. Each carries a seal, the hash of what it holds, so that what people
/// changed since is never taken for our own.

#include <cstdint>
#include <functional>
#include <optional>
#include <schedmate/result.hpp>
#include <string>
#include <string_view>

namespace schedmate::slurm {

struct ConfHooks {
  bool lua = false;      ///< job_submit/lua is among JobSubmitPlugins
  std::string epilog{};  ///< EpilogSlurmctld; "": none
};

/// The text of a file that slurm.conf includes.
using ReadInclude = std::function<Result<std::string>(const std::string& name)>;

/// slurm.conf with the hooks; as it is where they stand there already. `text` has none of ours.
/// Errors: invalid (no slurm.conf, a setting that is not understood), conflict (another
/// EpilogSlurmctld; an included file has the setting).
[[nodiscard]] Result<std::string> with_hooks(const std::string& text, const ConfHooks& hooks,
                                             const ReadInclude& read_include);

/// slurm.conf as it was, with what people changed since. Errors: conflict (they changed what stands
/// between the marks).
[[nodiscard]] Result<std::string> without_hooks(const std::string& text);

/// The last value of a setting; "": there is none. `key` in small letters.
[[nodiscard]] std::string conf_value(std::string_view text, std::string_view key);

/// Whether such a value of JobSubmitPlugins has job_submit/lua.
[[nodiscard]] bool loads_lua(std::string_view plugins);

/// job_submit.lua; `site`: path of the site's own, which it calls; "": there is none. Errors:
/// invalid (a path that cannot stand in a string).
[[nodiscard]] Result<std::string> job_submit_text(const std::string& site);
/// A program for EpilogSlurmctld that says "look now" on this port of the machine.
[[nodiscard]] std::string epilog_text(std::int64_t port);

enum class Seal : unsigned char { none, whole, broken };
/// Of a text that job_submit_text() or epilog_text() may have given.
[[nodiscard]] Seal seal_of(std::string_view text);

}  // namespace schedmate::slurm
