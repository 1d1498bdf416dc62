// Tells the service manager that started this process, if one did, how it is: systemd's
// notification protocol, by its own library.
//
//   READY=1     once every worker has taken a turn
//   WATCHDOG=1  twice in each interval that the manager gives, if every worker takes a turn then
//   STATUS=...  a sentence; when a worker takes no turn, which one
//   STOPPING=1  at the end
//
// A turn is asked for through the mailboxes, so that a worker that hangs is one that does not feed
// the watchdog, whatever the other threads do. It does not wait behind their requests: a worker
// that walks a large table for one takes turns all the while.
#pragma once

#include <memory>

#include "roost/node/mailbox.h"

namespace roost::control {

class ServiceNotice {
 public:
  // Null when no service manager listens. The mailboxes must outlive the notice.
  static std::unique_ptr<ServiceNotice> start(node::WorkerMailboxes& mailboxes);

  ServiceNotice(const ServiceNotice&) = delete;
  ServiceNotice& operator=(const ServiceNotice&) = delete;
  ~ServiceNotice();  // says that it stops; waits for at most a second if the mailboxes are open

 private:
  class Notifier;
  explicit ServiceNotice(std::unique_ptr<Notifier> notifier);

  std::unique_ptr<Notifier> notifier_;
};

}  // namespace roost::control
