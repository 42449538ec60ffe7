#!/bin/sh
# Runs dockerd on the Debian below $1, with that as the root of everything. Called in namespaces of its own (mounts, network,
# processes): nothing here changes the machine outside, and all of it ends with this process.
set -eu
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount --rbind /sys/fs/cgroup "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
cd "$root"
mkdir -p .outside
pivot_root . .outside
umount -l /.outside
exec dockerd --host unix:///srv/docker.sock --pidfile /run/docker.pid --storage-driver overlay2
