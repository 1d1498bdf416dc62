// Whether bytes lie within a table. Every access to a table is asked for here.
module halo_bounds (
    input logic [halo::ADDRESS_BITS:0] address,
    input logic [6:0] bytes,
    input halo::line_t base_line,
    input logic [halo::ADDRESS_BITS:0] limit,
    output logic is_inside
);

  localparam int BITS = halo::ADDRESS_BITS;

  logic [BITS+1:0] behind;
  assign behind = {1'b0, address} + (BITS + 2)'(bytes);
  assign is_inside = address >= {1'b0, base_line, 6'd0} && behind <= {1'b0, limit};

endmodule
