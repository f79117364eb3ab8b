// SPDX-License-Identifier: Apache-2.0
#include "http/peers.hpp"

#include <numeric>
#include <utility>

namespace schedmate::http {

Room Peers::enter(const std::string& peer, Standing standing, PeerSlot& slot) {
  const std::scoped_lock lock(mutex_);
  const bool moves = slot.peers_ != nullptr;
  if (moves) remove(slot);
  const Room room = room_for(peer, standing);
  if (room == Room::there_is) {
    slot.peers_ = shared_from_this();
    slot.peer_ = peer;
    slot.standing_ = standing;
  } else if (!moves) {
    return room;
  }
  add(slot.peer_, slot.standing_);
  return room;
}

Room Peers::room_for(const std::string& peer, Standing standing) const {
  const std::size_t all = bounds_.connections;
  const std::array<std::size_t, 3> most{all - all / 4, all - all / 16, all};
  std::size_t taken = 0;
  for (std::size_t i = 0; i < most.size(); ++i) {
    taken += places_.at(i);
    if (i >= static_cast<std::size_t>(standing) && taken >= most.at(i)) return Room::none;
  }
  const auto found = holds_.find(peer);
  const bool is_full =
      found != holds_.end() && found->second.connections >= bounds_.connections_per_peer;
  return is_full ? Room::none_for_peer : Room::there_is;
}

void Peers::add(const std::string& peer, Standing standing) {
  ++holds_[peer].connections;
  ++places_.at(static_cast<std::size_t>(standing));
}

void Peers::remove(const PeerSlot& slot) {
  const auto found = holds_.find(slot.peer_);
  found->second.bytes -= slot.bytes_;
  bytes_ -= slot.bytes_;
  --places_.at(static_cast<std::size_t>(slot.standing_));
  if (--found->second.connections == 0) holds_.erase(found);
}

std::size_t Peers::connections() const {
  const std::scoped_lock lock(mutex_);
  return std::accumulate(places_.begin(), places_.end(), std::size_t{0});
}

Room Peers::add_bytes(const std::string& peer, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  Holds& holds = holds_[peer];
  if (bytes_ + bytes > bounds_.body_bytes) return Room::none;
  if (holds.bytes + bytes > bounds_.body_bytes_per_peer) return Room::none_for_peer;
  holds.bytes += bytes;
  bytes_ += bytes;
  return Room::there_is;
}

void Peers::leave(const PeerSlot& slot) {
  const std::scoped_lock lock(mutex_);
  remove(slot);
}

PeerSlot& PeerSlot::operator=(PeerSlot&& other) noexcept {
  if (this == &other) return *this;
  leave();
  peers_ = std::move(other.peers_);
  peer_ = std::move(other.peer_);
  standing_ = other.standing_;
  bytes_ = std::exchange(other.bytes_, 0);
  other.peers_ = nullptr;
  return *this;
}

Room PeerSlot::reserve(std::size_t bytes) {
  if (bytes == 0 || !peers_) return Room::there_is;
  const Room room = peers_->add_bytes(peer_, bytes);
  if (room == Room::there_is) bytes_ += bytes;
  return room;
}

void PeerSlot::leave() {
  if (!peers_) return;
  peers_->leave(*this);
  peers_ = nullptr;
}

}  // namespace schedmate::http
