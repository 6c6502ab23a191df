#!/bin/sh
# Starts one product that this project has nothing to do with, as its documentation sets it up: start.sh NAME PORT.
# It keeps what it writes in a folder of its own, which goes when it ends. The credentials stand in services/NAME.yaml.
set -eu
name=$1
port=$2
folder=$(mktemp -d)
product=
end() {
  # shellcheck disable=SC2086 # one or two
  [ -z "$product" ] || kill $product 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap end EXIT
trap 'exit 0' TERM INT
cd "$folder"
export HOME="$folder"

# The user `example` with the password `example-password-not-secret`, in bcrypt as htpasswd -B writes it.
hash='$2y$05$jXpPdBIRbR/PNMlDlspJlO.8MZ.bkTvPg9g4d/opcf8GmdwGY58Lq'
web_config() {
  printf 'basic_auth_users:\n  example: %s\n' "$hash" >web.yml
}

case $name in
  # https://prometheus.io/docs/prometheus/latest/configuration/https/
  prometheus)
    web_config
    echo '{}' >prometheus.yml
    set -- prometheus --config.file=prometheus.yml --web.config.file=web.yml --storage.tsdb.path=data \
      --web.listen-address="127.0.0.1:$port"
    ;;
  # https://prometheus.io/docs/alerting/latest/https/
  alertmanager)
    web_config
    printf 'route: { receiver: none }\nreceivers: [{ name: none }]\n' >alertmanager.yml
    set -- prometheus-alertmanager --config.file=alertmanager.yml --web.config.file=web.yml --storage.path=data \
      --web.listen-address="127.0.0.1:$port" --cluster.listen-address=
    ;;
  # https://docs.syncthing.net/dev/rest.html
  syncthing)
    syncthing generate --home=home --no-default-folder >/dev/null
    sed -i 's#<apikey>.*</apikey>#<apikey>example-key-not-secret</apikey>#' home/config.xml
    set -- syncthing serve --home=home --no-browser --no-upgrade --no-restart --gui-address="http://127.0.0.1:$port"
    ;;
  # https://docs.influxdata.com/influxdb/v1/administration/authentication_and_authorization/
  influxdb)
    cat >influxdb.conf <<CONF
reporting-disabled = true
bind-address = "127.0.0.1:0"
[meta]
  dir = "meta"
[data]
  dir = "data"
  wal-dir = "wal"
[http]
  bind-address = "127.0.0.1:$port"
  auth-enabled = true
  log-enabled = false
CONF
    influxd run -config influxdb.conf &
    product=$!
    until curl -sf "http://127.0.0.1:$port/ping"; do sleep 0.1; done
    curl -sf -XPOST "http://127.0.0.1:$port/query" \
      --data-urlencode "q=CREATE USER example WITH PASSWORD 'example-password-not-secret' WITH ALL PRIVILEGES" >/dev/null
    echo ready
    wait "$product"
    exit
    ;;
  # https://distribution.github.io/distribution/about/configuration/
  docker-registry)
    printf 'example:%s\n' "$hash" >htpasswd
    cat >config.yml <<CONF
version: 0.1
log: { level: error }
storage: { filesystem: { rootdirectory: $folder/data } }
http: { addr: "127.0.0.1:$port", secret: example }
auth: { htpasswd: { realm: registry, path: $folder/htpasswd } }
CONF
    set -- docker-registry serve config.yml
    ;;
  # https://docs.victoriametrics.com/#security
  victoria-metrics)
    set -- victoria-metrics -httpListenAddr="127.0.0.1:$port" -httpAuth.username=example \
      -httpAuth.password=example-password-not-secret -storageDataPath=data
    ;;
  # https://radicale.org/v3.html#authentication
  radicale)
    printf 'example:%s\n' "$hash" >users
    cat >config <<CONF
[server]
hosts = 127.0.0.1:$port
[auth]
type = htpasswd
htpasswd_filename = $folder/users
htpasswd_encryption = bcrypt
delay = 0
[storage]
filesystem_folder = $folder/collections
CONF
    mkdir -p collections/collection-root/example/calendar
    echo '{"tag": "VCALENDAR"}' >collections/collection-root/example/calendar/.Radicale.props
    set -- radicale --config config
    ;;
  # https://jupyter-server.readthedocs.io/en/latest/operators/security.html
  jupyter-server)
    set -- jupyter-server --no-browser --allow-root --ip=127.0.0.1 --port="$port" --ServerApp.port_retries=0 \
      --ServerApp.token=example-token-not-secret --ServerApp.root_dir="$folder"
    ;;
  # https://aria2.github.io/manual/en/html/aria2c.html#rpc-interface
  aria2)
    set -- aria2c --enable-rpc --rpc-listen-port="$port" --quiet --dir="$folder" --enable-dht=false \
      --listen-port=$((port > 40000 ? port - 10000 : port + 10000))
    ;;
  # https://webd.is/
  webdis)
    redis-server --port 0 --unixsocket "$folder/redis.sock" --save '' --daemonize no >/dev/null &
    product=$!
    # Without it Webdis answers 503.
    until [ -S "$folder/redis.sock" ] || ! kill -0 "$product" 2>/dev/null; do sleep 0.1; done
    cat >webdis.json <<CONF
{ "redis_host": "$folder/redis.sock", "http_host": "127.0.0.1", "http_port": $port, "threads": 2, "daemonize": false,
  "websockets": true, "verbosity": 1, "logfile": "$folder/log",
  "acl": [{ "disabled": ["*"] }, { "http_basic_auth": "example:example-password-not-secret", "enabled": ["*"] }] }
CONF
    set -- webdis webdis.json
    ;;
  # https://docs.nats.io/running-a-nats-service/configuration/websocket/websocket_conf
  nats)
    cat >nats.conf <<CONF
listen: "127.0.0.1:-1"
http: "127.0.0.1:$port"
CONF
    set -- nats-server -c nats.conf
    ;;
  nats-websocket)
    cat >nats.conf <<CONF
listen: "127.0.0.1:-1"
websocket { listen: "127.0.0.1:$port", no_tls: true }
CONF
    set -- nats-server -c nats.conf
    ;;
  # https://etcd.io/docs/v3.4/op-guide/configuration/
  etcd)
    peer=$((port > 40000 ? port - 10000 : port + 10000))
    set -- etcd --data-dir=data --enable-v2 --listen-client-urls="http://127.0.0.1:$port" \
      --advertise-client-urls="http://127.0.0.1:$port" --listen-peer-urls="http://127.0.0.1:$peer" \
      --initial-advertise-peer-urls="http://127.0.0.1:$peer" --initial-cluster="default=http://127.0.0.1:$peer"
    ;;
  # https://docs.mopidy.com/stable/api/http/
  mopidy)
    set -- mopidy -o http/enabled=true -o http/hostname=127.0.0.1 -o http/port="$port" -o mpd/enabled=false \
      -o http/zeroconf= -o core/data_dir=data -o core/cache_dir=cache -o core/config_dir=conf -o audio/output=fakesink
    ;;
  # https://caddyserver.com/docs/api
  caddy)
    printf '{ "admin": { "listen": "127.0.0.1:%s" } }' "$port" >caddy.json
    set -- caddy run --config caddy.json
    ;;
  # Of npm: CONFORM_PRODUCTS is the folder that `npm install --prefix` has put them in.
  # https://verdaccio.org/docs/configuration
  verdaccio)
    printf 'storage: %s/storage\nauth: { htpasswd: { file: %s/htpasswd } }\npackages: { "**": { access: $authenticated } }\nlog: { level: error }\n' \
      "$folder" "$folder" >config.yaml
    printf 'example:%s\n' "$hash" >htpasswd
    set -- "$CONFORM_PRODUCTS/node_modules/.bin/verdaccio" --config config.yaml --listen "127.0.0.1:$port"
    ;;
  # https://nodered.org/docs/user-guide/runtime/configuration
  node-red)
    set -- "$CONFORM_PRODUCTS/node_modules/.bin/node-red" --userDir "$folder" --port "$port" -D uiHost=127.0.0.1 \
      -D telemetry.enabled=false
    ;;
  # https://github.com/pouchdb/pouchdb-server
  pouchdb-server)
    set -- "$CONFORM_PRODUCTS/node_modules/.bin/pouchdb-server" --port "$port" --host 127.0.0.1 --in-memory \
      --config pouchdb.json --no-stdout-logs
    ;;
  *)
    echo "nothing is known of $name" >&2
    exit 2
    ;;
esac
"$@" &
product="$product $!"
wait $!
