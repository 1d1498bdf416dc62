// The lookup unit beside a slice (HALO, section 4.3), as sim/accelerator.h describes it. Registered
// outputs; a transfer takes place where valid and ready are both 1; what is offered stays until it
// is taken. docs/decisions/0054 says what each port is, 0057 what a cycle's decisions depend on.
module halo_accelerator #(
    parameter int KEY_BYTES = 16,  // of the longest padded key: 8, 16, 24, 32, 40 or 64
    parameter int PLACES = 10,
    parameter int LINES = 10,  // of metadata
    parameter int COMMANDS = 8,
    parameter int RESULTS = 8,
    parameter int FLOW_BITS = 32,
    parameter bit FILTER = 1'b0,  // ours: the second bucket only if the filter says so
    parameter bit COMMAND_KEY = 1'b0  // ours: keys in commands
) (
    input logic clk,
    input logic reset,

    input logic query_valid,
    output logic query_ready,
    input halo::query_t query,
    input logic query_has_key,
    input logic [8*KEY_BYTES-1:0] query_key,

    output logic memory_valid,
    input logic memory_ready,
    output halo::read_t memory_read,
    output logic [$clog2(PLACES):0] memory_identifier,  // the place, and which of two lines
    output halo::line_t memory_line,

    input logic reply_valid,
    input logic [$clog2(PLACES):0] reply_identifier,
    input logic [511:0] reply_line,

    output logic lock_valid,
    input logic lock_ready,
    output logic lock_is_lock,
    output halo::line_t lock_line,

    input logic invalidate_valid,
    input halo::line_t invalidate_line,

    output logic result_valid,
    input logic result_ready,
    output logic [halo::TOKEN_BITS-1:0] result_token,
    output logic [63:0] result_word,

    output logic busy,
    input logic clear_flows,
    output logic [FLOW_BITS-1:0] flows
);

  localparam int KEY_BITS = 8 * KEY_BYTES;
  localparam int ENTRY_BITS = KEY_BITS + 56;
  localparam int TABLE_BITS = halo::TABLE_WIDTH;
  localparam int QUERY_BITS = halo::QUERY_WIDTH;
  localparam int COMMAND_BITS = QUERY_BITS + (COMMAND_KEY ? KEY_BITS + 1 : 0);

  // --- The scoreboard, an item of each place beside each other. ---
  logic [PLACES-1:0] is_used;
  logic [PLACES-1:0] admit;
  logic [PLACES*halo::TOKEN_BITS-1:0] tokens;
  logic [PLACES*halo::LINE_BITS-1:0] table_lines;
  logic [PLACES*LINES-1:0] metadata;
  logic [PLACES*KEY_BITS-1:0] keys;
  logic [PLACES*ENTRY_BITS-1:0] entries;
  logic [PLACES*halo::BUCKET_WIDTH-1:0] buckets;
  logic [PLACES*halo::SEARCH_WIDTH-1:0] searches;
  logic [PLACES*halo::ADDRESS_BITS-1:0] addresses;
  logic [PLACES*64-1:0] words;
  logic [PLACES*halo::MEMORY_REQUEST_WIDTH-1:0] memory_requests;
  logic [PLACES*halo::LOCK_REQUEST_WIDTH-1:0] lock_requests;
  logic [PLACES-1:0] has_bucket;  // whose signatures are to be compared
  logic [PLACES*PLACES-1:0] older;
  logic [halo::UNITS*PLACES-1:0] wanted;
  logic [halo::UNITS*PLACES-1:0] granted;
  logic [halo::UNITS-1:0] is_free;
  logic [PLACES-1:0] waits_for_lock;

`ifdef FORMAL
  logic [COMMAND_BITS*COMMANDS-1:0] command_contents;
  logic [COMMANDS-1:0] command_there;
  logic [(halo::TOKEN_BITS+64)*RESULTS-1:0] result_contents;
  logic [RESULTS-1:0] result_there;
  logic [LINES-1:0] is_valid;
  logic [LINES-1:0] is_stale;
  logic [LINES*halo::LINE_BITS-1:0] held_lines;
  logic [PLACES-1:0] looks_up;
  logic [4*PLACES-1:0] hash_owners;
  logic [PLACES-1:0] comparing;
  logic [PLACES*halo::PROOF_WIDTH-1:0] proofs;
  logic [PLACES*5-1:0] steps;
`endif

  // --- Commands. ---
  logic [COMMAND_BITS-1:0] command_in;
  logic [COMMAND_BITS-1:0] command_out;
  halo::query_t command;
  logic command_has_key;
  logic [KEY_BITS-1:0] command_key;
  logic has_no_room;
  logic has_no_command;
  assign query_ready = !has_no_room;
  assign busy = is_used == '1;
  if (COMMAND_KEY) begin : g_command_key
    assign command_in = {query_key, query_has_key, query};
    assign {command_key, command_has_key, command} = command_out;
  end else begin : g_no_command_key
    // Ports of the other form.
    // verilator lint_off UNUSEDSIGNAL
    logic is_unused;
    assign is_unused = query_has_key | (query_key != '0);
    // verilator lint_on UNUSEDSIGNAL
    assign command_in = query;
    assign command = command_out;
    assign command_has_key = 1'b0;
    assign command_key = '0;
  end
  halo_queue #(
      .WIDTH(COMMAND_BITS),
      .DEPTH(COMMANDS)
  ) commands (
      .clk(clk),
      .reset(reset),
      .put(query_valid && query_ready),
      .put_item(command_in),
      .is_full(has_no_room),
      .is_empty(has_no_command),
      .head(command_out),
      .take(admit != '0)
`ifdef FORMAL
      ,
      .contents(command_contents),
      .is_there(command_there)
`endif
  );
  // Into the first place that is free.
  assign admit = has_no_command || busy ? '0 : ~is_used & (is_used + 1'b1);
  halo_age #(
      .PLACES(PLACES)
  ) age (
      .clk(clk),
      .admit(admit),
      .older(older)
  );

  // --- Who is served. ---
  for (genvar unit = 0; unit < halo::UNITS; unit++) begin : g_unit
    halo_oldest #(
        .PLACES(PLACES)
    ) oldest (
        .is_free(is_free[unit]),
        .wanted(wanted[unit*PLACES+:PLACES] & ~(unit == halo::MEMORY_PORT ? waits_for_lock : '0)),
        .older(older),
        .granted(granted[unit*PLACES+:PLACES])
    );
  end
  assign is_free[halo::METADATA_UNIT] = 1'b1;
  assign is_free[halo::MASK_UNIT] = 1'b1;
  assign is_free[halo::TAG_UNIT] = 1'b1;

  // --- Units. ---
  logic [LINES*TABLE_BITS-1:0] tables;
  logic [LINES-1:0] is_being_read;
  halo::finding_t finding;
  logic [LINES-1:0] found;
  halo::filled_t filled;
  logic [PLACES-1:0] replied;
  logic [PLACES-1:0] waits_for_metadata;
  // Of the table of a reply's query two fields are asked for.
  // verilator lint_off UNUSEDSIGNAL
  halo::table_t reply_table;
  // verilator lint_on UNUSEDSIGNAL
  halo_metadata_cache #(
      .KEY_BYTES(KEY_BYTES),
      .PLACES(PLACES),
      .LINES(LINES)
  ) metadata_cache (
      .clk(clk),
      .reset(reset),
      .metadata(metadata),
      .granted(granted[halo::METADATA_UNIT*PLACES+:PLACES]),
      .table_lines(table_lines),
      .finding(finding),
      .found(found),
      .replied(replied),
      .waits_for_metadata(waits_for_metadata),
      .fill_line(reply_line),
      .filled(filled),
      .reply_table(reply_table),
      .invalidate(invalidate_valid),
      .invalidate_line(invalidate_line),
      .is_being_read(is_being_read),
      .tables(tables)
`ifdef FORMAL
      ,
      .is_valid(is_valid),
      .is_stale(is_stale),
      .held_lines(held_lines),
      .looks_up(looks_up)
`endif
  );

  logic [ENTRY_BITS-1:0] reply_bytes;
  halo::bucket_t reply_bucket;
  halo_reply #(
      .KEY_BYTES(KEY_BYTES),
      .PLACES(PLACES)
  ) replies (
      .valid(reply_valid),
      .place(reply_identifier[$clog2(PLACES):1]),
      .line(reply_line),
      .addresses(addresses),
      .replied(replied),
      .bytes(reply_bytes),
      .bucket(reply_bucket)
  );

  logic [KEY_BITS-1:0] masked;
  halo_mask_unit #(
      .KEY_BYTES(KEY_BYTES),
      .PLACES(PLACES),
      .LINES(LINES)
  ) mask_unit (
      .granted(granted[halo::MASK_UNIT*PLACES+:PLACES]),
      .keys(keys),
      .metadata(metadata),
      .tables(tables),
      .masked(masked)
  );

  logic [PLACES-1:0] hashed;
  halo::places_t places;
  logic [$clog2(FLOW_BITS)-1:0] flow;
  halo_hash_unit #(
      .KEY_BYTES(KEY_BYTES),
      .PLACES(PLACES),
      .LINES(LINES),
      .FLOW_BITS(FLOW_BITS)
  ) hash_unit (
      .clk(clk),
      .reset(reset),
      .is_free(is_free[halo::HASH_UNIT]),
      .granted(granted[halo::HASH_UNIT*PLACES+:PLACES]),
      .keys(keys),
      .metadata(metadata),
      .tables(tables),
      .ready(hashed),
      .places(places),
      .flow(flow)
`ifdef FORMAL
      ,
      .owners(hash_owners)
`endif
  );
  halo_flow_register #(
      .FLOW_BITS(FLOW_BITS)
  ) flow_register (
      .clk(clk),
      .reset(reset),
      .clear(clear_flows),
      .is_hashed(hashed != '0),
      .remainder(flow),
      .flows(flows)
  );

  halo::decision_t decision;
  halo_tag_unit #(
      .PLACES(PLACES),
      .LINES (LINES),
      .FILTER(FILTER)
  ) tag_unit (
      .granted(granted[halo::TAG_UNIT*PLACES+:PLACES]),
      .has_bucket(has_bucket),
      .buckets(buckets),
      .searches(searches),
      .metadata(metadata),
      .tables(tables),
      .decision(decision)
  );

  logic [PLACES-1:0] key_from;
  logic is_compared;
  logic is_equal;
  logic [63:0] found_word;
  halo_key_unit #(
      .KEY_BYTES(KEY_BYTES),
      .PLACES(PLACES),
      .LINES(LINES)
  ) key_unit (
      .clk(clk),
      .reset(reset),
      .is_free(is_free[halo::KEY_UNIT]),
      .granted(granted[halo::KEY_UNIT*PLACES+:PLACES]),
      .keys(keys),
      .entries(entries),
      .addresses(addresses),
      .metadata(metadata),
      .tables(tables),
      .taken_from(key_from),
      .is_done(is_compared),
      .is_equal(is_equal),
      .word(found_word)
`ifdef FORMAL
      ,
      .comparing(comparing)
`endif
  );

  halo_memory_port #(
      .PLACES(PLACES)
  ) memory_port (
      .clk(clk),
      .reset(reset),
      .is_memory_free(is_free[halo::MEMORY_PORT]),
      .memory_granted(granted[halo::MEMORY_PORT*PLACES+:PLACES]),
      .memory_requests(memory_requests),
      .is_lock_free(is_free[halo::LOCK_PORT]),
      .lock_granted(granted[halo::LOCK_PORT*PLACES+:PLACES]),
      .lock_requests(lock_requests),
      .waits_for_lock(waits_for_lock),
      .memory_valid(memory_valid),
      .memory_ready(memory_ready),
      .memory_read(memory_read),
      .memory_identifier(memory_identifier),
      .memory_line(memory_line),
      .lock_valid(lock_valid),
      .lock_ready(lock_ready),
      .lock_is_lock(lock_is_lock),
      .lock_line(lock_line)
  );

  // --- Results. ---
  logic has_no_result;
  logic [halo::TOKEN_BITS-1:0] ended_token;
  logic [63:0] ended_word;
  halo_select #(
      .WIDTH(halo::TOKEN_BITS),
      .COUNT(PLACES)
  ) select_token (
      .chosen(granted[halo::RESULT_PORT*PLACES+:PLACES]),
      .items (tokens),
      .item  (ended_token)
  );
  halo_select #(
      .WIDTH(64),
      .COUNT(PLACES)
  ) select_word (
      .chosen(granted[halo::RESULT_PORT*PLACES+:PLACES]),
      .items (words),
      .item  (ended_word)
  );
  logic has_no_place;
  assign is_free[halo::RESULT_PORT] = !has_no_place;
  assign result_valid = !has_no_result;
  halo_queue #(
      .WIDTH(halo::TOKEN_BITS + 64),
      .DEPTH(RESULTS)
  ) results (
      .clk(clk),
      .reset(reset),
      .put(granted[halo::RESULT_PORT*PLACES+:PLACES] != '0),
      .put_item({ended_token, ended_word}),
      .is_full(has_no_place),
      .is_empty(has_no_result),
      .head({result_token, result_word}),
      .take(result_valid && result_ready)
`ifdef FORMAL
      ,
      .contents(result_contents),
      .is_there(result_there)
`endif
  );

  // --- The places. ---
  for (genvar i = 0; i < PLACES; i++) begin : g_place
    halo::step_t step;
    logic [halo::UNITS-1:0] place_wanted;
    logic [halo::UNITS-1:0] place_granted;
    for (genvar unit = 0; unit < halo::UNITS; unit++) begin : g_unit
      assign wanted[unit*PLACES+i] = place_wanted[unit];
      assign place_granted[unit] = granted[unit*PLACES+i];
    end
    assign is_used[i] = step != halo::FREE;
`ifdef FORMAL
    assign steps[5*i+:5] = step;
`endif
    assign waits_for_metadata[i] = step == halo::METADATA_WAIT;
    assign has_bucket[i] = step == halo::SIGNATURES;
    halo_place #(
        .KEY_BYTES(KEY_BYTES),
        .LINES(LINES),
        .FILTER(FILTER),
        .COMMAND_KEY(COMMAND_KEY)
    ) place (
        .clk(clk),
        .reset(reset),
        .admit(admit[i]),
        .query(command),
        .has_key(command_has_key),
        .command_key(command_key),
        .is_being_read(is_being_read),
        .wanted(place_wanted),
        .granted(place_granted),
        .finding(finding),
        .found(found),
        .masked(masked),
        .is_hashed(hashed[i]),
        .places(places),
        .decision(decision),
        .is_compared(is_compared && key_from[i]),
        .is_equal(is_equal),
        .found_word(found_word),
        .reply(replied[i]),
        .reply_part(reply_identifier[0]),
        .reply_bucket(reply_bucket),
        .reply_bytes(reply_bytes),
        .reply_key_bytes(reply_table.key_bytes),
        .reply_has_mask(reply_table.has_mask),
        .filled(filled),
        .step(step),
        .token(tokens[i*halo::TOKEN_BITS+:halo::TOKEN_BITS]),
        .table_line(table_lines[i*halo::LINE_BITS+:halo::LINE_BITS]),
        .metadata(metadata[i*LINES+:LINES]),
        .key(keys[i*KEY_BITS+:KEY_BITS]),
        .entry(entries[i*ENTRY_BITS+:ENTRY_BITS]),
        .bucket(buckets[i*halo::BUCKET_WIDTH+:halo::BUCKET_WIDTH]),
        .search(searches[i*halo::SEARCH_WIDTH+:halo::SEARCH_WIDTH]),
        .address(addresses[i*halo::ADDRESS_BITS+:halo::ADDRESS_BITS]),
        .word(words[i*64+:64]),
        .memory_request(memory_requests[i*halo::MEMORY_REQUEST_WIDTH+:
                                        halo::MEMORY_REQUEST_WIDTH]),
        .lock_request(lock_requests[i*halo::LOCK_REQUEST_WIDTH+:halo::LOCK_REQUEST_WIDTH])
`ifdef FORMAL
        ,
        .proof(proofs[i*halo::PROOF_WIDTH+:halo::PROOF_WIDTH])
`endif
    );
  end

`ifdef FORMAL
`include "halo_properties.svh"
`endif

endmodule
