#!/bin/sh
# First process of a guest (mininet_topos/guest.py).  The kernel hands on what its command line assigns:
# ADON_VISIBLE, folders of the host that the program must see; ADON_WRITABLE, the folder that it can write;
# ADON_CONTROL, files of the guest itself; ADON_MODULES, modules of the kernel; ADON_TERMINAL, ROWSxCOLUMNS.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/home TMPDIR=/run/tmp
export PYTHONDONTWRITEBYTECODE=1   # the files of programs are read-only
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
mkdir -p /dev/pts /dev/shm /run/home /run/tmp /run/control /run/testbed /run/modules/lib/modules
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t hostfs control /run/control -o "$ADON_CONTROL"
mount -t tmpfs tmpfs /tmp   # some programs insist on it
# The root is read-only; the host still has by its path what a file system of the guest hides.
IFS=:
for folder in $ADON_VISIBLE; do
    [ -d "$folder" ] || { mkdir -p "$folder"; mount -t hostfs -o "ro,$folder" folder "$folder"; }
done
unset IFS
mkdir -p "$ADON_WRITABLE"
mount -t hostfs shared "$ADON_WRITABLE" -o "$ADON_WRITABLE"
kernel="/run/modules/lib/modules/$(uname -r)"
mkdir "$kernel"
mount -t hostfs modules "$kernel" -o "$ADON_MODULES"
for module in sch_netem sch_htb veth tun bridge openvswitch; do
    modprobe -d /run/modules "$module" || echo "guest: the kernel cannot load $module" >&2
done
ulimit -n 4096
ip link set lo up
echo guest >/proc/sys/kernel/hostname
mknod /run/line c 4 1
exec 3<>/run/line   # what waits in a console is lost when the last process closes it
if [ "$ADON_TERMINAL" ]; then
    stty -F /run/line sane rows "${ADON_TERMINAL%x*}" cols "${ADON_TERMINAL#*x}"
else
    stty -F /run/line -echo -opost
fi
printf '\0' >/run/line   # the caller may send input now
export ADON_TESTBED_FOLDER=/run/testbed
setsid --ctty --wait sh /run/control/program <&3 >&3 2>&1 3>&-
echo "$?" >/run/control/status.part
mv /run/control/status.part /run/control/status
echo o >/proc/sysrq-trigger
sleep 60
