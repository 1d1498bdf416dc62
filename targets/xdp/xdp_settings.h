// What the XDP program knows of its image and of what to do with packets. It is constant for the
// program's life, so that the kernel's verifier removes what an image has not. Included by the
// program and by those who load it.
#pragma once

#include <stdint.h>

enum {
  kXdpLevelsMax = 8,
  kXdpLineWords = 8,
  // As often a lookup begins anew because its line is being changed; then the packet is dropped.
  kXdpTries = 8,
};

// The field of a frame that is the key.
enum XdpKey { kXdpDestinationMac, kXdpDestinationIpv4 };

// What becomes of a packet.
enum XdpAction { kXdpUnassigned, kXdpDrop, kXdpPass, kXdpSendBack, kXdpRedirect };

// Each packet is counted under one of these.
enum XdpVerdict {
  kXdpRedirected,  // these four: by the action of the key's value
  kXdpDropped,
  kXdpPassed,
  kXdpSentBack,
  kXdpValueUnassigned,  // its value has no action
  kXdpStranger,         // the table has not the key, for certain
  kXdpBusy,             // its line was being changed in all tries; dropped
  kXdpForeign,          // it has no such key; passed
  kXdpPortGone,         // the device to redirect to is not there any more; dropped
  kXdpVerdicts,
};

// The keyed hash of one word: words that its seed becomes.
struct XdpHash {
  uint64_t key;
  uint64_t state;
  uint64_t mixed;
  uint64_t length;
};

struct XdpLevel {
  struct XdpHash hash;
  uint32_t line_count;
  uint32_t first_line;  // element of the array
};

struct XdpSettings {
  struct XdpLevel levels[kXdpLevelsMax];
  uint32_t level_count;
  uint32_t value_bits;
  uint32_t fingerprint_bits;
  uint32_t slots;   // of a line
  uint32_t groups;  // of a line
  uint32_t key;     // XdpKey
  uint32_t stranger_action;
  uint32_t stranger_port;  // element of the device map
  uint32_t unassigned_action;
  uint32_t zero;
};
