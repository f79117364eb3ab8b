// SPDX-License-Identifier: Apache-2.0
#include "probe/dcgm.hpp"

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace schedmate::probe {
namespace {

constexpr std::string_view field_head = "DCGM_FI_DEV_";

struct Row {
  std::string_view name;  // behind the head
  std::string_view gpu, pci;
  bool of_part = false;
  double value = 0;
};

struct Label {
  std::string_view name, value;  // as written: escapes stay
};

/// Takes one label and what stands before the next; nothing at the end, or for what is no label.
std::optional<Label> take_label(std::string_view& text) {
  const auto equals = text.find("=\"");
  if (equals == std::string_view::npos) return std::nullopt;
  auto end = equals + 2;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return std::nullopt;
  const Label label{trim(text.substr(0, equals)), text.substr(equals + 2, end - equals - 2)};
  text.remove_prefix(end + 1);
  if (text.starts_with(',')) text.remove_prefix(1);
  return label;
}

/// "DCGM_FI_DEV_GPU_UTIL{gpu="0",pci_bus_id="00000000:1B:00.0",...} 37".
std::optional<Row> read_row(std::string_view line) {
  if (!line.starts_with(field_head)) return std::nullopt;
  const auto open = line.find('{');
  if (open == std::string_view::npos) return std::nullopt;
  Row row;
  row.name = line.substr(field_head.size(), open - std::min(open, field_head.size()));
  auto rest = line.substr(open + 1);
  while (!rest.starts_with('}')) {
    const auto label = take_label(rest);
    if (!label) return std::nullopt;
    if (label->name == "gpu") row.gpu = label->value;
    if (label->name == "pci_bus_id") row.pci = label->value;
    if (label->name == "GPU_I_ID" && !label->value.empty()) row.of_part = true;
  }
  rest = trim(rest.substr(1));
  const auto value = parse_number<double>(rest.substr(0, rest.find(' ')));
  if (!value || !std::isfinite(*value)) return std::nullopt;
  row.value = *value;
  return row;
}

void add(std::optional<std::uint64_t>& sum, double value) {
  constexpr double most = 9e18;
  if (value < 0 || value > most) return;
  sum = sum.value_or(0) + static_cast<std::uint64_t>(value);
}

void put(const Row& row, GpuSample& gpu) {
  static constexpr std::array numbers = {
      std::pair{std::string_view("GPU_UTIL"), &GpuSample::used_pct},
      std::pair{std::string_view("MEM_COPY_UTIL"), &GpuSample::memory_busy_pct},
      std::pair{std::string_view("FB_USED"), &GpuSample::memory_used_mib},
      std::pair{std::string_view("GPU_TEMP"), &GpuSample::temperature_c},
      std::pair{std::string_view("POWER_USAGE"), &GpuSample::power_w},
      std::pair{std::string_view("SM_CLOCK"), &GpuSample::clock_mhz},
  };
  static constexpr std::array counts = {
      std::pair{std::string_view("CLOCK_THROTTLE_REASONS"), &GpuSample::throttle},
      std::pair{std::string_view("CLOCKS_EVENT_REASONS"), &GpuSample::throttle},
      std::pair{std::string_view("ECC_SBE_VOL_TOTAL"), &GpuSample::ecc_corrected},
      std::pair{std::string_view("ECC_DBE_VOL_TOTAL"), &GpuSample::ecc_uncorrected},
      std::pair{std::string_view("NVLINK_RECOVERY_ERROR_COUNT_TOTAL"),
                &GpuSample::nvlink_recoveries},
      std::pair{std::string_view("NVLINK_REPLAY_ERROR_COUNT_TOTAL"), &GpuSample::nvlink_replays},
      std::pair{std::string_view("XID_ERRORS"), &GpuSample::last_xid},
  };
  for (const auto& [name, field] : numbers)
    if (name == row.name) gpu.*field = row.value;
  for (const auto& [name, field] : counts)
    if (name == row.name) {
      (gpu.*field).reset();
      add(gpu.*field, row.value);
    }
  // Memory in all is what is used, free and kept back.
  if (row.name == "FB_USED" || row.name == "FB_FREE" || row.name == "FB_RESERVED")
    gpu.memory_total_mib = gpu.memory_total_mib.value_or(0) + row.value;
}

}  // namespace

Result<Sample> read_dcgm(std::string_view text, std::int64_t at_s) {
  std::map<unsigned, GpuSample> gpus;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size() - 1);
    const auto row = read_row(text.substr(0, end + 1));
    text.remove_prefix(end + 1);
    if (!row || row->of_part) continue;
    const auto index = parse_number<unsigned>(row->gpu);
    if (!index || (gpus.size() >= most_gpus && !gpus.contains(*index))) continue;
    GpuSample& gpu = gpus[*index];
    gpu.index = *index;
    if (gpu.pci.empty()) gpu.pci = pci_address(row->pci);
    put(*row, gpu);
  }
  if (gpus.empty())
    return fail(ErrorCode::invalid, "no DCGM_FI_DEV_... field of a GPU: is it a dcgm-exporter?");
  Sample sample{at_s, "", {}};
  for (auto& [index, gpu] : gpus) {
    clean(gpu);
    sample.gpus.push_back(std::move(gpu));
  }
  return sample;
}

}  // namespace schedmate::probe
