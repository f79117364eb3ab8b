// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What each peer (a uid, the user of a token, else an address) has at the server now, so that no
/// one takes all of it, and strangers leave room for who is known. Any thread may call.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace schedmate::http {

/// Who is more may take what is kept from those who are less.
enum class Standing : std::uint8_t { stranger, known, cluster_operator };

struct PeerBounds {
  std::size_t connections = 2048;  ///< strangers may hold 3/4 of them, all but operators 15/16
  std::size_t connections_per_peer = 256;
  std::size_t body_bytes = 64U << 20U;  ///< as announced, until the connection ends
  std::size_t body_bytes_per_peer = 16U << 20U;
};

enum class Room : std::uint8_t { there_is, none_for_peer, none };

class PeerSlot;

class Peers : public std::enable_shared_from_this<Peers> {
 public:
  explicit Peers(const PeerBounds& bounds) : bounds_(bounds) {}
  /// A place for one connection, into `slot`, instead of the one that this has (before reserve()),
  /// which stays where there is no other.
  [[nodiscard]] Room enter(const std::string& peer, Standing standing, PeerSlot& slot);
  [[nodiscard]] std::size_t connections() const;

 private:
  friend class PeerSlot;
  struct Holds {
    std::size_t connections = 0;
    std::size_t bytes = 0;
  };
  Room add_bytes(const std::string& peer, std::size_t bytes);
  void leave(const PeerSlot& slot);
  // With the mutex held.
  [[nodiscard]] Room room_for(const std::string& peer, Standing standing) const;
  void add(const std::string& peer, Standing standing);
  void remove(const PeerSlot& slot);

  mutable std::mutex mutex_;
  PeerBounds bounds_;
  std::map<std::string, Holds> holds_;
  std::array<std::size_t, 3> places_{};  ///< taken, by standing
  std::size_t bytes_ = 0;
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
  Standing standing_ = Standing::stranger;
  std::size_t bytes_ = 0;
};

}  // namespace schedmate::http
