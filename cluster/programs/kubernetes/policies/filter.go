package main

import (
	"fmt"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// chain is ours alone; the node's start-up has all forwarded packets pass it.
const chain = "POLICIES"

// cluster is what policies speak of.
type cluster struct {
	pods       []*core.Pod
	namespaces []*core.Namespace
	policies   []*networking.NetworkPolicy
}

// filter is the input of iptables-restore that guards the pods of a node.
func (c cluster) filter(node string) string {
	var rules []string
	// A lister knows no order, and the same rules in another one would be written anew.
	for _, pod := range slices.SortedFunc(slices.Values(c.pods), byAddress) {
		if pod.Spec.NodeName == node && isGuardable(pod) {
			rules = append(rules, c.rulesFor(pod)...)
		}
	}
	if len(rules) > 0 {
		rules = append([]string{"-m conntrack --ctstate ESTABLISHED,RELATED -j RETURN"}, rules...)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "*filter\n:%s - [0:0]\n", chain)
	for _, rule := range rules {
		fmt.Fprintf(&text, "-A %s %s\n", chain, rule)
	}
	text.WriteString("COMMIT\n")
	return text.String()
}

// rulesFor lets in what the policies that select the pod name, and nothing
// else; a pod that none selects is open.
func (c cluster) rulesFor(pod *core.Pod) []string {
	var allowed []string
	isSelected := false
	for _, policy := range c.policies {
		if policy.Namespace != pod.Namespace || !slices.Contains(policy.Spec.PolicyTypes, networking.PolicyTypeIngress) || !selects(&policy.Spec.PodSelector, pod.Labels) {
			continue
		}
		isSelected = true
		for _, rule := range policy.Spec.Ingress {
			for _, source := range c.sources(policy.Namespace, rule.From) {
				for _, port := range ports(pod, rule.Ports) {
					allowed = append(allowed, fmt.Sprintf("%s -d %s %s-j RETURN", source, pod.Status.PodIP, port))
				}
			}
		}
	}
	if !isSelected {
		return nil
	}
	slices.Sort(allowed)
	return append(slices.Compact(allowed), fmt.Sprintf("-d %s -j DROP", pod.Status.PodIP))
}

// sources are the addresses of peers, each as a match of iptables; no peers at
// all stand for everybody.
func (c cluster) sources(namespace string, peers []networking.NetworkPolicyPeer) []string {
	if len(peers) == 0 {
		return []string{"-s 0.0.0.0/0"}
	}
	var all []string
	for _, peer := range peers {
		if peer.IPBlock != nil {
			// One with exceptions is not let in at all: nobody here needs it, and to let in too much would be worse.
			if len(peer.IPBlock.Except) == 0 {
				all = append(all, "-s "+peer.IPBlock.CIDR)
			}
			continue
		}
		for _, pod := range c.pods {
			if isGuardable(pod) && c.isIn(peer.NamespaceSelector, namespace, pod.Namespace) && (peer.PodSelector == nil || selects(peer.PodSelector, pod.Labels)) {
				all = append(all, "-s "+pod.Status.PodIP)
			}
		}
	}
	return all
}

// isIn tells whether a pod's namespace is one that a peer names: without a
// selector that is the policy's own.
func (c cluster) isIn(selector *meta.LabelSelector, own, namespace string) bool {
	if selector == nil {
		return namespace == own
	}
	return slices.ContainsFunc(c.namespaces, func(candidate *core.Namespace) bool {
		return candidate.Name == namespace && selects(selector, candidate.Labels)
	})
}

// ports are those of a rule, each as a match of iptables; none at all stand for every port.
func ports(pod *core.Pod, wanted []networking.NetworkPolicyPort) []string {
	if len(wanted) == 0 {
		return []string{""}
	}
	var all []string
	for _, port := range wanted {
		protocol := core.ProtocolTCP
		if port.Protocol != nil {
			protocol = *port.Protocol
		}
		match := "-p " + strings.ToLower(string(protocol)) + " "
		switch {
		case port.Port == nil:
			all = append(all, match)
		case port.EndPort != nil:
			all = append(all, fmt.Sprintf("%s--dport %d:%d ", match, port.Port.IntValue(), *port.EndPort))
		default:
			for _, number := range numbers(pod, port.Port.String(), protocol) {
				all = append(all, match+"--dport "+number+" ")
			}
		}
	}
	return all
}

// numbers are the ports of a pod that a name means; a number means itself.
func numbers(pod *core.Pod, name string, protocol core.Protocol) []string {
	if strings.Trim(name, "0123456789") == "" {
		return []string{name}
	}
	var all []string
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == name && (port.Protocol == protocol || port.Protocol == "") {
				all = append(all, fmt.Sprint(port.ContainerPort))
			}
		}
	}
	return all
}

func byAddress(left, right *core.Pod) int {
	return strings.Compare(left.Status.PodIP, right.Status.PodIP)
}

func selects(selector *meta.LabelSelector, set map[string]string) bool {
	compiled, err := meta.LabelSelectorAsSelector(selector)
	return err == nil && compiled.Matches(labels.Set(set))
}

// isGuardable tells whether an address is the pod's alone: not that of its node, nor one that was given back.
func isGuardable(pod *core.Pod) bool {
	return pod.Status.PodIP != "" && !pod.Spec.HostNetwork && pod.Status.Phase != core.PodSucceeded && pod.Status.Phase != core.PodFailed
}
