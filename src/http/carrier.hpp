// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Threads that read the bodies of admitted requests and write replies and streams. The one place
/// that knows libmicrohttpd, which sees no request that read_head() and admit() have not let
/// through.

#include <memory>
#include <schedmate/result.hpp>

#include "base/descriptor.hpp"
#include "http/traffic.hpp"

namespace schedmate::http {

/// What every reply carries, besides its own.
[[nodiscard]] const Headers& common_headers();

class Carrier {
 public:
  /// Errors: unavailable.
  [[nodiscard]] static Result<std::unique_ptr<Carrier>> start(std::shared_ptr<Traffic> traffic,
                                                              unsigned threads);
  virtual ~Carrier() = default;  ///< closes what is open; all of it must have been ended before
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  /// A connection that the traffic has an exchange for, of which nothing was read yet.
  virtual void take(Descriptor connection) = 0;
};

}  // namespace schedmate::http
