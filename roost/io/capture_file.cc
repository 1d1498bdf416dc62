#include "roost/io/capture_file.h"

#include <pcap/pcap.h>

#include <filesystem>
#include <memory>

namespace roost::io {

namespace {

struct CloseCapture {
  void operator()(pcap_t* capture) const { pcap_close(capture); }
};
using Capture = std::unique_ptr<pcap_t, CloseCapture>;

constexpr uint64_t kMicrosecondsPerSecond = 1'000'000;

uint64_t microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * kMicrosecondsPerSecond +
         static_cast<uint64_t>(time.tv_usec);
}

std::string link_type_name(int link_type) {
  const char* name = pcap_datalink_val_to_name(link_type);
  const char* description = pcap_datalink_val_to_description(link_type);
  if (name == nullptr) return "number " + std::to_string(link_type);
  return description == nullptr ? name : std::string(name) + " (" + description + ")";
}

void add_packet(const pcap_pkthdr& header, CaptureSummary& summary) {
  const uint64_t timestamp_us = microseconds(header.ts);
  if (summary.packet_count == 0) {
    summary.first_timestamp_us = timestamp_us;
  } else if (timestamp_us < summary.last_timestamp_us) {
    ++summary.backward_count;
  }
  summary.last_timestamp_us = timestamp_us;
  ++summary.packet_count;
  summary.packet_bytes += header.caplen;
  if (header.caplen > summary.largest_packet_bytes) summary.largest_packet_bytes = header.caplen;
  if (header.caplen < header.len) ++summary.snapped_count;
}

}  // namespace

Result<CaptureSummary> summarize_capture(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Error{path + ": not a file that can be read twice; give a capture saved on disk"};
  }
  char reason[PCAP_ERRBUF_SIZE] = {};
  const Capture capture(pcap_open_offline(path.c_str(), reason));
  if (capture == nullptr) {
    return Error{path + ": not a capture that libpcap reads: " + reason +
                 "; save it as pcap or pcapng, with Ethernet frames"};
  }
  if (const int link_type = pcap_datalink(capture.get()); link_type != DLT_EN10MB) {
    return Error{path + ": its link type is " + link_type_name(link_type) +
                 ", not Ethernet; capture on one Ethernet interface (not on \"any\")"};
  }
  CaptureSummary summary{.path = path};
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  int outcome = 0;
  while ((outcome = pcap_next_ex(capture.get(), &header, &bytes)) == 1)
    add_packet(*header, summary);
  if (outcome == PCAP_ERROR) {
    summary.cut_reason =
        "after packet " + std::to_string(summary.packet_count) + ": " + pcap_geterr(capture.get());
  }
  return summary;
}

}  // namespace roost::io
