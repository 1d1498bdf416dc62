// A reply on its way to its place: turned so that what was asked for begins at byte 0, and what a
// bucket's line says.
module halo_reply #(
    parameter int KEY_BYTES = 16,
    parameter int PLACES = 10
) (
    input logic valid,
    input logic [$clog2(PLACES)-1:0] place,
    input logic [511:0] line,
    input logic [PLACES*halo::ADDRESS_BITS-1:0] addresses,
    output logic [PLACES-1:0] replied,
    output logic [8*KEY_BYTES+55:0] bytes,
    output halo::bucket_t bucket
);

  // Of the address the place in the line; of the line so many bytes as an entry's first ones.
  // verilator lint_off UNUSEDSIGNAL
  logic [halo::ADDRESS_BITS-1:0] address;
  logic [511:0] turned;
  // verilator lint_on UNUSEDSIGNAL
  assign replied = PLACES'(valid) << place;
  halo_select #(
      .WIDTH(halo::ADDRESS_BITS),
      .COUNT(PLACES)
  ) select_address (
      .chosen(replied),
      .items (addresses),
      .item  (address)
  );
  assign turned = 512'({line, line} >> {address[5:0], 3'd0});
  if (KEY_BYTES == 64) begin : g_more_than_a_line
    assign bytes = {turned[55:0], turned};
  end else begin : g_less_than_a_line
    assign bytes = turned[8*KEY_BYTES+55:0];
  end

  assign bucket.tags = line[127:0];
  assign bucket.filter = line[32*8+:64];
  assign bucket.busy = line[42*8+:8];
  assign bucket.has_stashed = line[44*8+:8] != 8'd0;

endmodule
