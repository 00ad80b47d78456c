#!/bin/sh
# The first process of a node. It runs in namespaces of its own (processes, mounts, network), builds the node's file
# system, and then keeps the node's daemons running. When it dies, the kernel ends every process of the node, pods
# included, and all its mounts: that is what makes stopping a node a real failure, and removing it complete.
#
# Given by the environment: NODE_NAME, NODE_ADDRESS, NODE_LABELS, NODE_FOLDER (what this node keeps), NODE_ROOT (file system shared by all nodes, never
# written), NODE_VOLUMES (storage that all nodes see), NODE_KUBE (the Kubernetes binary), NODE_POLICIES (what
# enforces NetworkPolicies), NODE_POD_RANGE, ALL_PODS_RANGE, LAN_RANGE.
set -eu

root="$NODE_FOLDER/root"

build_root() {
  mount --make-rprivate /
  mkdir -p "$root" "$NODE_FOLDER/changes" "$NODE_FOLDER/work" "$NODE_FOLDER/containerd" "$NODE_FOLDER/kubelet" \
    "$NODE_FOLDER/logs"
  mount -t overlay node -o "lowerdir=$NODE_ROOT,upperdir=$NODE_FOLDER/changes,workdir=$NODE_FOLDER/work" "$root"
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/run"
  # Not on the overlay: containerd stacks overlays of its own, and the kubelet watches its folder's mounts.
  for folder in containerd kubelet; do
    mkdir -p "$root/var/lib/$folder"
    mount --bind "$NODE_FOLDER/$folder" "$root/var/lib/$folder"
  done
  mkdir -p "$root/volumes" "$root/etc/node" "$root/var/log/node" "$root/etc/cni/net.d" "$root/etc/containerd/certs.d/_default" "$root/old"
  mount --bind "$NODE_VOLUMES" "$root/volumes"
  mount --bind "$NODE_FOLDER/config" "$root/etc/node"
  mount --bind "$NODE_FOLDER/logs" "$root/var/log/node"
  touch "$root/usr/local/bin/kube" "$root/usr/local/bin/policies"
  mount --bind "$NODE_KUBE" "$root/usr/local/bin/kube"
  mount --bind "$NODE_POLICIES" "$root/usr/local/bin/policies"
  cp "$NODE_FOLDER/config/cni.conflist" "$root/etc/cni/net.d/10-node.conflist"
  cp "$NODE_FOLDER/config/hosts.toml" "$root/etc/containerd/certs.d/_default/hosts.toml"
}

set_up_network() {
  echo 1 > /proc/sys/net/ipv4/ip_forward
  # Traffic between pods of one node passes the bridge; Services need the packet filter to see it. Without the
  # kernel's bridge filter this file is missing, and everything but that one case works.
  echo 1 > /proc/sys/net/bridge/bridge-nf-call-iptables || true
  # The machine has no route to pods, so what they send there must seem to come from the node.
  iptables -t nat -C POSTROUTING -s "$ALL_PODS_RANGE" -d "$LAN_RANGE" -j MASQUERADE 2>/dev/null ||
    iptables -t nat -A POSTROUTING -s "$ALL_PODS_RANGE" -d "$LAN_RANGE" -j MASQUERADE
  # What NetworkPolicies let in to this node's pods.
  iptables -n -L POLICIES > /dev/null 2>&1 || iptables -N POLICIES
  iptables -C FORWARD -j POLICIES 2>/dev/null || iptables -A FORWARD -j POLICIES
  # An address of this node's range without a pod gets an answer instead of silence.
  ip route replace unreachable "$NODE_POD_RANGE" metric 4096
}

# Starts a daemon again whenever it ends, as a service manager would.
keep_running() {
  name="$1"
  shift
  while true; do
    "$@" >> "/var/log/node/$name.log" 2>&1 || true
    sleep 1
  done
}

run_daemons() {
  keep_running containerd containerd --config /etc/node/containerd.toml &
  keep_running kubelet kube kubelet --config=/etc/node/kubelet.json --kubeconfig=/etc/node/kubelet.kubeconfig \
    --hostname-override="$NODE_NAME" --node-ip="$NODE_ADDRESS" --node-labels="$NODE_LABELS" &
  keep_running kube-proxy kube kube-proxy --config=/etc/node/kube-proxy.json &
  keep_running policies policies -kubeconfig /etc/node/policies.kubeconfig -node "$NODE_NAME" &
  wait
}

if [ "${1:-}" != inside ]; then
  build_root
  cp "$0" "$root/etc/node-init"
  cd "$root"
  pivot_root . old
  exec chroot . /bin/sh /etc/node-init inside
fi
umount -l /old
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
set_up_network
run_daemons
