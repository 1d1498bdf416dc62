// The item of the one that is chosen; zero if none is.
module halo_select #(
    parameter int WIDTH = 1,
    parameter int COUNT = 2
) (
    input logic [COUNT-1:0] chosen,
    input logic [COUNT*WIDTH-1:0] items,
    output logic [WIDTH-1:0] item
);

  always_comb begin
    item = '0;
    for (int i = 0; i < COUNT; i++) item |= {WIDTH{chosen[i]}} & items[i*WIDTH+:WIDTH];
  end

endmodule
