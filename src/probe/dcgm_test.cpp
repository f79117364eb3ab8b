// SPDX-License-Identifier: Apache-2.0
#include "probe/dcgm.hpp"

#include <doctest/doctest.h>

namespace schedmate::probe {

TEST_CASE("what a dcgm-exporter serves") {
  const auto read = read_dcgm(
      "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n"
      "# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-a\",pci_bus_id=\"00000000:1B:00.0\","
      "modelName=\"NVIDIA \\\"H100\\\", 80GB\",Hostname=\"n1\",pod=\"secret\"} 37\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",UUID=\"GPU-b\"} 99.5 1790000000000\n"
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"1\",GPU_I_ID=\"3\"} 1\n"
      "DCGM_FI_DEV_FB_USED{gpu=\"0\"} 1000\nDCGM_FI_DEV_FB_FREE{gpu=\"0\"} 79000\n"
      "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{gpu=\"0\"} 2\nDCGM_FI_DEV_XID_ERRORS{gpu=\"0\"} 79\n",
      5);
  REQUIRE(read);
  REQUIRE(read->gpus.size() == 2);
  const GpuSample& first = read->gpus[0];
  CHECK(first.used_pct == 37.0);
  CHECK(first.pci == "0000:1b:00");
  CHECK(first.memory_used_mib == 1000.0);
  CHECK(first.memory_total_mib == 80000.0);
  CHECK(first.ecc_uncorrected == 2U);
  CHECK(first.last_xid == 79U);
  CHECK(read->gpus[1].used_pct == 99.5);
}

TEST_CASE("what is no text of DCGM") {
  for (const char* text : {"", "\n\n", "{}", "DCGM_FI_DEV_", "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"",
                           "DCGM_FI_DEV_X{gpu=\"\\", "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} NaN",
                           "DCGM_FI_DEV_GPU_UTIL{gpu=\"-1\"} 5", "node_load1 0.5\n"})
    CHECK_FALSE_MESSAGE(read_dcgm(text, 0), text);
}

TEST_CASE("values that cannot be are not known") {
  const auto read = read_dcgm(
      "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 9223372036854775794\nDCGM_FI_DEV_GPU_TEMP{gpu=\"0\"} 40\n"
      "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL{gpu=\"0\"} -1\n",
      0);
  REQUIRE(read);
  CHECK_FALSE(read->gpus[0].used_pct);
  CHECK_FALSE(read->gpus[0].ecc_uncorrected);
  CHECK(read->gpus[0].temperature_c == 40.0);
}

}  // namespace schedmate::probe
