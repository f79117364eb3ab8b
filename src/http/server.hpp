// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The front door of a daemon: HTTP/1.1 on a unix socket, where the caller is the uid of the peer,
/// and on TCP, where a bearer token says who it is. Threads of its own read, check and write; what
/// the rows of routes.def allow goes to one handler, which answers now or later, from any thread.
/// One request a connection: what follows it is never read, so no proxy can be made to smuggle.
/// docs/http.md has the doors, roles, limits and errors.

#include <memory>
#include <schedmate/result.hpp>

#include "http/metrics.hpp"
#include "http/options.hpp"

namespace schedmate::http {

class Server {
 public:
  /// Errors: invalid (an address that is none), conflict (another process listens there),
  /// unavailable (the system's reason), and those of load_tokens().
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(const ServerOptions& options);
  virtual ~Server() = default;  ///< as stop()
  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  /// Of the TCP door, as the system chose it where the options say 0; 0 without one.
  [[nodiscard]] virtual int tcp_port() const = 0;
  [[nodiscard]] virtual const Counters& counters() const = 0;
  [[nodiscard]] virtual std::size_t connections() const = 0;  ///< that are open now
  /// Takes nothing new, answers 503 what waits, ends streams. All connections are closed within two
  /// seconds, then it returns.
  virtual void stop() = 0;
};

}  // namespace schedmate::http
