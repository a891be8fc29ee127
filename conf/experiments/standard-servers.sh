#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes a folder with a root of Debian 12 for each server of standard-servers.toml that cannot be installed beside this
# machine's Dovecot and Postfix. Nothing of them is started; nothing outside the folder changes. As root, with debootstrap.
#
#   sh standard-servers.sh /srv/servers
set -eu
folder=${1:?the folder to be made}
[ ! -e "$folder" ] || { echo "$folder is there already" >&2; exit 1; }
mkdir -p "$folder"
debootstrap --variant=minbase bookworm "$folder/base"
printf '#!/bin/sh\nexit 101\n' > "$folder/base/usr/sbin/policy-rc.d"
chmod +x "$folder/base/usr/sbin/policy-rc.d"
echo mx.example.com > "$folder/base/etc/mailname"

# root NAME PACKAGE...
root() {
    name=$1
    shift
    cp -a "$folder/base" "$folder/$name"
    DEBIAN_FRONTEND=noninteractive chroot "$folder/$name" apt-get install -y --no-install-recommends "$@"
}
root cyrus cyrus-imapd libsasl2-modules
root exim exim4-daemon-light
root opensmtpd opensmtpd
root chasquid chasquid
root courier courier-mta courier-imap courier-authlib-userdb
rm -r "$folder/base"
