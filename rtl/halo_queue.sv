// A queue whose head is offered from registers. What is put in and taken out is seen in the next
// cycle; it may be full and empty only for what was there at the cycle's beginning.
module halo_queue #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 8
) (
    input logic clk,
    input logic reset,
    input logic put,  // only if not full
    input logic [WIDTH-1:0] put_item,
    output logic is_full,
    output logic is_empty,
    output logic [WIDTH-1:0] head,
    input logic take  // only if not empty
`ifdef FORMAL
    ,
    output logic [WIDTH*DEPTH-1:0] contents,
    output logic [DEPTH-1:0] is_there
`endif
);

  localparam int PLACE_BITS = DEPTH > 1 ? $clog2(DEPTH) : 1;
  localparam int COUNT_BITS = $clog2(DEPTH + 1);

  logic [WIDTH*DEPTH-1:0] items;
  logic [PLACE_BITS-1:0] first;
  logic [PLACE_BITS-1:0] next;
  logic [COUNT_BITS-1:0] count;

`ifdef FORMAL
  assign contents = items;
  always_comb
    for (int i = 0; i < DEPTH; i++)
      is_there[i] = (32'(i) + 32'(DEPTH) - 32'(first)) % 32'(DEPTH) < 32'(count);
`ifndef ONLY_PROPERTIES
  always_comb
    if (!reset) begin
      assert (32'(count) <= 32'(DEPTH) && 32'(first) < 32'(DEPTH));
      assert (32'(next) == (32'(first) + 32'(count)) % 32'(DEPTH));
    end
`endif
`endif

  assign is_full = count == COUNT_BITS'(DEPTH);
  assign is_empty = count == '0;
  always_comb begin
    head = '0;
    for (int i = 0; i < DEPTH; i++)
      if (first == PLACE_BITS'(i)) head = items[i*WIDTH+:WIDTH];
  end

  always_ff @(posedge clk) begin
    for (int i = 0; i < DEPTH; i++)
      if (put && next == PLACE_BITS'(i)) items[i*WIDTH+:WIDTH] <= put_item;
    if (put) next <= next == PLACE_BITS'(DEPTH - 1) ? '0 : next + 1'b1;
    if (take) first <= first == PLACE_BITS'(DEPTH - 1) ? '0 : first + 1'b1;
    count <= count + COUNT_BITS'(put) - COUNT_BITS'(take);
    if (reset) begin
      first <= '0;
      next <= '0;
      count <= '0;
    end
  end

endmodule
