// The memory and lock ports: registers that are filled when they are empty or being taken. A line is
// read only when its lock has been taken, which `waits_for_lock` sees to.
module halo_memory_port #(
    parameter int PLACES = 10
) (
    input logic clk,
    input logic reset,
    output logic is_memory_free,
    input logic [PLACES-1:0] memory_granted,
    input logic [PLACES*halo::MEMORY_REQUEST_WIDTH-1:0] memory_requests,
    output logic is_lock_free,
    input logic [PLACES-1:0] lock_granted,
    input logic [PLACES*halo::LOCK_REQUEST_WIDTH-1:0] lock_requests,
    output logic [PLACES-1:0] waits_for_lock,  // whose lock is offered, and not taken

    output logic memory_valid,
    input logic memory_ready,
    output halo::read_t memory_read,
    output logic [$clog2(PLACES):0] memory_identifier,
    output halo::line_t memory_line,
    output logic lock_valid,
    input logic lock_ready,
    output logic lock_is_lock,
    output halo::line_t lock_line
);

  halo::memory_request_t memory;
  halo::lock_request_t lock;
  logic [PLACES-1:0] lock_owner;
  logic [$clog2(PLACES)-1:0] place;
  halo_select #(
      .WIDTH(halo::MEMORY_REQUEST_WIDTH),
      .COUNT(PLACES)
  ) select_memory (
      .chosen(memory_granted),
      .items (memory_requests),
      .item  (memory)
  );
  halo_select #(
      .WIDTH(halo::LOCK_REQUEST_WIDTH),
      .COUNT(PLACES)
  ) select_lock (
      .chosen(lock_granted),
      .items (lock_requests),
      .item  (lock)
  );

  assign is_memory_free = !memory_valid || memory_ready;
  assign is_lock_free = !lock_valid || lock_ready;
  assign waits_for_lock = is_lock_free ? '0 : lock_owner;
  always_comb begin
    place = '0;
    for (int i = 0; i < PLACES; i++) if (memory_granted[i]) place |= $clog2(PLACES)'(i);
  end

  always_ff @(posedge clk) begin
    if (is_memory_free) begin
      memory_valid <= memory_granted != '0;
      memory_read <= memory.read;
      memory_identifier <= memory.read == halo::DROP_METADATA ? '0 : {place, memory.part};
      memory_line <= memory.line + (halo::LINE_BITS)'(memory.part);
    end
    if (is_lock_free) begin
      lock_valid <= lock_granted != '0;
      lock_owner <= lock_granted;
      lock_is_lock <= lock.is_lock;
      lock_line <= lock.line + (halo::LINE_BITS)'(lock.part);
    end
    if (reset) begin
      memory_valid <= 1'b0;
      lock_valid <= 1'b0;
    end
  end

endmodule
