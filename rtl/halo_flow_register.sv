// A bit for each remainder that hashes have left since it was cleared (HALO, section 4.6). Hashes
// of the cycle in which it is cleared stay.
module halo_flow_register #(
    parameter int FLOW_BITS = 32
) (
    input logic clk,
    input logic reset,
    input logic clear,
    input logic is_hashed,
    input logic [$clog2(FLOW_BITS)-1:0] remainder,
    output logic [FLOW_BITS-1:0] flows
);

  always_ff @(posedge clk) begin
    if (reset) flows <= '0;
    else flows <= (clear ? '0 : flows) | (FLOW_BITS'(is_hashed) << remainder);
  end

endmodule
