// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a job made of its GPUs, from its start on, in bounded memory: readings of all its GPUs on
/// all its nodes, in any order. No I/O, no clock.

#include <array>
#include <cstdint>
#include <optional>
#include <schedmate/result.hpp>
#include <vector>

#include "base/document.hpp"

namespace schedmate::probe {

/// One GPU of the job at one instant.
struct UseReading {
  std::int64_t at_s = 0;  ///< since the job's start
  std::optional<double> gpu_pct, memory_busy_pct, memory_used_mib, memory_total_mib;
  bool shared = false;  ///< another job was on this GPU
  /// Since the reading before it of this GPU, with this job on it all the time; 0: none soon
  /// before.
  std::int64_t span_s = 0;
  bool idle = false;  ///< the GPU did nothing at both ends of that
};

/// Times GPUs.
struct GpuSpans {
  std::int64_t measured_s = 0;  ///< between readings that follow each other
  std::int64_t idle_s = 0;      ///< of these
};

/// Over the whole job. Empty: not measured.
struct UseSummary {
  std::uint64_t readings = 0;         ///< of single GPUs
  double shared_pct = 0;              ///< of these, with another job on the GPU
  std::int64_t from_s = 0, to_s = 0;  ///< since the job's start: what was measured
  std::optional<double> gpu_pct_mean, gpu_pct_p95, gpu_pct_max;
  std::optional<double> memory_pct_mean, memory_pct_p95, memory_pct_max;  ///< of a GPU's memory
  std::optional<double> memory_mib_mean, memory_mib_max;
  std::optional<double> memory_busy_pct_mean;
};

class JobUse {
 public:
  static constexpr std::size_t most_points = 240;

  void add(const UseReading& reading);

  /// Means over equal spans of time, at most most_points of them: as many seconds each as it takes.
  struct Point {
    std::int64_t at_s = 0;  ///< where the span begins
    std::optional<double> gpu_pct, memory_pct;
  };
  [[nodiscard]] std::vector<Point> series() const;
  [[nodiscard]] UseSummary summary() const;
  /// Of the readings without another job on the GPU.
  [[nodiscard]] UseSummary alone() const;
  [[nodiscard]] GpuSpans spans() const { return gpu_spans_; }

  /// For a file, and back. Errors: invalid.
  [[nodiscard]] Document kept() const;
  [[nodiscard]] static Result<JobUse> restored(const Document& kept);

 private:
  // Tenths of a percent, so that the order of readings does not matter.
  struct Sums {
    std::uint32_t gpu_readings = 0, gpu_tenths = 0, memory_readings = 0, memory_tenths = 0;
    void add(const Sums& other);
  };
  /// Shares of readings in steps of 2.5 %.
  struct Measured {
    static constexpr std::size_t steps = 41;
    std::uint64_t readings = 0, tenths = 0;
    std::uint32_t most_tenths = 0;
    std::array<std::uint32_t, steps> shares{};
    void add(double pct);
    [[nodiscard]] std::optional<double> mean() const;
    [[nodiscard]] std::optional<double> p95() const;
    [[nodiscard]] std::optional<double> most() const;
  };
  struct Totals {
    std::uint64_t readings = 0, shared = 0;
    Measured gpu, memory, busy;
    std::uint64_t memory_mib = 0, memory_readings = 0;
    std::uint32_t most_memory_mib = 0;
    std::int64_t from_s = 0, to_s = 0;
    void add(const UseReading& reading);
    [[nodiscard]] UseSummary summary() const;
  };
  template <class Self, class Visit>
  static void visit_numbers(Self& use, Visit&& visit);

  std::int64_t span_s_ = 10;
  std::vector<Sums> spans_;
  Totals all_, alone_;
  GpuSpans gpu_spans_;
};

/// {readings, gpu_pct_mean, ...}; what is not known is null.
[[nodiscard]] Document use_document(const UseSummary& summary);
/// The same with `series`: [{at_s, gpu_pct, memory_pct}].
[[nodiscard]] Document use_document(const JobUse& use);

}  // namespace schedmate::probe
