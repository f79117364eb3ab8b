// SPDX-License-Identifier: Apache-2.0

/// A library that behaves like NVIDIA's management library on a node with two GPUs (`eight`: with
/// eight), well or badly.
/// It is built several times; BEHAVIOUR is one of those below.

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace {

enum class Behaviour {
  healthy,
  faulty,
  lost,
  old,
  hanging,
  crashing,
  refusing,
  eight,
  numbered,  // the driver's version is the number of the process
};
constexpr auto behaviour = Behaviour::BEHAVIOUR;

constexpr int success = 0, not_supported = 3, driver_not_loaded = 9, is_lost = 15,
              version_mismatch = 25;
std::array<int, 8> gpus{};

bool is_second(const void* device) { return device == &gpus[1]; }
bool is_bad(const void* device) { return behaviour == Behaviour::faulty && is_second(device); }

struct Pci {
  char legacy[16];
  unsigned numbers[5];
  char id[32];
};
struct Memory {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Field {
  unsigned field, scope;
  long long timestamp, latency;
  int type, code;
  unsigned long long value;
};

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names of NVML
extern "C" {

int fake_is_bad(const void* device) { return is_bad(device) ? 1 : 0; }

int nvmlInit_v2() {
  if (behaviour == Behaviour::hanging) ::sleep(3600);  // clock: for ever
  if (behaviour == Behaviour::crashing) ::raise(SIGSEGV);
  return behaviour == Behaviour::refusing ? driver_not_loaded : success;
}
int nvmlShutdown() { return success; }
const char* nvmlErrorString(int code) {
  if (code == is_lost) return "GPU is lost";
  return code == driver_not_loaded ? "Driver Not Loaded" : "Not Supported";
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  if (behaviour == Behaviour::numbered)
    std::snprintf(text, size, "%d", static_cast<int>(::getpid()));
  else
    std::snprintf(text, size, "550.54");
  return success;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = behaviour == Behaviour::eight ? 8 : 2;
  return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &gpus.at(index);
  return behaviour == Behaviour::lost && index == 1 ? is_lost : success;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = 40;
  return success;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* busy) {
  busy[0] = is_second(device) ? 90 : 40;
  busy[1] = busy[0] / 2;
  return success;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* bytes) {
  bytes[0] = 80ULL << 30U;
  bytes[1] = 59ULL << 30U;
  bytes[2] = 21ULL << 30U;  // 1 of it is what the driver keeps
  return success;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 412'500;
  return success;
}
int nvmlDeviceGetClockInfo(void*, int, unsigned* mhz) {
  *mhz = 1755;
  return success;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 1;  // nothing to do
  return success;
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  std::snprintf(text, size, "GPU-%d", is_second(device) ? 1 : 0);
  return success;
}
int nvmlDeviceGetName(void*, char* text, unsigned size) {
  std::snprintf(text, size, "FAKE H100");
  return success;
}
int nvmlDeviceGetPciInfo_v3(void* device, Pci* pci) {
  std::snprintf(pci->id, sizeof pci->id, "00000000:%s:00.0", is_second(device) ? "9B" : "1B");
  return success;
}
int nvmlDeviceGetTotalEccErrors(void* device, int kind, int counter, unsigned long long* errors) {
  *errors = is_bad(device) && kind == 1 && counter == 0 ? 3 : 0;
  return success;
}

// What came later than the driver of `old`.
#ifndef WITHOUT_NEW_FUNCTIONS
int nvmlDeviceGetFieldValues(void* device, int count, Field* values) {
  for (int i = 0; i < count; ++i) {
    values[i].code = values[i].field == 230 ? success : not_supported;
    values[i].type = 1;
    values[i].value = is_bad(device) ? 2 : 0;
  }
  return success;
}
int nvmlDeviceGetMemoryInfo_v2(void*, Memory* memory) {
  if (memory->version != (sizeof(Memory) | 2U << 24U)) return version_mismatch;
  if (behaviour == Behaviour::faulty) return not_supported;
  *memory = {memory->version, 80ULL << 30U, 1ULL << 30U, 59ULL << 30U, 20ULL << 30U};
  return success;
}
int nvmlDeviceGetRetiredPagesPendingStatus(void*, int*) { return not_supported; }
int nvmlDeviceGetNvLinkState(void*, unsigned link, int* active) {
  *active = link == 0 ? 1 : 0;
  return link < 2 ? success : not_supported;
}
int nvmlDeviceGetNvLinkErrorCounter(void* device, unsigned, int kind, unsigned long long* errors) {
  *errors = is_bad(device) && kind == 1 ? 4 : 0;
  return success;
}
#endif
}
// NOLINTEND(readability-identifier-naming)
