// SPDX-License-Identifier: Apache-2.0
#include "apps/console.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/fold.hpp"
#include "base/words.hpp"
#include "secrets/outgoing.hpp"

namespace schedmate {
namespace {

constexpr std::size_t most_kept_back = 1U << 16U;

/// Opens what the shell left closed (>&-), in the direction that it is not used in.
void hold(int descriptor, int wrong_direction) {
  if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) return;
  const int file = ::open("/dev/null", wrong_direction | O_CLOEXEC);
  if (file < 0 || file == descriptor) return;
  ::dup2(file, descriptor);
  ::close(file);
}

/// 0, or the errno with which it ended.
int write_all(int descriptor, std::string_view rest) {
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor, rest.data(), rest.size());
    if (written > 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno == EAGAIN) {  // somebody made the stream non-blocking
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      return written == 0 ? EIO : errno;
    }
  }
  return 0;
}

}  // namespace

Console::Console(int out, int err) : out_(out), err_(err) {
  hold(STDIN_FILENO, O_WRONLY);
  hold(out_, O_RDONLY);
  hold(err_, O_RDONLY);
  at_once_ = ::isatty(out_) == 1;
}

void Console::text(std::string_view text) { put(folded(for_terminal(text, styles_), columns_)); }

void Console::verbatim(std::string_view text) { put(for_terminal(text, styles_)); }

void Console::put(std::string_view text) {
  buffer_ += text;
  if (at_once_ || buffer_.size() > most_kept_back) flush();
}

void Console::json(const Document& document) { verbatim(indented(document) + "\n"); }

void Console::json_line(const Document& document) { verbatim(in_one_line(document) + "\n"); }

bool Console::flush() {
  if (error_ == 0) error_ = write_all(out_, buffer_);
  buffer_.clear();
  return error_ == 0;
}

void Console::warn(std::string_view message) {
  flush();  // in the order in which both were said
  write_all(err_, fmt::format("schedmate: {}\n", secrets::safe_line(message)));
}

void Console::draw(std::string_view text) const { write_all(err_, text); }

int Console::finish(int status) {
  constexpr int unavailable = exit_code(ErrorCode::unavailable);
  flush();
  // Some file systems report a full disk only here.
  if (::close(std::exchange(out_, -1)) != 0 && error_ == 0) error_ = errno;
  if (error_ == 0) return status;
  if (error_ == EPIPE) return 128 + SIGPIPE;
  warn(fmt::format("cannot write to standard output: {}", std::strerror(error_)));
  return status < 2 ? unavailable : status;
}

}  // namespace schedmate
