// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The thread that accepts connections, looks at the head of each request while it still lies in
/// the system's buffer, refuses what may not come in, and hands the rest to a carrier. It also
/// minds deadlines, wakes streams and reads the token file anew when it changes.

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "http/carrier.hpp"
#include "http/token_file.hpp"
#include "http/traffic.hpp"
#include "http/user_names.hpp"

namespace schedmate::http {

/// For those who come as there is no place for them.
inline constexpr std::size_t doorstep_places = 64;

/// Wakes the door from any thread, also when the door is gone.
class Bell {
 public:
  Bell();
  void ring() const;
  void hear() const;
  /// Events came: the door wakes streams soon, without being woken itself.
  void publish() { published_ = true; }
  [[nodiscard]] bool take_published() { return published_.exchange(false); }
  [[nodiscard]] int number() const { return file_.number(); }

 private:
  Descriptor file_;
  std::atomic<bool> published_{false};
};

struct DoorParts {
  Descriptor unix_listener;
  Descriptor tcp_listener;
  std::shared_ptr<Traffic> traffic;
  std::shared_ptr<Bell> bell;
  Carrier* requests = nullptr;
  Carrier* streams = nullptr;
  TokenFile tokens;
};

class Door {
 public:
  explicit Door(DoorParts parts);
  /// Until it is told to stop (ring the bell then). Afterwards nothing is open here.
  void run(const std::stop_token& stop);

 private:
  enum class Step : std::uint8_t { head, punished, leaving };
  /// A connection that no carrier has yet.
  struct Guest {
    Descriptor file;
    PeerSlot slot;
    Peer peer;
    std::optional<uid_t> uid;
    Step step = Step::head;
    std::chrono::nanoseconds due{};
    int looks = 0;
    std::uint64_t number = 0;    // in order of arrival
    Room room = Room::there_is;  // why it has no place, on the doorstep
    std::string last_words;
    bool names_wanted = false;
  };

  void accept_from(const Descriptor& listener, bool is_unix);
  void welcome(Descriptor file, bool is_unix);
  /// What became of it: false when it is no guest any more.
  bool look(Guest& guest);
  bool judge(Guest& guest, const Head& head);
  void admit_guest(Guest& guest, Admitted admitted);
  bool dismiss(Guest& guest, const Reply& reply, bool head_only);
  bool punish(Guest& guest, const Reply& reply, bool head_only);
  bool say_last_words(Guest& guest);
  bool drain(Guest& guest);
  void serve(int file, std::uint32_t events);
  void tick();
  void look_after_guests();
  /// The deadline of its step is over.
  bool close_late(Guest& guest);
  void end();
  void wake_streams();
  void watch(const Guest& guest);
  void put_on_doorstep(Guest& guest, Room room);
  Room seat(Guest& guest, const Admitted& admitted);
  bool turn_away(Guest& guest, Room room, bool head_only = false);
  [[nodiscard]] std::chrono::nanoseconds now() const { return traffic_->now(); }

  struct Failures {
    int count = 0;
    std::chrono::nanoseconds last{};
  };

  Descriptor unix_, tcp_, epoll_, spare_;
  std::shared_ptr<Traffic> traffic_;
  std::shared_ptr<Bell> bell_;
  Carrier* requests_;
  Carrier* streams_;
  TokenFile tokens_;
  UserNames names_;
  std::map<int, Guest> guests_;
  std::uint64_t arrivals_ = 0;
  /// Who came as there was no place: a head may show that one is kept for them. Those who came
  /// first go first.
  std::deque<std::pair<int, std::uint64_t>> doorstep_;
  std::map<std::string, Failures> failures_;
  std::vector<char> buffer_;
  std::deque<ExchangePointer> to_wake_;
  std::chrono::nanoseconds next_tick_{}, next_look_{}, next_wake_{};
};

}  // namespace schedmate::http
