// A place of the scoreboard: one query, what is known of it, and what it does next. What it wants
// is a function of its registers; units tell it in the same cycle what they found.
module halo_place #(
    parameter int KEY_BYTES = 16,
    parameter int LINES = 10,
    parameter bit FILTER = 1'b0,
    parameter bit COMMAND_KEY = 1'b0
) (
    input logic clk,
    input logic reset,
    input logic admit,
    input halo::query_t query,
    input logic has_key,
    input logic [8*KEY_BYTES-1:0] command_key,
    input logic [LINES-1:0] is_being_read,
    output logic [halo::UNITS-1:0] wanted,
    input logic [halo::UNITS-1:0] granted,
    // What units say to it; of the metadata cache, in the cycle after it was granted.
    input halo::finding_t finding,
    input logic [LINES-1:0] found,
    input logic [8*KEY_BYTES-1:0] masked,
    input logic is_hashed,
    input halo::places_t places,
    input halo::decision_t decision,
    input logic is_compared,
    input logic is_equal,
    input logic [63:0] found_word,
    // A reply to it: of a key or an entry, beginning where the read does.
    input logic reply,
    input logic reply_part,
    input halo::bucket_t reply_bucket,
    input logic [8*KEY_BYTES+55:0] reply_bytes,
    input logic [6:0] reply_key_bytes,  // of the table of the query that it is for
    input logic reply_has_mask,
    input halo::filled_t filled,
    // What it holds.
    output halo::step_t step,
    output logic [halo::TOKEN_BITS-1:0] token,
    output halo::line_t table_line,
    output logic [LINES-1:0] metadata,  // the line that it holds
    output logic [8*KEY_BYTES-1:0] key,
    output logic [8*KEY_BYTES+55:0] entry,
    output halo::bucket_t bucket,
    output halo::search_t search,
    output logic [halo::ADDRESS_BITS-1:0] address,
    output logic [63:0] word,
    output halo::memory_request_t memory_request,
    output halo::lock_request_t lock_request
`ifdef FORMAL
    ,
    output halo::proof_t proof
`endif
);

  localparam int ENTRY_BITS = 8 * KEY_BYTES + 56;
  localparam int BUCKET_BITS = halo::BUCKET_WIDTH;
  localparam int DATA_BITS = ENTRY_BITS > BUCKET_BITS ? ENTRY_BITS : BUCKET_BITS;

  logic [LINES-1:0] own;  // line of metadata
  logic [LINES-1:0] waits_for;  // a line of metadata that another query reads
  halo::line_t read_line;
  logic [5:0] read_offset;
  logic has_two_lines;
  logic has_asked;  // for the first of two lines
  logic [1:0] here;  // lines
  logic [1:0] entry_locks;
  logic [1:0] bucket_locks;
  logic is_in_command;
  halo::line_t primary;
  logic [DATA_BITS-1:0] data;  // a bucket until its signatures were compared, then an entry

  assign metadata = step == halo::FREE ? '0 : own;
  assign entry = data[ENTRY_BITS-1:0];
  assign bucket = data[BUCKET_BITS-1:0];
  assign address = {read_line, read_offset};

  always_comb begin
    wanted = '0;
    case (step)
      halo::METADATA: wanted[halo::METADATA_UNIT] = (waits_for & is_being_read) == '0;
      halo::DROP, halo::METADATA_READ, halo::KEY_READ, halo::BUCKET_READ, halo::ENTRY_READ:
      wanted[halo::MEMORY_PORT] = 1'b1;
      halo::LOCK_PRIMARY, halo::LOCK_SECONDARY, halo::LOCK_ENTRY, halo::UNLOCK_ENTRY, halo::UNLOCK:
      wanted[halo::LOCK_PORT] = 1'b1;
      halo::MASK: wanted[halo::MASK_UNIT] = 1'b1;
      halo::HASH: wanted[halo::HASH_UNIT] = 1'b1;
      halo::SIGNATURES, halo::CANDIDATE: wanted[halo::TAG_UNIT] = 1'b1;
      halo::COMPARE: wanted[halo::KEY_UNIT] = 1'b1;
      halo::COMMIT: wanted[halo::RESULT_PORT] = 1'b1;
      default: wanted = '0;
    endcase
  end

  always_comb begin
    memory_request.read = halo::READ_LINE;
    memory_request.part = 1'b0;
    memory_request.line = read_line;
    if (step == halo::DROP) begin
      memory_request.read = halo::DROP_METADATA;
      memory_request.line = search.bucket;
    end else if (step == halo::METADATA_READ) begin
      memory_request.read = halo::READ_METADATA;
      memory_request.line = table_line;
    end else memory_request.part = has_asked;
  end

  // The last one that was locked is the first one that is unlocked.
  always_comb begin
    lock_request.is_lock = 1'b0;
    lock_request.part = entry_locks[1];
    lock_request.line = read_line;
    if (step == halo::LOCK_ENTRY) begin
      lock_request.is_lock = 1'b1;
      lock_request.part = entry_locks[0];
    end else if (step == halo::LOCK_PRIMARY) begin
      lock_request.is_lock = 1'b1;
      lock_request.part = 1'b0;
      lock_request.line = primary;
    end else if (step == halo::LOCK_SECONDARY) begin
      lock_request.is_lock = 1'b1;
      lock_request.part = 1'b0;
      lock_request.line = search.secondary;
    end else if (entry_locks == 2'd0) begin
      lock_request.line = bucket_locks[1] ? search.secondary : primary;
    end
  end
`ifdef FORMAL
  assign proof = {entry_locks, bucket_locks, primary, search.secondary, read_line, has_two_lines,
                  has_asked, here};
`endif

  // --- What comes of what units and memory say. ---

  logic has_metadata;  // the table's, from now on
  logic asks_last;
  logic is_complete;
  logic ends_locks;
  logic [6:0] key_bytes;
  logic has_mask;
  halo::step_t step_with_key;
  assign has_metadata = step == halo::METADATA_SERVED ? finding.is_hit
      : step == halo::METADATA_WAIT && reply && !filled.is_stale && filled.is_table;
  assign key_bytes = step == halo::METADATA_SERVED ? finding.key_bytes : filled.key_bytes;
  assign has_mask = step == halo::METADATA_SERVED ? finding.has_mask
      : step == halo::METADATA_WAIT ? filled.has_mask : reply_has_mask;
  assign step_with_key = has_mask ? halo::MASK : halo::HASH;
  assign asks_last = has_asked == has_two_lines;
  assign is_complete = reply && (!has_two_lines || (here | {reply_part, !reply_part}) == 2'b11);
  assign ends_locks = entry_locks == 2'd0 && bucket_locks == 2'd1;

  always_ff @(posedge clk) begin
    case (step)
      halo::FREE: if (admit) step <= halo::METADATA;
      halo::METADATA: if (granted[halo::METADATA_UNIT]) step <= halo::METADATA_SERVED;
      halo::METADATA_SERVED:
      if (finding.is_hit) step <= is_in_command ? step_with_key : halo::KEY_READ;
      else if (finding.is_to_read)
        step <= finding.has_given_up ? halo::DROP : halo::METADATA_READ;
      else step <= halo::METADATA;
      halo::DROP: if (granted[halo::MEMORY_PORT]) step <= halo::METADATA_READ;
      halo::METADATA_READ: if (granted[halo::MEMORY_PORT]) step <= halo::METADATA_WAIT;
      halo::METADATA_WAIT:
      if (reply) begin
        if (filled.is_stale) step <= halo::METADATA_READ;
        else if (!filled.is_table) step <= halo::COMMIT;
        else step <= is_in_command ? step_with_key : halo::KEY_READ;
      end
      halo::KEY_READ: if (granted[halo::MEMORY_PORT] && asks_last) step <= halo::KEY_WAIT;
      halo::KEY_WAIT: if (is_complete) step <= step_with_key;
      halo::MASK: if (granted[halo::MASK_UNIT]) step <= halo::HASH;
      halo::HASH: if (granted[halo::HASH_UNIT]) step <= halo::HASH_SERVED;
      halo::HASH_SERVED:
      if (is_hashed) step <= places.is_refused ? halo::COMMIT : halo::LOCK_PRIMARY;
      halo::LOCK_PRIMARY:
      if (granted[halo::LOCK_PORT]) step <= FILTER ? halo::BUCKET_READ : halo::LOCK_SECONDARY;
      halo::LOCK_SECONDARY: if (granted[halo::LOCK_PORT]) step <= halo::BUCKET_READ;
      halo::BUCKET_READ: if (granted[halo::MEMORY_PORT]) step <= halo::BUCKET_WAIT;
      halo::BUCKET_WAIT: if (reply) step <= halo::SIGNATURES;
      halo::SIGNATURES, halo::CANDIDATE: if (granted[halo::TAG_UNIT]) step <= decision.step;
      halo::LOCK_ENTRY:
      if (granted[halo::LOCK_PORT] && entry_locks[0] == has_two_lines) step <= halo::ENTRY_READ;
      halo::ENTRY_READ: if (granted[halo::MEMORY_PORT] && asks_last) step <= halo::ENTRY_WAIT;
      halo::ENTRY_WAIT: if (is_complete) step <= halo::COMPARE;
      halo::COMPARE, halo::COMPARE_SERVED:
      if (is_compared) step <= is_equal ? halo::COMMIT : halo::UNLOCK_ENTRY;
      else if (granted[halo::KEY_UNIT]) step <= halo::COMPARE_SERVED;
      halo::UNLOCK_ENTRY:
      if (granted[halo::LOCK_PORT] && entry_locks == 2'd1) step <= halo::CANDIDATE;
      halo::COMMIT:
      if (granted[halo::RESULT_PORT]) step <= bucket_locks == 2'd0 ? halo::FREE : halo::UNLOCK;
      halo::UNLOCK: if (granted[halo::LOCK_PORT] && ends_locks) step <= halo::FREE;
      default: step <= halo::FREE;
    endcase
    if (reset) step <= halo::FREE;
  end

  // The query, and its line of metadata.
  always_ff @(posedge clk) begin
    if (admit) begin
      token <= query.token;
      table_line <= query.table_line;
      is_in_command <= COMMAND_KEY && has_key;
      own <= '0;
      waits_for <= '0;
    end
    if (step == halo::METADATA_SERVED) begin
      waits_for <= finding.is_being_read ? found : '0;
      if (finding.is_hit || finding.is_to_read) own <= found;
    end
  end

  // The key, zeroes behind it.
  always_ff @(posedge clk) begin
    if (COMMAND_KEY && admit) key <= command_key;
    if (COMMAND_KEY && has_metadata)
      for (int i = 0; i < KEY_BYTES; i++) if (7'(i) >= key_bytes) key[8*i+:8] <= '0;
    if (reply && (step == halo::KEY_READ || step == halo::KEY_WAIT))
      for (int i = 0; i < KEY_BYTES; i++)
        if (brings[i]) key[8*i+:8] <= 7'(i) < reply_key_bytes ? reply_bytes[8*i+:8] : 8'd0;
    if (granted[halo::MASK_UNIT]) key <= masked;
  end

  // Which bytes a reply brings: of the first line those up to its end, of the second the others.
  logic [KEY_BYTES+6:0] brings;
  always_comb
    for (int i = 0; i < KEY_BYTES + 7; i++)
      brings[i] = ({1'b0, 7'(i)} + {2'b0, read_offset} >= 8'd64) == reply_part;

  always_ff @(posedge clk)
    if (reply) begin
      if (step == halo::BUCKET_WAIT) data[BUCKET_BITS-1:0] <= reply_bucket;
      else
        for (int i = 0; i < KEY_BYTES + 7; i++)
          if (brings[i]) data[8*i+:8] <= reply_bytes[8*i+:8];
    end

  // What is read: the key, then buckets and entries.
  always_ff @(posedge clk) begin
    if (reply) here <= here | {reply_part, !reply_part};
    if (granted[halo::MEMORY_PORT]) has_asked <= 1'b1;
    if (admit) {read_line, read_offset} <= query.key_address;
    if (has_metadata) begin
      has_two_lines <= halo::crosses(read_offset, key_bytes);
      has_asked <= 1'b0;
      here <= '0;
    end
    if (is_hashed) begin
      read_line <= places.primary;
      has_two_lines <= 1'b0;
      has_asked <= 1'b0;
      here <= '0;
    end
    if (granted[halo::TAG_UNIT]) begin
      read_line <= decision.read_line;
      read_offset <= decision.read_offset;
      has_two_lines <= decision.has_two_lines;
      has_asked <= 1'b0;
      here <= '0;
    end
  end

  // Where the key may be. Before that is known, the line of metadata that has to go stands there.
  always_ff @(posedge clk) begin
    if (step == halo::METADATA_SERVED) search.bucket <= finding.given_up;
    if (is_hashed) begin
      search.tag <= places.tag;
      search.bucket <= places.primary;
      search.secondary <= places.secondary;
      search.seen <= 9'd1;
      primary <= places.primary;
    end
    if (granted[halo::TAG_UNIT]) search <= decision.search;
  end

  always_ff @(posedge clk) begin
    if (granted[halo::LOCK_PORT])
      case (step)
        halo::LOCK_PRIMARY: bucket_locks <= 2'd1;
        halo::LOCK_SECONDARY: bucket_locks <= 2'd2;
        halo::LOCK_ENTRY: entry_locks <= entry_locks + 2'd1;
        default:
        if (entry_locks != 2'd0) entry_locks <= entry_locks - 2'd1;
        else bucket_locks <= bucket_locks - 2'd1;
      endcase
    if (reset) begin
      bucket_locks <= '0;
      entry_locks <= '0;
    end
  end

  always_ff @(posedge clk) begin
    if (step == halo::METADATA_WAIT || (is_hashed && places.is_refused)) word <= halo::REFUSED;
    if (granted[halo::TAG_UNIT]) word <= decision.word;
    if (is_compared) word <= found_word;
  end

endmodule
