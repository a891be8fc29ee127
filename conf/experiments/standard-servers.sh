#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes a folder the root of a Debian 12 with the servers of standard-servers.toml that cannot be installed beside this
# machine's. Nothing of it is started; nothing outside the folder changes. As root, with debootstrap.
#
#   sh standard-servers.sh /srv/servers
set -eu
root=${1:?the folder to be made}
[ ! -e "$root" ] || { echo "$root is there already" >&2; exit 1; }
debootstrap --variant=minbase bookworm "$root"
printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y --no-install-recommends \
    cyrus-imapd libsasl2-modules exim4-daemon-light
