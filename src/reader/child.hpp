// SPDX-License-Identifier: Apache-2.0
#pragma once

/// One reading in a process of its own: it becomes the user, takes limits on, and then is another
/// program (`schedmate-reader --work`), so that nothing of another user's requests is in its
/// memory.

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <schedmate/result.hpp>
#include <string>

#include "base/descriptor.hpp"

namespace schedmate::reader {

struct ChildLimits {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30U;  ///< of address space; 0: any
  std::chrono::seconds cpu{20};                          ///< of each process
  std::uint64_t processes = 512;  ///< that its user may have in all, threads included
  std::uint64_t files = 256;      ///< open at a time
  std::uint64_t file_bytes = std::uint64_t{4} << 20U;  ///< of a file that it writes
  std::chrono::seconds wall{20};                       ///< after which its own alarm ends it
  uid_t least_user = 1000;  ///< lower ones are nobody's who has jobs; but for the reader's own
};

struct ChildOrder {
  std::string user;
  std::string request;                          ///< the line
  std::map<std::string, std::string> settings;  ///< of those that decide an answer
  std::string program;                          ///< "": this one
  ChildLimits limits{};
};

struct StartedChild {
  pid_t number = -1;  ///< of the process and of its group
  Descriptor says{};  ///< what it writes; see ChildSays. What is written there it reads
};

/// Errors: unavailable (no process, no memory).
[[nodiscard]] Result<StartedChild> start_child(const ChildOrder& order);

/// What a child writes: first "user N" and a line end, before it reads anything; then lines that
/// begin with a quotation mark, its questions (question.hpp), and its reply.
struct ChildSays {
  std::string bytes{};
  bool too_much = false;
  /// False: it will say no more.
  bool read_from(int file);
  [[nodiscard]] std::optional<uid_t> user() const;
  /// What stands after the user's line.
  [[nodiscard]] std::string_view rest() const;
  /// The next question, which is taken out. Whoever asks says no more until there is an answer.
  std::optional<std::string> take_question();
  /// The line after the first; nothing unless it is whole, and the last.
  [[nodiscard]] std::optional<std::string_view> reply() const;
};

/// A file without a name that holds the text, at its beginning; none where there is no room.
[[nodiscard]] Descriptor held_text(std::string_view text);

/// In a child, as its standard input holds them.
struct WorkOrder {
  std::string request;
  std::map<std::string, std::string> settings;
};
[[nodiscard]] std::string work_text(const WorkOrder& order);
/// Errors: invalid.
[[nodiscard]] Result<WorkOrder> read_work(std::string_view text);

}  // namespace schedmate::reader
