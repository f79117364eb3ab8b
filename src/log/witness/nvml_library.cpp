// SPDX-License-Identifier: Apache-2.0
#include "log/witness/nvml_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace schedmate::witness {
namespace {

// The parts of NVML's binary interface that are used, by its documentation (nvml.h of release 12).
using Code = int;
using Device = void*;
constexpr Code success = 0, gpu_is_lost = 15, reset_required = 16;
constexpr unsigned recovery_action_field = 230;  // NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
constexpr int corrected_errors = 0, uncorrected_errors = 1, volatile_counter = 0;
constexpr int sm_clock = 1;
constexpr unsigned long long idle_reason = 1;  // no work: not slowed
constexpr unsigned most_links = 18, most_gpus = 64;
constexpr std::size_t text_bytes = 96;

struct PciInfo {
  std::array<char, 16> legacy;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> id;
};

struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency_us;
  int type;  // 0 double, 1 unsigned int, 2 and 3 unsigned long, 4 signed long, 5 signed int
  Code code;
  union {
    unsigned small;
    unsigned long long large;
  } value;
};

/// The library; closed at the end.
class Library {
 public:
  explicit Library(const std::string& path) : handle_(::dlopen(path.c_str(), RTLD_NOW)) {
    if (handle_ == nullptr)
      if (const char* why = ::dlerror(); why != nullptr) error_ = why;
  }
  ~Library() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] bool is_open() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& error() const { return error_; }
  /// Calls a function; nothing when the library has none of this name.
  template <class... Arguments>
  [[nodiscard]] std::optional<Code> call(const char* name, Arguments... arguments) const {
    void* const found = ::dlsym(handle_, name);
    if (found == nullptr) return std::nullopt;
    return reinterpret_cast<Code (*)(Arguments...)>(found)(arguments...);
  }
  /// True: the function is there and went well.
  template <class... Arguments>
  [[nodiscard]] bool did(const char* name, Arguments... arguments) const {
    return call(name, arguments...) == success;
  }
  [[nodiscard]] std::string text_of(Code code) const {
    void* const found = ::dlsym(handle_, "nvmlErrorString");
    const char* const words =
        found == nullptr ? nullptr : reinterpret_cast<const char* (*)(Code)>(found)(code);
    return words == nullptr ? fmt::format("NVML error {}", code) : std::string(words);
  }

 private:
  void* handle_;
  std::string error_;
};

std::string text_in(const auto& buffer) {
  return {buffer.begin(), std::ranges::find(buffer, '\0')};
}

void read_names(const Library& library, Device device, GpuState& gpu) {
  std::array<char, text_bytes> text{};
  if (library.did("nvmlDeviceGetUUID", device, text.data(), unsigned{text_bytes}))
    gpu.uuid = text_in(text);
  text = {};
  if (library.did("nvmlDeviceGetName", device, text.data(), unsigned{text_bytes}))
    gpu.name = text_in(text);
  PciInfo pci{};
  if (library.did("nvmlDeviceGetPciInfo_v3", device, &pci)) gpu.pci = text_in(pci.id);
}

void read_faults(const Library& library, Device device, GpuState& gpu) {
  FieldValue field{};
  field.field = recovery_action_field;
  if (library.did("nvmlDeviceGetFieldValues", device, 1, &field) && field.code == success) {
    const bool wide = field.type == 2 || field.type == 3 || field.type == 4;
    gpu.recovery_action = wide ? field.value.large : field.value.small;
  }
  unsigned long long errors = 0;
  if (library.did("nvmlDeviceGetTotalEccErrors", device, uncorrected_errors, volatile_counter,
                  &errors))
    gpu.ecc_uncorrected = errors;
  unsigned corrected = 0;
  unsigned uncorrected = 0;
  unsigned pending = 0;
  unsigned failure = 0;
  if (library.did("nvmlDeviceGetRemappedRows", device, &corrected, &uncorrected, &pending,
                  &failure))
    gpu.remapped = RemappedRows{corrected, uncorrected, pending != 0, failure != 0};
  int waits = 0;
  if (library.did("nvmlDeviceGetRetiredPagesPendingStatus", device, &waits))
    gpu.retirement_pending = waits != 0;
}

void read_links(const Library& library, Device device, GpuState& gpu) {
  const auto counter = [&](unsigned link, int kind) -> std::optional<std::uint64_t> {
    unsigned long long errors = 0;
    if (!library.did("nvmlDeviceGetNvLinkErrorCounter", device, link, kind, &errors))
      return std::nullopt;
    return errors;
  };
  for (unsigned link = 0; link < most_links; ++link) {
    int active = 0;
    if (!library.did("nvmlDeviceGetNvLinkState", device, link, &active)) return;
    NvlinkState state{link, active != 0, {}, {}, {}, {}};
    if (active != 0) {
      state.replay = counter(link, 0);
      state.recovery = counter(link, 1);
      state.crc_flit = counter(link, 2);
      state.crc_data = counter(link, 3);
    }
    gpu.nvlinks.push_back(state);
  }
}

/// `used` is what was allocated. What the driver keeps for itself is part of it only where the
/// library has no nvmlDeviceGetMemoryInfo_v2, or that refuses.
void read_memory(const Library& library, Device device, GpuLoad& load) {
  constexpr double mib = 1U << 20U;
  struct {
    unsigned version;
    unsigned long long total, reserved, free, used;
  } second{};
  struct {
    unsigned long long total, free, used;
  } first{};
  second.version = sizeof second | 2U << 24U;  // how NVML numbers a structure
  if (library.did("nvmlDeviceGetMemoryInfo_v2", device, &second)) {
    load.memory_used_mib = static_cast<double>(second.used) / mib;
    load.memory_total_mib = static_cast<double>(second.total) / mib;
  } else if (library.did("nvmlDeviceGetMemoryInfo", device, &first)) {
    load.memory_used_mib = static_cast<double>(first.used) / mib;
    load.memory_total_mib = static_cast<double>(first.total) / mib;
  }
}

GpuLoad read_load(const Library& library, unsigned index) {
  GpuLoad load;
  Device device = nullptr;
  if (!library.did("nvmlDeviceGetHandleByIndex_v2", index, &device)) return load;
  struct {
    unsigned gpu, memory;
  } busy{};
  if (library.did("nvmlDeviceGetUtilizationRates", device, &busy)) {
    load.gpu_pct = busy.gpu;
    load.memory_busy_pct = busy.memory;
  }
  read_memory(library, device, load);
  unsigned value = 0;
  if (library.did("nvmlDeviceGetTemperature", device, 0, &value)) load.temperature_c = value;
  if (library.did("nvmlDeviceGetPowerUsage", device, &value)) load.power_w = value / 1000.0;
  if (library.did("nvmlDeviceGetClockInfo", device, sm_clock, &value)) load.clock_mhz = value;
  unsigned long long count = 0;
  if (library.did("nvmlDeviceGetCurrentClocksThrottleReasons", device, &count))
    load.throttle = count & ~idle_reason;
  if (library.did("nvmlDeviceGetTotalEccErrors", device, corrected_errors, volatile_counter,
                  &count))
    load.ecc_corrected = count;
  return load;
}

GpuState read_gpu(const Library& library, unsigned index, bool links) {
  GpuState gpu;
  gpu.index = index;
  Device device = nullptr;
  const auto code = library.call("nvmlDeviceGetHandleByIndex_v2", index, &device);
  if (!code || *code != success) {
    gpu.lost = code == gpu_is_lost || code == reset_required;
    gpu.error = code ? library.text_of(*code) : "nvmlDeviceGetHandleByIndex_v2 is missing";
    return gpu;
  }
  // A handle may be had of a GPU that is gone: this asks the GPU itself.
  unsigned celsius = 0;
  const auto answer = library.call("nvmlDeviceGetTemperature", device, 0, &celsius);
  if (answer == gpu_is_lost || answer == reset_required) {
    gpu.lost = true;
    gpu.error = library.text_of(*answer);
  }
  read_names(library, device, gpu);
  read_faults(library, device, gpu);
  if (links) read_links(library, device, gpu);
  return gpu;
}

}  // namespace

class NvmlSession::Inside {
 public:
  explicit Inside(const std::string& path) : path_(path), library_(path) {
    if (!library_.is_open()) {
      error_ = library_.error();
      return;
    }
    const auto begun = library_.call("nvmlInit_v2");
    is_begun_ = begun == success;
    if (!is_begun_)
      error_ = begun ? library_.text_of(*begun) : "nvmlInit_v2 is missing: no NVML library";
  }
  ~Inside() {
    if (is_begun_) (void)library_.call("nvmlShutdown");
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  [[nodiscard]] LoadedGpus read(const Wanted& wanted) const {
    LoadedGpus gpus;
    GpuReading& made = gpus.reading;
    made.library = path_;
    made.error = error_;
    if (!is_begun_) return gpus;
    std::array<char, text_bytes> driver{};
    if (library_.did("nvmlSystemGetDriverVersion", driver.data(), unsigned{text_bytes}))
      made.driver = text_in(driver);
    unsigned count = 0;
    const auto counted = library_.call("nvmlDeviceGetCount_v2", &count);
    if (!counted || *counted != success)
      made.error = counted ? library_.text_of(*counted) : "nvmlDeviceGetCount_v2 is missing";
    for (unsigned i = 0; i < std::min(count, most_gpus); ++i) {
      made.gpus.push_back(read_gpu(library_, i, wanted.links));
      if (wanted.load) gpus.loads.push_back(read_load(library_, i));
    }
    return gpus;
  }

 private:
  std::string path_;
  Library library_;
  std::string error_;
  bool is_begun_ = false;
};

NvmlSession::NvmlSession(const std::string& path) : inside_(std::make_unique<Inside>(path)) {}
NvmlSession::~NvmlSession() = default;
LoadedGpus NvmlSession::read(const Wanted& wanted) { return inside_->read(wanted); }

GpuReading read_nvml(const std::string& path) { return NvmlSession(path).read({}).reading; }

}  // namespace schedmate::witness
