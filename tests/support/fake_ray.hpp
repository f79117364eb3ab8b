// SPDX-License-Identifier: Apache-2.0
#pragma once

/// A head of Ray on loopback, as far as SchedMate asks one: jobs that run until they are told to
/// end, nodes w1, w2... with GPUs, and faults; and SchedMate's resident driver, of whose requests
/// faults and asked() say "driver METHOD PATH".

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <schedmate/time.hpp>
#include <string>
#include <vector>

namespace schedmate::testing {

/// What one request meets instead of its answer.
struct RayFault {
  enum class Kind : std::uint8_t {
    none,
    hang,       ///< no answer for ten seconds
    status,     ///< 500 and a traceback; nothing was done
    done_500,   ///< the same, but it was done
    done_lost,  ///< it was done, and the answer comes after ten seconds
    text,       ///< this text, status 200
  };
  Kind kind = Kind::none;
  std::string text{};
};

/// A job as the fake has it.
struct FakeRayJob {
  std::string id, entrypoint, body, status = "PENDING", error_type{}, message{}, node{};
  std::optional<int> exit_code{};
  std::int64_t start_ms = 0, end_ms = 0;
  double gpus = 0;
  bool by_driver = false;  ///< given to SchedMate's resident driver, of which this fake has one
};

class FakeRay {
 public:
  struct Options {
    int nodes = 3, gpus = 4;
    std::string version = "2.60.0", token{};
    bool runs_at_once = true;               ///< else jobs stay PENDING until run()
    std::function<std::int64_t()> now_s{};  ///< its clock
  };
  explicit FakeRay(Options options);
  FakeRay() : FakeRay(Options{}) {}
  FakeRay(const FakeRay&) = delete;
  FakeRay& operator=(const FakeRay&) = delete;
  ~FakeRay();

  [[nodiscard]] std::string url() const;
  /// Of the first request whose "METHOD PATH" begins with `request`, `times` times.
  void fault(const std::string& request, RayFault fault, int times = 1'000'000);
  void mend();

  [[nodiscard]] std::vector<FakeRayJob> jobs() const;
  [[nodiscard]] std::vector<std::string> asked() const;  ///< "METHOD PATH" of each request
  void run(const std::string& id);
  /// Everything that waits or runs, with this code.
  void end_all(int exit_code);
  struct End {
    std::string status{};
    std::optional<int> exit_code{};
    std::string error_type{}, message{};
  };
  void end(const std::string& id, const End& end);
  /// What `ray job submit` of somebody else does.
  void submit_foreign(const std::string& id, const std::string& node, double gpus);
  void forget(const std::string& id);
  void restart();  ///< all records are lost
  /// SchedMate's driver has ended; what it has started runs on.
  void end_driver();
  void kill_node(const std::string& name);
  void log(const std::string& id, const std::string& text);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace schedmate::testing
