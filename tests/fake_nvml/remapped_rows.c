// SPDX-License-Identifier: Apache-2.0

// In C: this interface has more parameters than a function of ours may have.

int fake_is_bad(const void* device);
// NOLINTBEGIN(readability-identifier-naming): NVML's name
int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failure);

int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failure) {
  *corrected = 0;
  *uncorrected = (unsigned)fake_is_bad(device);
  *pending = (unsigned)fake_is_bad(device);
  *failure = 0;
  return 0;
}
// NOLINTEND(readability-identifier-naming)
