// The frames that the measured switches get: each from a station at one of two ports to a station
// at the other, both drawn anew.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/packets/capture_files.h"

namespace roost::lab {

inline constexpr size_t kStationPorts = 2;

struct StationFrames {
  uint64_t stations = 0;  // half of them at each port
  uint64_t frames = 0;    // of all ports and workers
  size_t frame_bytes = 60;
  double zipf = 0;  // exponent of the stations' popularity; 0: all alike
  size_t workers = 1;
  uint64_t seed = 1;
};

// A file for each port and worker, as PortBench::WriteFrames has them.
void write_station_frames(const StationFrames& shape, CaptureFiles& files);

}  // namespace roost::lab
