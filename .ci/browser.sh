#!/usr/bin/env bash
# Makes sure of /usr/bin/chromium, with which the generated pages are tested; on Debian as root it installs it.
# Where it cannot be had, these tests are skipped with a reason.
set -euo pipefail

[ ! -x /usr/bin/chromium ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "no /usr/bin/chromium: the tests of pages in a browser will be skipped" >&2
  exit 0
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
