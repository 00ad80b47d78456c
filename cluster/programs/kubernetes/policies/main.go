// Command policies enforces NetworkPolicies on the pods of one node: it stands
// in for a network plugin that does so. What a policy lets in, the kernel's
// packet filter lets in; everything else to a pod that a policy speaks of is
// dropped. Rules for what leaves a pod are not enforced.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// together is how long changes are gathered before the filter is written anew.
const together = 50 * time.Millisecond

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	node := flag.String("node", "", "whose pods are guarded")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *node); err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, node string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	namespaces := factory.Core().V1().Namespaces()
	policies := factory.Networking().V1().NetworkPolicies()
	changed := make(chan struct{}, 1)
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), namespaces.Informer(), policies.Informer()} {
		if err := tell(informer, changed); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	written := ""
	for wait(ctx, changed) {
		seen := cluster{}
		if seen.pods, err = pods.Lister().List(labels.Everything()); err != nil {
			return err
		}
		if seen.namespaces, err = namespaces.Lister().List(labels.Everything()); err != nil {
			return err
		}
		if seen.policies, err = policies.Lister().List(labels.Everything()); err != nil {
			return err
		}
		filter := seen.filter(node)
		if filter == written {
			continue
		}
		if err := write(ctx, filter); err != nil {
			log.Printf("%v; trying again", err)
			time.AfterFunc(time.Second, func() { nudge(changed) })
			continue
		}
		written = filter
	}
	return nil
}

func tell(informer cache.SharedIndexInformer, changed chan struct{}) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { nudge(changed) },
		UpdateFunc: func(any, any) { nudge(changed) },
		DeleteFunc: func(any) { nudge(changed) },
	})
	return err
}

func nudge(changed chan struct{}) {
	select {
	case changed <- struct{}{}:
	default:
	}
}

func wait(ctx context.Context, changed chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-changed:
		time.Sleep(together)
		return true
	}
}

// write replaces all rules of our chain at once; nobody else's are touched.
func write(ctx context.Context, filter string) error {
	restore := exec.CommandContext(ctx, "iptables-restore", "--wait", "10", "--noflush")
	restore.Stdin = strings.NewReader(filter)
	if output, err := restore.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot write the packet filter: %w: %s", err, output)
	}
	return nil
}
