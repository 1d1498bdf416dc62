# shellcheck shell=sh
# ./dev run: captures through the load balancer, by DPDK's net_pcap ports. Sourced by ./dev.
#
# A capture is fed to a port, and what the balancer sends out of that port is written to out/. It
# needs no NIC, no huge pages and no privilege: --no-huge takes ordinary pages, and DPDK's runtime
# files go to a folder that is removed at the end.

roost=build/release/apps/roost

# A run needs the program alone: a fresh clone configures without the tests, whose packages may be
# missing.
build_program() {
  setup run
  if [ -f build/release/build.ninja ]; then
    configure release
  else
    configure release -DROOST_TESTS=OFF
  fi
  say 'building the roost program (build/release)'
  compile release roost
}

# port_count CONFIG: the number of [[port]] tables.
port_count() { grep -cE '^[[:space:]]*\[\[[[:space:]]*port[[:space:]]*\]\]' "$1" || true; }

# replay CONFIG CAPTURE...: a capture a port, in the configuration's order; a port without one only
# sends.
replay() {
  config=$1
  shift
  ports=$(port_count "$config")
  [ "$ports" -ge $# ] || fail "$config has $ports [[port]] tables, and there are $# captures"

  # What an earlier run sent must not be taken for this one's.
  rm -f out/port*.pcap out/port*-in

  # Links, because a device's arguments are separated by commas, which a capture's path may contain.
  port=0
  devices=''
  while [ "$port" -lt "$ports" ]; do
    device="--vdev=net_pcap$port,tx_pcap=out/port$port.pcap"
    if [ $# -gt 0 ]; then
      ln -sfn "$1" "out/port$port-in"
      device="$device,rx_pcap=out/port$port-in"
      shift
    fi
    devices="$devices $device"
    port=$((port + 1))
  done

  # The first processor this process may use: a container's need not be number 0.
  processor=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
  RUNTIME_DIRECTORY=$(mktemp -d)
  export RUNTIME_DIRECTORY
  trap 'rm -rf "$RUNTIME_DIRECTORY"' EXIT
  status=0
  # shellcheck disable=SC2086  # the devices are words
  "$roost" lb -c "$config" -- --no-huge --no-pci --no-telemetry -m 256 \
    --lcores "0@$processor" $devices || status=$?

  say "what went out, for Wireshark or tshark -r:"
  port=0
  while [ "$port" -lt "$ports" ]; do
    printf '   %s\n' "$root/out/port$port.pcap"
    port=$((port + 1))
  done
  return "$status"
}

# absolute PATH: seen from the folder that ./dev was called in.
absolute() {
  case $1 in
    /*) printf '%s' "$1" ;;
    *) printf '%s/%s' "$caller_folder" "$1" ;;
  esac
}

run() {
  capture=''
  config=''
  while [ $# -gt 0 ]; do
    case $1 in
      -c)
        [ $# -ge 2 ] || fail 'run: -c needs a file'
        config=$(absolute "$2")
        shift 2
        ;;
      -*) fail "run: no option '$1'" ;;
      *)
        [ -z "$capture" ] || fail 'run: one capture at a time'
        capture=$(absolute "$1")
        shift
        ;;
    esac
  done
  for file in "$capture" "$config"; do
    [ -z "$file" ] || [ -r "$file" ] || fail "run: cannot read $file"
  done

  build_program
  mkdir -p out
  if [ -z "$capture" ]; then
    say 'replaying demo/lb: both legs of a live run, as the load balancer received them'
    replay "${config:-demo/lb/lb.toml}" "$root/demo/lb/client.pcap" "$root/demo/lb/backends.pcap"
    return
  fi
  if [ -z "$config" ]; then
    config=out/suggested.toml
    "$roost" lb --suggest "$capture" >"$config"
    say "no configuration was given: what the capture contacts most became services on invented"
    printf '   backends, see %s; change it and pass it with -c\n' "$root/$config"
  fi
  replay "$config" "$capture"
}
