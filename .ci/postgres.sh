#!/usr/bin/env bash
# Runs a command with a PostgreSQL of its own: .ci/postgres.sh uv run pytest tests/runs
#
# Starts a cluster in a temporary directory on a free loopback port, gives its URL to the command as
# PACKBELT_TEST_POSTGRES, and stops it when the command ends, however it ends. Where PostgreSQL is missing it is
# installed on Debian as root; elsewhere install it first.
set -euo pipefail

find_binaries() {
  local found
  found=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)
  if [ -x "$found" ]; then
    dirname "$found"
  elif command -v initdb >/dev/null; then
    dirname "$(command -v initdb)"
  fi
}

install_postgres() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "PostgreSQL is missing: install it, or set PACKBELT_TEST_POSTGRES yourself" >&2
    exit 1
  fi
  # Debian would start a cluster of its own, which nobody here would stop.
  mkdir -p /etc/postgresql-common
  [ -e /etc/postgresql-common/createcluster.conf ] ||
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
    -o Dpkg::Options::=--force-confold postgresql >/dev/null
}

# PostgreSQL refuses to run as root.
as_owner() {
  if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start() {
  home=$(mktemp -d /tmp/postgres.XXXXXXXX) # where its user finds the way too
  trap stop EXIT
  local password port
  password=$(python3 -c 'import secrets; print(secrets.token_hex(16))')
  (umask 077 && echo "$password" >"$home/password")
  if [ "$(id -u)" = 0 ]; then chown -R postgres "$home"; fi
  as_owner "$binaries/initdb" --pgdata "$home/data" --username packbelt --pwfile "$home/password" \
    --auth scram-sha-256 --encoding UTF8 --locale C --no-sync >"$home/initdb.log"
  for attempt in 1 2 3; do # another process may take a free port first
    port=$(free_port)
    if as_owner "$binaries/pg_ctl" --pgdata "$home/data" --log "$home/log" --wait --silent \
      --options "-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories=$home -c fsync=off" \
      start; then
      export PACKBELT_TEST_POSTGRES="postgresql://packbelt:$password@127.0.0.1:$port/postgres"
      return
    fi
    echo "PostgreSQL did not start (attempt $attempt)" >&2
  done
  cat "$home/log" >&2
  exit 1
}

stop() {
  if [ -e "$home/data/postmaster.pid" ]; then
    as_owner "$binaries/pg_ctl" --pgdata "$home/data" --mode immediate --wait --silent stop || true
  fi
  rm -rf "$home"
}

binaries=$(find_binaries)
if [ -z "$binaries" ]; then
  install_postgres
  binaries=$(find_binaries)
fi
start
"$@"
