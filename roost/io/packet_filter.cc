#include "roost/io/packet_filter.h"

#include <pcap/pcap.h>

#include <utility>

namespace roost::io {

namespace {

constexpr int kSnapBytesMax = 262'144;

struct ClosePcap {
  void operator()(pcap_t* pcap) const { pcap_close(pcap); }
};

}  // namespace

struct PacketFilter::Program {
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { pcap_freecode(&code); }

  bpf_program code{};
};

Result<PacketFilter> PacketFilter::compile(const std::string& expression) {
  const std::unique_ptr<pcap_t, ClosePcap> ethernet(pcap_open_dead(DLT_EN10MB, kSnapBytesMax));
  if (ethernet == nullptr) return Error{"libpcap has no memory for a filter"};
  auto program = std::make_unique<Program>();
  if (pcap_compile(ethernet.get(), &program->code, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) !=
      0) {
    return Error{"the filter \"" + expression + "\": " + pcap_geterr(ethernet.get()) +
                 "; write it as for tcpdump, see pcap-filter(7)"};
  }
  return PacketFilter(std::move(program));
}

PacketFilter::PacketFilter(std::unique_ptr<Program> program) : program_(std::move(program)) {}
PacketFilter::PacketFilter(PacketFilter&&) noexcept = default;
PacketFilter& PacketFilter::operator=(PacketFilter&&) noexcept = default;
PacketFilter::~PacketFilter() = default;

bool PacketFilter::admits(std::span<const uint8_t> frame, uint32_t total_bytes) const {
  return bpf_filter(program_->code.bf_insns, frame.data(), total_bytes,
                    static_cast<u_int>(frame.size())) != 0;
}

}  // namespace roost::io
