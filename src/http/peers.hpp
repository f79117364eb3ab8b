// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What each peer (a uid, an address) has at the server now, so that no one takes all of it. Any
/// thread may call.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace schedmate::http {

struct PeerBounds {
  std::size_t connections = 2048;
  std::size_t connections_per_peer = 256;
  std::size_t body_bytes = 64U << 20U;  ///< as announced, until the connection ends
  std::size_t body_bytes_per_peer = 16U << 20U;
};

enum class Room : std::uint8_t { there_is, none_for_peer, none };

class PeerSlot;

class Peers : public std::enable_shared_from_this<Peers> {
 public:
  explicit Peers(const PeerBounds& bounds) : bounds_(bounds) {}
  /// A place for one connection, into `slot`.
  [[nodiscard]] Room enter(const std::string& peer, PeerSlot& slot);
  [[nodiscard]] std::size_t connections() const;

 private:
  friend class PeerSlot;
  struct Holds {
    std::size_t connections = 0;
    std::size_t bytes = 0;
  };
  Room add_bytes(const std::string& peer, std::size_t bytes);
  void leave(const std::string& peer, std::size_t bytes);

  mutable std::mutex mutex_;
  PeerBounds bounds_;
  std::map<std::string, Holds> holds_;
  Holds all_;
};

/// The place of one connection, given back at its end.
class PeerSlot {
 public:
  PeerSlot() = default;
  PeerSlot(PeerSlot&& other) noexcept { *this = std::move(other); }
  PeerSlot& operator=(PeerSlot&& other) noexcept;
  PeerSlot(const PeerSlot&) = delete;
  PeerSlot& operator=(const PeerSlot&) = delete;
  ~PeerSlot() { leave(); }
  /// Room for a body, kept as long as the place.
  [[nodiscard]] Room reserve(std::size_t bytes);
  void leave();

 private:
  friend class Peers;
  std::shared_ptr<Peers> peers_;
  std::string peer_;
  std::size_t bytes_ = 0;
};

}  // namespace schedmate::http
