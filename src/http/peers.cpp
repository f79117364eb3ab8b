// SPDX-License-Identifier: Apache-2.0
#include "http/peers.hpp"

#include <utility>

namespace schedmate::http {

Room Peers::enter(const std::string& peer, PeerSlot& slot) {
  const std::scoped_lock lock(mutex_);
  if (all_.connections >= bounds_.connections) return Room::none;
  const auto found = holds_.find(peer);
  if (found != holds_.end() && found->second.connections >= bounds_.connections_per_peer)
    return Room::none_for_peer;
  ++holds_[peer].connections;
  ++all_.connections;
  slot.peers_ = shared_from_this();
  slot.peer_ = peer;
  return Room::there_is;
}

std::size_t Peers::connections() const {
  const std::scoped_lock lock(mutex_);
  return all_.connections;
}

Room Peers::add_bytes(const std::string& peer, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  Holds& holds = holds_[peer];
  if (all_.bytes + bytes > bounds_.body_bytes) return Room::none;
  if (holds.bytes + bytes > bounds_.body_bytes_per_peer) return Room::none_for_peer;
  holds.bytes += bytes;
  all_.bytes += bytes;
  return Room::there_is;
}

void Peers::leave(const std::string& peer, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = holds_.find(peer);
  if (found == holds_.end()) return;
  found->second.bytes -= bytes;
  all_.bytes -= bytes;
  --all_.connections;
  if (--found->second.connections == 0) holds_.erase(found);
}

PeerSlot& PeerSlot::operator=(PeerSlot&& other) noexcept {
  if (this == &other) return *this;
  leave();
  peers_ = std::move(other.peers_);
  peer_ = std::move(other.peer_);
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
  peers_->leave(peer_, bytes_);
  peers_ = nullptr;
}

}  // namespace schedmate::http
