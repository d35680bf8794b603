#!/usr/bin/env bash
# Local smoke test; no cluster needed.
set -Eeuo pipefail
WORLD_SIZE=${WORLD_SIZE:-2}
NODES=${NODES:-1}
HOST=${HOST:-localhost}
USER_ID=$(id -u)
account_file=$(mktemp)
trap 'rm -f "$account_file"' EXIT
for port in 8000 8001 8080; do
  if nc -z localhost "$port"; then echo "port $port busy"; fi
done
ps aux | grep -c python || true
su -c 'true' 2>/dev/null || true
top -b -n1 | head -5
ssh-keygen -t ed25519 -f ./key -N ''
tar -C /opt/app -xzf app-1.2.3.tar.gz
cp -r /usr/share/doc/pkg ./doc
host=localhost; queue=(); node=0
find . -name '*.py' -exec sed -i 's/foo/bar/' {} +
