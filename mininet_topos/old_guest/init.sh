#!/bin/sh
# The first process of a guest (mininet_topos/old_guest/machine.py).  The kernel hands on what its command line
# assigns: ADON_FOLDER, where the program is to run; ADON_SHARE, the host's folder for what the guest writes,
# which has the same path in the guest; ADON_MODULES, that of the kernel's modules.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/home TMPDIR=/run/tmp
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mkdir -p /dev/pts /dev/shm /run/home /run/tmp /run/modules/lib/modules
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp   # some programs insist on it
if [ ! -d "$ADON_FOLDER" ]; then   # where the program runs was below /tmp or /run
    mkdir -p "$ADON_FOLDER"
    mount -t hostfs -o "ro,$ADON_FOLDER" folder "$ADON_FOLDER"
fi
# The root is read-only; what it hides by a file system of ours is still to be had from the host by its path.
[ -d "$ADON_SHARE" ] || mkdir -p "$ADON_SHARE"
mount -t hostfs share "$ADON_SHARE" -o "$ADON_SHARE"
kernel="/run/modules/lib/modules/$(uname -r)"
mkdir "$kernel"
mount -t hostfs modules "$kernel" -o "$ADON_MODULES"
for module in sch_netem sch_htb veth tun bridge openvswitch; do
    modprobe -d /run/modules "$module" || echo "$module" >>"$ADON_SHARE/missing"
done
ulimit -n 4096   # one process serves all connections
ip link set lo up
echo guest >/proc/sys/kernel/hostname
/bin/sh "$ADON_SHARE/program" </dev/null >"$ADON_SHARE/stdout" 2>"$ADON_SHARE/stderr"
echo "$?" >"$ADON_SHARE/status.part"
mv "$ADON_SHARE/status.part" "$ADON_SHARE/status"
echo o >/proc/sysrq-trigger
sleep 60
