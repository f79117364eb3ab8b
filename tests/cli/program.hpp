// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Runs the real program, as a shell would, in a folder that goes away again.

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace schedmate {

struct Ran {
  int status = 0;  ///< exit code
  std::string out;
  std::string err;
};

class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string path(std::string_view name) const;
  /// Writes a file of this folder and returns its path.
  std::string write(std::string_view name, std::string_view text) const;
  [[nodiscard]] std::string read(std::string_view name) const;
  /// Names of the files in a folder below, sorted.
  [[nodiscard]] std::vector<std::string> files(std::string_view folder) const;

  /// "NAME=value": what the program finds in its environment beside HOME.
  std::vector<std::string> variables{};

  /// Runs the program here with $HOME here, and waits for it.
  [[nodiscard]] Ran run(const std::vector<std::string>& arguments) const;
  /// Starts it and goes on; `end` sends the signal and gives the exit code.
  [[nodiscard]] pid_t start(const std::vector<std::string>& arguments) const;
  static int end(pid_t process, int signal_number);
  /// A line of /bin/sh here, where "schedmate" is the program.
  [[nodiscard]] Ran shell(const std::string& line) const;

 private:
  [[nodiscard]] pid_t start_words(std::vector<std::string> words) const;
  std::filesystem::path folder_;
};

/// Whole text of a file; "" when it is absent.
[[nodiscard]] std::string contents(const std::string& path);

/// The flags that name the model at this address, and `more`.
[[nodiscard]] std::vector<std::string> with_model(const std::string& url,
                                                  const std::vector<std::string>& more = {});

/// "helios:PATH" of the bundled Venus days.
[[nodiscard]] std::string venus();

}  // namespace schedmate
