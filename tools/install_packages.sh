#!/bin/sh
# Installs Debian packages and leaves no service started or enabled because of it. Run as root.
#
# Two means: while apt runs, /usr/sbin/policy-rc.d forbids starting services (one that was there
# before is put back); afterwards every service that the installation enabled, at boot by systemd or
# by SysV links, is disabled.
set -eu

policy=/usr/sbin/policy-rc.d
policy_before=/usr/sbin/policy-rc.d.before-roost
states=$(mktemp -d)

forbid_service_starts() {
  if [ -e "$policy" ] && [ ! -e "$policy_before" ]; then mv "$policy" "$policy_before"; fi
  printf '#!/bin/sh\n# Written by Roost while it installs packages.\nexit 101\n' >"$policy"
  chmod 755 "$policy"
}

put_back() {
  if [ -e "$policy_before" ]; then mv "$policy_before" "$policy"; else rm -f "$policy"; fi
  rm -rf "$states"
}

# What starts at boot: links to units, and SysV start links.
enabled_services() {
  {
    find /etc/systemd/system -mindepth 2 -type l -path '*.wants/*' 2>/dev/null
    find /etc/rc?.d -name 'S*' 2>/dev/null
  } | sort
}

disable_service() {
  case $1 in
    /etc/systemd/system/*)
      unit=$(basename "$1")
      rm -f "$1"
      ;;
    *)
      unit=$(basename "$1" | sed 's/^S[0-9][0-9]//')
      [ ! -e "$1" ] || update-rc.d "$unit" disable >/dev/null
      ;;
  esac
  printf '   not enabled at boot: %s\n' "$unit"
}

trap put_back EXIT
trap 'exit 130' HUP INT TERM
forbid_service_starts
enabled_services >"$states/before"

export DEBIAN_FRONTEND=noninteractive
lock=-oDPkg::Lock::Timeout=600
apt-get "$lock" -qq update
apt-get "$lock" -qq -y -oDpkg::Use-Pty=0 --no-install-recommends install "$@"

enabled_services >"$states/after"
comm -13 "$states/before" "$states/after" | while read -r link; do
  disable_service "$link"
done | sort -u
