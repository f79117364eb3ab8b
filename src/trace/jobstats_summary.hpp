// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The summary that the job statistics platform "jobstats" leaves in a job's AdminComment: "JS1:"
/// and base64 of gzip of JSON, with what each node and GPU was used. Sites that run it know GPU use
/// that Slurm itself does not count.

#include <schedmate/accounting.hpp>
#include <string>
#include <string_view>

namespace schedmate::trace {

/// Takes over what the comment says. Gives AccountedJob::unread: why one that is marked as a
/// summary was not read in full, as when it is damaged or unreasonably long; what was not read
/// changes nothing. "" for any other comment, and for the marks of jobstats that it measured
/// nothing.
[[nodiscard]] std::string read_summary(std::string_view comment, AccountedUse& use);

}  // namespace schedmate::trace
