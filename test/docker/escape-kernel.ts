/** Attacks on the kernel: its files, devices, mounts, namespaces and the calls that few programs need. */
import { type Attack, python, WON } from "./escape-world.ts";

const RIGHTS = "not root, no rights, filtered calls, covered paths";
const CALLS = "filtered calls";

/** Opened and not written: the control container would change the machine. */
const opened = (
  path: string,
  how: "O_WRONLY" | "O_RDONLY",
  off: Attack["off"] = RIGHTS,
): Attack => ({
  name: `${path}, opened to ${how === "O_WRONLY" ? "write" : "read"}`,
  command: () => python(`os.open("${path}", os.${how}); print("${WON}")`),
  off,
});

/** Covered by an empty device: it opens, and tells nothing. */
const told = (path: string): Attack => ({
  name: `${path}, read`,
  command: () => python(`print("${WON}" if os.read(os.open("${path}", os.O_RDONLY), 1) else "")`),
  off: RIGHTS,
});

const FILES: readonly Attack[] = [
  opened("/proc/sys/kernel/core_pattern", "O_WRONLY"),
  opened("/proc/sys/kernel/panic", "O_WRONLY"),
  opened("/proc/sys/vm/overcommit_memory", "O_WRONLY"),
  opened("/proc/sys/vm/drop_caches", "O_WRONLY"),
  told("/proc/keys"),
  told("/proc/timer_list"),
  opened("/proc/1/environ", "O_RDONLY"),
  opened("/proc/1/mem", "O_RDONLY"),
  {
    name: "/sys, made writable",
    command: () =>
      `mount -o remount,rw /sys && grep -q ' /sys sysfs rw' /proc/self/mounts && echo ${WON}`,
    off: RIGHTS,
  },
  {
    name: "a setting of the kernel through /sys",
    command: () =>
      python(`
libc.mount(None, b"/sys", None, 32, None)
os.open("/sys/kernel/mm/transparent_hugepage/enabled", os.O_WRONLY); print("${WON}")`),
    off: RIGHTS,
  },
];

const DEVICES: readonly Attack[] = [
  {
    name: "a block device, made and opened",
    command: () =>
      python(`
os.mknod("/tmp/disk", 0o60600, os.makedev(1, 0)); print("${WON}")`),
    off: RIGHTS,
  },
  {
    name: "the kernel's memory by a device of one's own",
    command: () => `mknod /tmp/mem c 1 1 && echo ${WON}; rm -f /tmp/mem`,
    off: RIGHTS,
  },
  {
    name: "the kernel's log by a device of one's own",
    command: () =>
      `mknod /dev/kmsg9 c 1 11 && (exec 3</dev/kmsg9) && echo ${WON}; rm -f /dev/kmsg9`,
    off: RIGHTS,
  },
];

const MOUNTS: readonly Attack[] = [
  {
    name: "a mount",
    command: () => `mkdir -p /tmp/m && mount -t tmpfs none /tmp/m && echo ${WON}; umount /tmp/m`,
    off: RIGHTS,
  },
  {
    name: "a bind mount over the system",
    command: () => `mount --bind /tmp /etc && umount /etc && echo ${WON}`,
    off: RIGHTS,
  },
  {
    name: "the root, made writable",
    command: () => `mount -o remount,bind,rw / && mount -o remount,bind,ro / && echo ${WON}`,
    off: RIGHTS,
  },
  {
    name: "a proc file system of one's own",
    command: () => `mkdir -p /tmp/p && mount -t proc none /tmp/p && echo ${WON}; umount /tmp/p`,
    off: RIGHTS,
  },
  {
    name: "a user namespace",
    command: () => `unshare --user true && echo ${WON}`,
    off: CALLS,
  },
  {
    name: "root by a user namespace",
    command: () => `unshare --user --map-root-user id -u | grep -qx 0 && echo ${WON}`,
    off: CALLS,
  },
  {
    name: "a mount inside a user namespace",
    command: () => `unshare --user --map-root-user --mount mount -t tmpfs none /tmp && echo ${WON}`,
    off: CALLS,
  },
  { name: "a mount namespace", command: () => `unshare --mount true && echo ${WON}`, off: RIGHTS },
  { name: "a network namespace", command: () => `unshare --net true && echo ${WON}`, off: RIGHTS },
  {
    name: "a user namespace by a bare call",
    command: () => python("reached(272, 0x10000000)"),
    off: CALLS,
  },
  {
    name: "the namespaces of process 1",
    command: () =>
      python(`
fd = os.open("/proc/1/ns/mnt", os.O_RDONLY); reached(308, fd, 0)`),
    off: RIGHTS,
  },
  {
    name: "a new host name",
    command: () => python(`socket.sethostname("taken"); print("${WON}")`),
    off: RIGHTS,
  },
];

const OWNERS: readonly Attack[] = [
  {
    name: "another root folder",
    command: () => python(`os.chroot("/tmp"); print("${WON}")`),
    off: RIGHTS,
  },
  {
    name: "a file given to root",
    command: () =>
      `touch /tmp/gift && chown 0 /tmp/gift && chmod 4755 /tmp/gift && echo ${WON}; rm -f /tmp/gift`,
    off: RIGHTS,
  },
  { name: "a file of root's in the worktree", command: () => "cat root-only", off: RIGHTS },
];

const interfaceOf = (name: string, program: string, off: Attack["off"] = RIGHTS): Attack => ({
  name: `the kernel's ${name}`,
  command: () => python(program),
  off,
});

/** With arguments that do nothing: what counts is whether the kernel answers "not permitted" or looks at them. */
const INTERFACES: readonly Attack[] = [
  interfaceOf("keyrings (keyctl)", "reached(250, 0, -3, 1)", CALLS),
  interfaceOf("keyrings (add_key)", "reached(248, None, None, None, 0, 0)", CALLS),
  interfaceOf("keyrings (request_key)", "reached(249, None, None, None, 0)", CALLS),
  interfaceOf("programs (bpf)", "reached(321, 0, None, 0)"),
  interfaceOf("counters (perf_event_open)", "reached(298, None, 0, -1, -1, 0)"),
  interfaceOf("page faults (userfaultfd)", "reached(323, 0)"),
  interfaceOf("rings (io_uring)", "reached(425, 0, None)", "confinement of commands"),
  interfaceOf("file handles (open_by_handle_at)", "reached(304, -1, None, 0)"),
  interfaceOf("log (syslog)", "reached(103, 10, None, 0)"),
  interfaceOf("clock (clock_settime)", "reached(227, 0, None)", CALLS),
  interfaceOf("page placement (move_pages)", "reached(279, 0, 0, None, None, None, 0)", CALLS),
  interfaceOf("new mounts (fsopen)", "reached(430, None, 0)"),
  interfaceOf("open trees (open_tree)", `reached(428, -100, b"/", 1)`),
  interfaceOf("quotas (quotactl)", "reached(179, 0, None, 0, None)", CALLS),
];

const SOCKETS: readonly Attack[] = [
  {
    name: "a raw socket",
    command: () => python(`socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print("${WON}")`),
    off: RIGHTS,
  },
  {
    name: "a packet socket",
    command: () => python(`socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print("${WON}")`),
    off: RIGHTS,
  },
];

export const KERNEL_ATTACKS = [
  ...FILES,
  ...OWNERS,
  ...DEVICES,
  ...MOUNTS,
  ...INTERFACES,
  ...SOCKETS,
];
