# shellcheck shell=sh
# Packages by tier, and their installation when some are missing. Sourced by ./dev.
#
# A tier holds the one before it: run < test < lab. Asking dpkg costs milliseconds, so every command
# of ./dev that needs packages asks; with all of them there, an ordinary user needs no privilege and
# no network.

packages_run='g++ cmake ninja-build pkg-config
  libdpdk-dev libpcap-dev libcli11-dev libtomlplusplus-dev libfmt-dev nlohmann-json3-dev
  libasio-dev libcurl4-openssl-dev libmnl-dev prometheus-cpp-dev libcivetweb-dev libsystemd-dev'

# python3-munkres: without it matplotlib brings scipy, whose Boost takes the place of the lab's.
packages_test='clang-16 clang-format-16 libclang-rt-16-dev ccache
  libbpf-dev libgtest-dev googletest g++-aarch64-linux-gnu qemu-user gdb valgrind doxygen
  python3 python3-dev python3-venv python3-numpy python3-matplotlib python3-munkres
  python3-scapy python3-prometheus-client python3-pyflakes mandoc shellcheck binutils spin
  iproute2 linux-libc-dev ethtool tcpdump tshark nginx-light dnsmasq-base bind9-dnsutils curl
  iputils-ping arping iperf3 openvswitch-switch prads traceroute procps conntrack nftables coturn
  bird2 etcd-server etcd-client ieee-data verilator yosys z3 opensta
  ca-certificates build-essential debhelper lintian sse4.2-support systemd'

# Of PyPI: Debian's matches in system headers too, and takes two and a half times as long.
clang_tidy_version=22.1.8
clang_tidy=build/clang-tidy-$clang_tidy_version/bin/clang-tidy

packages_lab='libboost1.81-dev libbenchmark-dev
  libabsl-dev robin-map-dev libtsl-hopscotch-map-dev libsparsehash-dev libcuckoo-dev libtbb-dev
  liburcu-dev dpdk-dev openvswitch-switch-dpdk libhyperscan-dev ieee-data cloc python3-tqdm'

# The packages among the arguments that are not installed.
missing_packages() {
  installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/ installed$//p') || true
  for package in "$@"; do
    printf '%s\n' "$installed" | grep -qxF -- "$package" || printf '%s\n' "$package"
  done
}

setup() {
  case $1 in
    run) packages=$packages_run ;;
    test) packages="$packages_run $packages_test" ;;
    lab) packages="$packages_run $packages_test $packages_lab" ;;
    *) fail "no tier '$1'; there are run, test and lab" ;;
  esac
  # shellcheck disable=SC2086  # the lists are split into words on purpose
  missing=$(missing_packages $packages)
  if [ -n "$missing" ]; then
    # shellcheck disable=SC2086
    say "installing what tier $1 needs:" $missing
    # shellcheck disable=SC2086
    install_packages $missing
  fi
  [ "$1" = run ] || install_clang_tidy
  [ "$1" = run ] || fetch_world_networks
  [ "$1" = run ] || fetch_cell_library
}

install_packages() {
  if [ "$(id -u)" -eq 0 ]; then
    sh tools/install_packages.sh "$@"
  elif command -v sudo >/dev/null; then
    sudo sh tools/install_packages.sh "$@"
  else
    fail "packages are missing and there is no sudo. As root: sh $root/tools/install_packages.sh $*"
  fi
}

install_clang_tidy() {
  [ ! -x "$clang_tidy" ] || return 0
  say "installing clang-tidy $clang_tidy_version"
  folder=${clang_tidy%/bin/*}
  rm -rf "$folder"
  /usr/bin/python3 -m venv "$folder"
  if ! "$folder/bin/pip" -q --disable-pip-version-check install "clang-tidy==$clang_tidy_version"
  then
    rm -rf "$folder"
    fail "clang-tidy $clang_tidy_version could not be installed by pip, which said why above"
  fi
}

# Which networks the world's registries have given to whom. Only the package's files are wanted; to
# install it would bring a daemon.
fetch_world_networks() {
  [ ! -f build/geoip/usr/share/tor/geoip ] || return 0
  say 'fetching the networks of tor-geoipdb'
  mkdir -p build/geoip
  (cd build/geoip && apt-get -q download tor-geoipdb && dpkg-deb -x tor-geoipdb_*.deb .) ||
    fail 'the files of tor-geoipdb could not be fetched by apt-get download, which said why above'
}

# Cells of a 0.18 um process, for the sizes of rtl. Only the files are wanted; to install them would
# bring a graphical flow.
fetch_cell_library() {
  [ ! -f build/osu018/usr/share/qflow/tech/osu018/osu018_stdcells.lib ] || return 0
  say 'fetching the cells of qflow-tech-osu018'
  mkdir -p build/osu018
  (cd build/osu018 && apt-get -q download qflow-tech-osu018 &&
    dpkg-deb -x qflow-tech-osu018_*.deb .) ||
    fail 'the files of qflow-tech-osu018 could not be fetched by apt-get download, which said why'
}
