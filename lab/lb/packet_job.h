// Times a load balancer's packets from a port to a port: on our tables and on rte_hash, beside what
// the same packets cost when nothing is asked.
//
// The port has the requests of all flows, one after the other, for ever (lab/packets/port_bench.h);
// by Zipf's law, as many requests of flows that are drawn by it.
// Of several workers each gets those of the flows that it owns, as from a card that can steer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/jobs/job.h"
#include "roost/base/result.h"
#include "roost/memory/arena.h"

namespace roost::lab {

struct PacketJobConfig {
  std::string experiment;
  uint64_t flows = 0;  // of all workers; the tables are made for as many
  PageKind pages = PageKind::kSmall;
  std::vector<int> cores;  // a worker each
  unsigned rounds = 1;
  uint64_t packets = 0;  // a pass, of each worker
  uint64_t seed = 1;
  double zipf_exponent = 0;  // of the flows that packets are of; 0: one after the other
  bool peers = true;         // whether rte_hash takes part
};

// An error is a wrong answer or a failed set-up. What takes part: packet_job.cc.
[[nodiscard]] Result<Rows> run_packet_job(const PacketJobConfig& config, const Progress& progress);

}  // namespace roost::lab
