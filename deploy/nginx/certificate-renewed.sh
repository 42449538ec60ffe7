#!/bin/sh
# certbot's deploy hook: hands a renewed certificate to nginx, which reads it without losing a call.
#   TLS_DIR     where nginx reads fullchain.pem and key.pem; by default /etc/itemindex/tls
#   TLS_OWNER   who may read them: the user of nginx, by default itemindex (in the image: 10001)
#   TLS_RELOAD  sends nginx SIGHUP; by default systemctl reload-or-restart itemindex-nginx
# certbot sets RENEWED_LINEAGE, and keeps its own copies where only root can read them.
set -eu
umask 077
directory=${TLS_DIR:-/etc/itemindex/tls}
owner=${TLS_OWNER:-itemindex}
mkdir -p "$directory"
chown "$owner" "$directory"
# In full beside the old ones first: a disk that is full leaves those as they are.
for pair in fullchain.pem:fullchain.pem privkey.pem:key.pem; do
    cat "$RENEWED_LINEAGE/${pair%%:*}" > "$directory/${pair##*:}.new"
    chown "$owner" "$directory/${pair##*:}.new"
done
mv "$directory/key.pem.new" "$directory/key.pem"
mv "$directory/fullchain.pem.new" "$directory/fullchain.pem"
sh -c "${TLS_RELOAD:-systemctl reload-or-restart itemindex-nginx}"
