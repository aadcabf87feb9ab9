#!/usr/bin/env bash
# Makes sure that a Chromium is there for the tests of the report's page, and prints where it is.
#
# PACKBELT_TEST_CHROMIUM names another one. Where none is found it is installed on Debian as root; elsewhere
# install it first.
set -euo pipefail

find_chromium() {
  if [ -n "${PACKBELT_TEST_CHROMIUM:-}" ]; then
    echo "$PACKBELT_TEST_CHROMIUM"
  else
    command -v chromium || true
  fi
}

found=$(find_chromium)
if [ -z "$found" ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Chromium is missing, and what needs it is skipped: install it, or set PACKBELT_TEST_CHROMIUM to one" >&2
    exit 0
  fi
  {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core
  } >/dev/null
  found=$(find_chromium)
fi
echo "$found"
