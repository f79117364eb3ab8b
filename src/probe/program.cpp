// SPDX-License-Identifier: Apache-2.0
#include "probe/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_reader.hpp"
#include "probe/client.hpp"
#include "probe/gpu_source.hpp"
#include "probe/kernel_source.hpp"
#include "probe/outbox.hpp"

namespace schedmate::probe {
namespace {

constexpr std::chrono::milliseconds send_deadline{5000};

GpuSource source_of(const ProbeOptions& options) {
  if (!options.nvml_from.empty()) return file_source(options.nvml_from);
  if (!options.dcgm.empty()) return dcgm_source(options.dcgm, options.nvml_deadline);
  return nvml_source(options.nvml_library, options.nvml_deadline);
}

/// What the daemon said to a message.
struct Heard {
  bool taken = false;
  bool again = false;    ///< with what was learned
  bool useless = false;  ///< it will never be taken
  std::string says{};
};

class Speaker {
 public:
  Speaker(const ProbeOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  Heard say(const Report& report) {
    Heard heard = say_once(report);
    return heard.again ? say_once(report) : heard;
  }

 private:
  Heard say_once(const Report& report) {
    const Message message{options_.key.node, seconds_of(clock_.wall()), session_, ++counter_,
                          report_text(report)};
    const auto reply = client_.post(options_.address, "/api/v1/probe",
                                    sealed(message, options_.key.key), send_deadline);
    if (!reply) return {.says = reply.error().message};
    constexpr int fine = 200, malformed = 400, conflict = 409, too_large = 413;
    if (reply->status == fine) return {.taken = true};
    Heard heard;
    constexpr JsonBounds bounds{.deepest = 4, .most_values = 100};
    const auto said = read_json(reply->body, bounds);
    const auto text = [&](const char* key) {
      const auto word = said && said->is_object() ? said->value(key, Document()) : Document();
      return word.is_string() ? word.get<std::string>() : std::string();
    };
    heard.says =
        fmt::format("{} answers {}: {}", options_.address, reply->status,
                    text("message").empty() ? "nothing that can be read" : text("message"));
    heard.useless = reply->status == malformed || reply->status == too_large;
    if (reply->status == conflict && text("verdict") == "replayed") heard.again = learn(*said);
    return heard;
  }

  /// Of which session and after which counter the next one has to be; false: nothing new.
  bool learn(const Document& said) {
    const auto session = said.find("session");
    const auto counter = said.find("counter");
    if (session == said.end() || counter == said.end() || !session->is_string() ||
        !counter->is_number_unsigned())
      return false;
    const auto last = counter->get<std::uint64_t>();
    const std::string before = std::exchange(session_, session->get<std::string>());
    counter_ = before == session_ ? std::max(counter_, last) : last;  // within one it never falls
    return true;
  }

  const ProbeOptions& options_;
  const Clock& clock_;
  Client client_;
  std::string session_;
  std::uint64_t counter_ = 0;
};

/// What is wrong is said when it begins and when it ends, not each time.
class Complaint {
 public:
  explicit Complaint(std::string what) : what_(std::move(what)) {}
  /// "" = it is well.
  void tell(const std::string& trouble, const std::function<void(const std::string&)>& report) {
    if (trouble.empty() == trouble_.empty()) return;
    trouble_ = trouble;
    report(trouble.empty() ? fmt::format("{}: well again", what_)
                           : fmt::format("{}: {}", what_, trouble));
  }

 private:
  std::string what_, trouble_;
};

class Probe {
 public:
  Probe(const ProbeOptions& options, const ProbeSurroundings& surroundings, KernelSifter sifter)
      : options_(options),
        surroundings_(surroundings),
        sifter_(std::move(sifter)),
        kernel_(options.kernel_log, false),
        source_(source_of(options)),
        speaker_(options, surroundings.clock),
        backoff_(surroundings.seed) {}

  void run() {
    constexpr std::chrono::seconds pause{1};
    next_sample_ = next_send_ = surroundings_.clock.now();
    while (!surroundings_.stopped()) {
      look();
      if (!outbox_.empty() && surroundings_.clock.now() >= next_send_) send();
      surroundings_.clock.sleep(pause);
    }
  }

 private:
  void look() {
    const auto now = surroundings_.clock.now();
    const std::int64_t wall_s = seconds_of(surroundings_.clock.wall());
    if (now >= next_sample_) {
      // What was missed while the daemon was slow is not made up for.
      while (next_sample_ <= now) next_sample_ += options_.every;
      Sample sample = source_(wall_s);
      gpus_.tell(sample.error, surroundings_.report);
      sifter_.take(sample);
      outbox_.add(std::move(sample));
    }
    kernel_.read(sifter_, {wall_s, now});
    kernel_log_.tell(kernel_.error(), surroundings_.report);
    constexpr std::int64_t oldest_s = 600;  // the log of /dev/kmsg goes back to the machine's start
    for (KernelEvent& event : sifter_.take_out())
      if (event.at_s >= wall_s - oldest_s) outbox_.add(std::move(event));
  }

  void send() {
    Report report = outbox_.next();
    report.every_s = options_.every.count();
    report.skipped_bytes = sifter_.skipped_bytes();
    report.kernel_error = kernel_.error();
    const Heard heard = speaker_.say(report);
    daemon_.tell(heard.taken ? "" : heard.says, surroundings_.report);
    if (heard.taken || heard.useless) outbox_.sent(report);
    if (heard.taken) return backoff_.succeeded();
    next_send_ = surroundings_.clock.now() + backoff_.failed();
  }

  const ProbeOptions& options_;
  const ProbeSurroundings& surroundings_;
  KernelSifter sifter_;
  KernelSource kernel_;
  GpuSource source_;
  Speaker speaker_;
  Outbox outbox_;
  Backoff backoff_;
  Complaint daemon_{"the daemon"}, gpus_{"GPUs"}, kernel_log_{"the kernel's log"};
  std::chrono::nanoseconds next_sample_{}, next_send_{};
};

}  // namespace

Result<void> run(const ProbeOptions& options, const ProbeSurroundings& surroundings) {
  if (auto good = check_address(options.address); !good) return good;
  auto sifter = KernelSifter::load(options.rules_folder);
  if (!sifter) return tl::unexpected(sifter.error());
  Probe(options, surroundings, std::move(*sifter)).run();
  return {};
}

Result<Report> look_once(const ProbeOptions& options, const Clock& clock) {
  auto sifter = KernelSifter::load(options.rules_folder);
  if (!sifter) return tl::unexpected(sifter.error());
  const std::int64_t wall_s = seconds_of(clock.wall());
  Report report;
  report.every_s = options.every.count();
  report.samples.push_back(source_of(options)(wall_s));
  sifter->take(report.samples.front());
  KernelSource kernel(options.kernel_log, true);
  kernel.read(*sifter, {wall_s, clock.now()});
  report.events = sifter->take_out();
  report.skipped_bytes = sifter->skipped_bytes();
  report.kernel_error = kernel.error();
  return report;
}

}  // namespace schedmate::probe
